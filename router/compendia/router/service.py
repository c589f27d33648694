"""The router over gRPC: answers queries from the newest snapshot it could fetch.

A router starts without waiting for a snapshot, polls its aggregator for newer revisions, and goes on with
the one it has while the aggregator is away. `Holder` owns that; the servicer only translates.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from compendia.contract import CompendiaError, ErrorCode, Snapshot, error
from compendia.contract.strict_json import canonical
from compendia.text.encode import Encoder
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import RouterServicer

from .rerank import Reranker
from .route import Router

DEFAULT_K = 5
MAX_K = 100
_LOG = logging.getLogger("compendia.router")


class Holder:
    """The router of the newest snapshot. Use as a context manager: it owns the polling thread.

    fetch: gives a snapshot by revision, "" for the newest; raises NO_SNAPSHOT while there is none.
    poll_s: seconds between looks for a newer one; 0 never looks. newest: what a look asks: the newest
    revision, or "" for none. A snapshot is fetched only when that is another than the one that answers.
    scores: see `Router`.
    """

    def __init__(
        self,
        fetch: Callable[[str], Snapshot],
        encoder: Encoder,
        reranker: Reranker | None = None,
        poll_s: float = 0.0,
        newest: Callable[[], str] = lambda: "",
        scores: Path | None = None,
    ) -> None:
        self._fetch = fetch
        self._encoder = encoder
        self._reranker = reranker
        self._poll_s = poll_s
        self._newest = newest
        self._scores = scores
        self._router: Router | None = None
        self._loading = threading.Lock()
        self._stop = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="poll", daemon=True)
        self.encoded = 0

    @property
    def router(self) -> Router:
        """Raises NO_SNAPSHOT before the first refresh."""
        if self._router is None:
            raise error(ErrorCode.NO_SNAPSHOT, "the router has no snapshot yet")
        return self._router

    @property
    def revision(self) -> str:
        """The revision that answers now; empty before the first refresh."""
        return self._router.revision.snapshot.revision if self._router else ""

    @property
    def reranker(self) -> Reranker | None:
        return self._reranker

    @property
    def encoder(self) -> Encoder:
        return self._encoder

    def refresh(self, revision: str = "") -> None:
        """Fetch a snapshot and swap it in, if it is not the one that answers already.

        Raises CompendiaError when it cannot be fetched; queries then go on with the snapshot that was there.
        """
        snapshot = self._fetch(revision)
        with self._loading:
            if snapshot.revision == self.revision:
                return
            if self._router is None:
                self._router = Router(snapshot, self._encoder, self._reranker, scores=self._scores)
                self.encoded = self._router.revision.index.encoded
            else:
                self.encoded = self._router.refresh(snapshot)
        _LOG.info("snapshot %s: %d tools, %d texts encoded", snapshot.revision, self.tools, self.encoded)

    @property
    def tools(self) -> int:
        return len(self._router.revision.snapshot.compendium.tools) if self._router else 0

    @property
    def entries(self) -> int:
        return len(self._router.revision.index) if self._router else 0

    def __enter__(self) -> Self:
        if self._poll_s > 0:
            self._poller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._poller.is_alive():
            self._poller.join()

    def _poll(self) -> None:
        told = ""
        while not self._stop.is_set():
            try:
                revision = self._newest()
                if revision and revision != self.revision:
                    self.refresh(revision)
                told = ""
            except CompendiaError as fault:
                if str(fault) != told:  # once, not at every look
                    told = str(fault)
                    _LOG.warning("no newer snapshot: %s", fault.problems[0])
            self._stop.wait(self._poll_s)


class RouterService(RouterServicer):
    """Translates between the wire and a `Holder`. Errors leave as CompendiaError (see `wire.server`)."""

    def __init__(self, holder: Holder) -> None:
        self._holder = holder

    def Route(self, request: pb.RouteRequest, context: Any) -> pb.RouteResponse:
        """The plan for a query. Raises EMPTY_QUERY, BAD_TEXT, NO_SNAPSHOT, USAGE."""
        started = time.perf_counter()
        if request.k > MAX_K:
            raise error(ErrorCode.USAGE, f"k is {request.k}, at most {MAX_K} candidates are considered", "k")
        plan = self._holder.router.route(request.query, request.k or DEFAULT_K)
        elapsed_ms = (time.perf_counter() - started) * 1000
        return pb.RouteResponse(plan_json=canonical(plan.model_dump(mode="json")), elapsed_ms=elapsed_ms)

    def Status(self, request: pb.RouterStatusRequest, context: Any) -> pb.RouterStatus:
        """What the router answers from."""
        return self._status()

    def Refresh(self, request: pb.RefreshRequest, context: Any) -> pb.RouterStatus:
        """Fetch and swap now. Raises what fetching raises."""
        self._holder.refresh(request.revision)
        return self._status()

    def _status(self) -> pb.RouterStatus:
        holder = self._holder
        return pb.RouterStatus(
            revision=holder.revision,
            tools=holder.tools,
            entries=holder.entries,
            encoder=holder.encoder.fingerprint,
            reranker=holder.reranker.fingerprint if holder.reranker else "",
            encoded=holder.encoded,
        )
