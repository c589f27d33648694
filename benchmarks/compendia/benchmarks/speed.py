"""`speed`: what search, refresh, merge, publish and start-up cost. Medians where a run is short."""

from __future__ import annotations

from . import speed_merge, speed_publish, speed_search, speed_start
from .benchmark import Benchmark, Part

SPEED = Benchmark(
    "speed",
    "search, refresh, merge, publish and start-up on this machine",
    (
        Part(("cli_help_s",), speed_start.cli_help),
        Part(("contract_import_clean",), speed_start.contract_import),
        Part(("search_ms_p50/*", "search_ms_p95/*"), speed_search.search),
        Part(("refresh_encoded",), speed_search.refresh),
        Part(("merge_s/*",), speed_merge.seconds),
        Part(("merge_same_bytes",), speed_merge.same_bytes),
        Part(("publish_wire_mb", "publish_json_mb"), speed_publish.wire),
        Part(("publish_rss_mb/1",), speed_publish.memory(1)),
        Part((f"publish_rss_mb/{speed_publish.CLIENTS}",), speed_publish.memory(speed_publish.CLIENTS)),
    ),
)
