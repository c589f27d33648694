"""`cost`: what a round, a route and a rerank cost at 3,180 tools and 28,000 scenarios, on this machine."""

from __future__ import annotations

from . import cost_rerank, cost_round, cost_route
from .benchmark import Benchmark, Part

COST = Benchmark(
    "cost",
    "a whole round, routing and reranking at 3,180 tools and 28,000 scenarios, encoding included",
    (
        Part(("rerank_ms_p50", "rerank_speedup", "card_hit_rate", "card_cache_mb"), cost_rerank.rerank),
        Part(("round_cold_s", "round_warm_s", "texts_encoded_twice"), cost_round.rounds),
        Part(("route_ms_p50", "route_ms_p95"), cost_route.route),
    ),
)
