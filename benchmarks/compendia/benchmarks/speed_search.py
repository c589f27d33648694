"""Search and refresh of the real router index at 30,000 entries, encoding excluded."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Compendium, Snapshot
from compendia.text.encode import Encoder, HashingEncoder

from .benchmark import Figures, Session
from .catalog import contribution
from .metrics import quantile
from .stb_docs import documentation_snapshot

ENTRIES = 30_000
TOOLS_SHARE = 0.1  # of the entries: 3,000 descriptions, 27,000 scenarios and precautions
QUERIES = 400
WARM_UP = 20


class CountingEncoder:
    """Another encoder, with the texts that were sent to it kept in `texts`."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.texts: list[str] = []
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self._encoder.encode_documents(texts)


def catalogue(seed: int, entries: int, org: str = "atlas") -> Compendium:
    """A catalogue with about one tool in ten entries, the rest experience about them."""
    tools = max(1, round(entries * TOOLS_SHARE))
    return contribution(seed, org, range(tools), entries - tools)


def search(session: Session) -> Figures:
    """Milliseconds from an encoded query to the ranked tools: median and 95th percentile."""
    from compendia.router.query import encode_query, read_query
    from compendia.router.route import Router

    entries = session.options.limit or ENTRIES
    encoder = HashingEncoder()
    snapshot = documentation_snapshot(catalogue(session.options.seed, entries), encoder.fingerprint)
    router = Router(snapshot, encoder)
    asked = [scenario.text for scenario in snapshot.compendium.scenarios]
    # Other words than any entry holds, so that nothing is found by being equal.
    texts = [f"{asked[place * len(asked) // QUERIES]} as soon as possible" for place in range(QUERIES)]
    encoded = [encode_query(read_query(text), encoder) for text in texts]
    milliseconds = []
    for number, query in enumerate([*encoded[:WARM_UP], *encoded]):
        started = time.perf_counter()
        router.revision.rank(query, 5)
        if number >= WARM_UP:
            milliseconds.append((time.perf_counter() - started) * 1e3)
    size = len(router.revision.index)
    session.notes["search"] = {
        "entries": size,
        "tools": len(snapshot.compendium.tools),
        "queries": len(texts),
        "texts": "generated",
        "covers": "dense and lexical search, features, ranking; encoding excluded",
    }
    return {
        f"search_ms_p50/{entries}": quantile(milliseconds, 0.5),
        f"search_ms_p95/{entries}": quantile(milliseconds, 0.95),
    }


def refresh(session: Session) -> Figures:
    """How many texts a refresh encodes after one tool's description changed, counted at the encoder."""
    from compendia.router.route import Router

    entries = session.options.limit or ENTRIES
    encoder = CountingEncoder(HashingEncoder())
    before = catalogue(session.options.seed, entries)
    router = Router(documentation_snapshot(before, encoder.fingerprint), encoder)
    encoder.texts.clear()
    router.refresh(changed(before, encoder.fingerprint))
    session.notes["refresh_encoded_texts"] = list(encoder.texts)
    return {"refresh_encoded": len(encoder.texts)}


def changed(compendium: Compendium, encoder: str) -> Snapshot:
    """The compendium's next revision: one tool in the middle has another description."""
    tools = list(compendium.tools)
    place = len(tools) // 2
    edited = tools[place].model_copy(update={"description": "Measures tides with the new gauges."})
    tools[place] = edited
    return documentation_snapshot(compendium.model_copy(update={"tools": tuple(tools)}), encoder)
