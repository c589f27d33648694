"""Routing at full size, without an LLM: from a person's words to a plan, encoding included."""

from __future__ import annotations

import time

from compendia.text.encode import load_encoder

from .benchmark import Figures, Session
from .cost_round import VECTORS
from .cost_world import compendia
from .metrics import quantile
from .speed_search import WARM_UP, queries


def route(session: Session) -> Figures:
    """Median and 95th percentile of the milliseconds of `Router.route`, over different queries.

    The snapshot is the merge of the cost world; document vectors are taken from the round's cache, if it ran.
    """
    from compendia.aggregator.executor import SerialExecutor
    from compendia.aggregator.view import Contribution, view
    from compendia.router.route import Router

    session.directory.mkdir(parents=True, exist_ok=True)
    encoder = load_encoder(session.options.encoder, session.directory / VECTORS)
    said = compendia(session)
    leaves = [Contribution(each.org, 1, f"{number:064x}", each) for number, each in enumerate(said)]
    snapshot = view(leaves, grants={}, encoder=encoder, executor=SerialExecutor(), round=1)
    started = time.perf_counter()
    router = Router(snapshot, encoder)
    loaded_s = time.perf_counter() - started
    asked = list(dict.fromkeys(queries(session, snapshot.compendium)))
    milliseconds, computed = [], []
    for number, text in enumerate(asked):
        begun, busy = time.perf_counter(), time.process_time()
        router.route(text)
        if number >= WARM_UP:
            milliseconds.append((time.perf_counter() - begun) * 1e3)
            computed.append((time.process_time() - busy) * 1e3)
    session.notes["route"] = {
        "tools": len(snapshot.compendium.tools),
        "entries": len(router.revision.index),
        "queries": len(milliseconds),
        "cpu_ms_p50": round(quantile(computed, 0.5), 3),
        "load_s": round(loaded_s, 3),
    }
    return {"route_ms_p50": quantile(milliseconds, 0.5), "route_ms_p95": quantile(milliseconds, 0.95)}
