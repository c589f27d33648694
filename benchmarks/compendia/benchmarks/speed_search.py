"""Search and refresh of the real router index at 30,000 entries, encoding excluded."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compendia.contract import CompendiaError, Compendium, ErrorCode, Snapshot
from compendia.text.encode import Encoder, HashingEncoder
from compendia.text.spans import Text, said

from .benchmark import Figures, Session
from .catalog import contribution
from .datasets import stratified
from .large import documented_tools
from .metrics import quantile
from .snapshots import documentation_snapshot
from .stabletoolbench import read_stabletoolbench

ENTRIES = 30_000
TOOLS_SHARE = 0.1  # of the entries: 3,000 descriptions, 27,000 scenarios and precautions
QUERIES = 400
WARM_UP = 20


class CountingEncoder:
    """Another encoder, with the texts that were sent to it kept in `texts`."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.texts: list[Text] = []
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension

    def encode_queries(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encoder.encode_documents(texts)


def catalogue(session: Session) -> Compendium:
    """Three tools to 27 scenarios or precautions about them, `ENTRIES` (or --limit) in all.

    The tools are the datasets' own as far as there are any, the requests are generated: documentation is what
    is searched by words, and made-up words would make that too easy.
    """
    entries = session.options.limit or ENTRIES
    count = max(1, round(entries * TOOLS_SHARE))
    made = contribution(session.options.seed, "atlas", range(count), entries - count)
    real = documented_tools(session, count)
    session.notes["search"] = {"tools": count, "tools_from_datasets": len(real), "requests": "generated"}
    new_ids = {old.id: new.id for old, new in zip(made.tools, real, strict=False)}
    tools = (*real, *made.tools[len(real) :])
    moved = {
        section: tuple(
            record.model_copy(update={"tool": new_ids.get(record.tool, record.tool), "endpoint": ""})
            for record in records
        )
        for section, records in (("scenarios", made.scenarios), ("precautions", made.precautions))
    }
    return made.model_copy(update={"tools": tools, "usage": (), "templates": (), **moved})


def queries(session: Session, compendium: Compendium) -> list[str]:
    """Requests that no entry equals: StableToolBench's where they are, else reworded scenarios."""
    try:
        asked = read_stabletoolbench(session.dataset("stabletoolbench")).queries
        return [query.text for query in stratified(asked, QUERIES)]
    except CompendiaError as fault:
        if fault.code is not ErrorCode.DATA_MISSING:
            raise
    texts = [scenario.text for scenario in compendium.scenarios]
    return [f"{texts[place * len(texts) // QUERIES]} as soon as possible" for place in range(QUERIES)]


def search(session: Session) -> Figures:
    """Milliseconds from an encoded query to its ranked tools: median and 95th percentile."""
    from compendia.router.query import encode_query, read_query
    from compendia.router.route import Router

    encoder = HashingEncoder()
    compendium = session.once("catalogue", lambda: catalogue(session))
    router = Router(documentation_snapshot(compendium, encoder.fingerprint), encoder)
    encoded = [encode_query(read_query(text), encoder) for text in queries(session, compendium)]
    milliseconds, computed = [], []
    for number, query in enumerate([*encoded[:WARM_UP], *encoded]):
        started, busy = time.perf_counter(), time.process_time()
        router.revision.rank(query, 5)
        if number >= WARM_UP:
            milliseconds.append((time.perf_counter() - started) * 1e3)
            computed.append((time.process_time() - busy) * 1e3)
    session.notes["search"] |= {
        "entries": len(router.revision.index),
        "queries": len(encoded),
        "cpu_ms_p50": round(quantile(computed, 0.5), 3),
        "covers": "dense and lexical search, features, ranking; encoding excluded",
    }
    entries = session.options.limit or ENTRIES
    return {
        f"search_ms_p50/{entries}": quantile(milliseconds, 0.5),
        f"search_ms_p95/{entries}": quantile(milliseconds, 0.95),
    }


def refresh(session: Session) -> Figures:
    """How many texts a refresh encodes after one tool's description changed, counted at the encoder."""
    from compendia.router.route import Router

    encoder = CountingEncoder(HashingEncoder())
    before = session.once("catalogue", lambda: catalogue(session))
    router = Router(documentation_snapshot(before, encoder.fingerprint), encoder)
    encoder.texts.clear()
    router.refresh(changed(before, encoder.fingerprint))
    session.notes["refresh_encoded_texts"] = [said(text) for text in encoder.texts]
    return {"refresh_encoded": len(encoder.texts)}


def changed(compendium: Compendium, encoder: str) -> Snapshot:
    """The compendium's next revision: one tool in the middle has another description."""
    tools = list(compendium.tools)
    place = len(tools) // 2
    edited = tools[place].model_copy(update={"description": "Measures tides with the new gauges."})
    tools[place] = edited
    return documentation_snapshot(compendium.model_copy(update={"tools": tuple(tools)}), encoder)
