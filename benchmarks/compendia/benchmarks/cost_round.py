"""A whole round as it happens: five organizations publish over gRPC, all is merged, and a router loads it.

Both programs run here, each with its own view of the one cache that a machine shares, so that every encoded
text can be counted. The first round starts without any vector; in the second, 1 % of what was said is new.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from compendia.contract import Compendium, ErrorCode, error
from compendia.text.encode import Encoder, Vectors, load_encoder
from compendia.text.spans import Text

from .benchmark import Figures, Session
from .cost_world import changed, compendia

if TYPE_CHECKING:
    from compendia.router.route import Router

VECTORS = "vectors.sqlite"
ANY_PORT = "127.0.0.1:0"
CLOCK_S = 1_800_000_000.0


class CountingDocuments:
    """Another encoder, with a count of every document that was sent to it."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension
        self.documents: Counter[Text] = Counter()

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        self.documents.update(texts)
        return self._encoder.encode_documents(texts)


def rounds(session: Session) -> Figures:
    """Seconds of both rounds, from the first byte sent to a router that answers from the new snapshot."""
    from compendia.aggregator.coordinator import Coordinator, MergeSettings
    from compendia.aggregator.executor import SerialExecutor
    from compendia.aggregator.service import AggregatorService, ServiceSettings
    from compendia.aggregator.store import SqlStore
    from compendia.text.cache import CachedEncoder
    from compendia.wire.server import Limits, start

    said = compendia(session)
    session.directory.mkdir(parents=True, exist_ok=True)
    for old in session.directory.glob(f"{VECTORS}*"):
        old.unlink()
    counting = CountingDocuments(load_encoder(session.options.encoder))
    encoders = [CachedEncoder(counting, session.directory / VECTORS) for _ in ("aggregator", "router")]
    merging = MergeSettings(encoder=encoders[0], executor=SerialExecutor, grants={})
    with (
        closing(SqlStore(None)) as store,
        Coordinator(store, merging, lambda: CLOCK_S) as coordinator,
        start(
            [AggregatorService(coordinator, ServiceSettings())], "127.0.0.1:0", Limits(slots=16)
        ) as running,
    ):
        network = _Round(running.address, encoders[1])
        busy = [time.process_time()]
        cold = network.run(said)
        busy.append(time.process_time())
        first = counting.documents.total()
        warm = network.run(changed(said))
        busy.append(time.process_time())
    session.notes["rounds"] = {
        "cold_parts_s": cold,
        "cold_cpu_s": round(busy[1] - busy[0], 1),
        "warm_cpu_s": round(busy[2] - busy[1], 1),
        "warm_parts_s": warm,
        "texts_encoded_cold": first,
        "texts_encoded_warm": counting.documents.total() - first,
        "encoder": counting.fingerprint,
    }
    return {
        "round_cold_s": sum(cold.values()),
        "round_warm_s": sum(warm.values()),
        "texts_encoded_twice": sum(count - 1 for count in counting.documents.values()),
    }


class _Round:
    """An aggregator at an address, and a router that follows it."""

    def __init__(self, address: str, encoder: Encoder) -> None:
        from compendia.wire.codec import SnapshotReader

        self._address = address
        self._encoder = encoder
        self._reader = SnapshotReader()
        self._router: Router | None = None

    def run(self, said: Sequence[Compendium]) -> dict[str, float]:
        """One round of these compendia: seconds of its parts. Raises INTERNAL where the merge failed."""
        from compendia.aggregator.control import close_round, open_round
        from compendia.client.publish import publish
        from compendia.router.route import Router
        from compendia.wire.channel import Patience
        from compendia.wire.fetch import fetch_snapshot

        patience = Patience(timeout_s=3600.0)
        marks = [time.perf_counter()]
        open_round(self._address, quorum=len(said), patience=patience)
        for compendium in said:
            publish(self._address, compendium, patience=patience)
        marks.append(time.perf_counter())
        report = close_round(self._address, patience=patience)
        if report.failure:
            raise error(ErrorCode.INTERNAL, f"the merge failed: {report.failure}", "round")
        marks.append(time.perf_counter())
        snapshot = fetch_snapshot(self._address, patience=patience, reader=self._reader)
        marks.append(time.perf_counter())
        if self._router is None:
            self._router = Router(snapshot, self._encoder)
        else:
            self._router.refresh(snapshot)
        marks.append(time.perf_counter())
        names = ("publish", "merge", "fetch", "load")
        return {name: round(b - a, 3) for name, a, b in zip(names, marks, marks[1:], strict=False)}
