"""`speed`: what search, refresh, merge, publish and start-up cost. Medians where a run is short."""

from __future__ import annotations

from . import speed_search, speed_start
from .benchmark import Benchmark, Part

SPEED = Benchmark(
    "speed",
    "search, refresh, merge, publish and start-up on this machine",
    (
        Part(("cli_help_s",), speed_start.cli_help),
        Part(("contract_import_clean",), speed_start.contract_import),
        Part(("search_ms_p50/*", "search_ms_p95/*"), speed_search.search),
        Part(("refresh_encoded",), speed_search.refresh),
    ),
)
