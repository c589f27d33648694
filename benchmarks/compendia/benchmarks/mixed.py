"""Development splits: a catalog that mixes two kinds of tools, asked training rows that were held back. Pure.

MetaTool's tools are described in a line, those that ToolBench G3's requests call at length. All are in one
catalog; in each mix other experience is there, and other tools are hidden from it. No test query is asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from compendia.client.build import combine

from .datasets import Query
from .snapshots import restricted
from .splits import CLIENTS, Split

USED, NEW = "used", "new"


@dataclass(frozen=True)
class Share:
    """What a mix has of one dataset.

    hidden: share of its used tools that are without experience here; 1 where it has none at all. used, new:
    requests to ask at most for tools with experience, and for hidden ones.
    """

    hidden: float
    used: int
    new: int


METATOOL, G3 = "metatool", "g3"
MIXES: Mapping[str, Mapping[str, Share]] = {
    "g3": {METATOOL: Share(1, 0, 500), G3: Share(0, 350, 0)},
    "metatool": {METATOOL: Share(1 / 4, 400, 300), G3: Share(1, 0, 250)},
    "both": {METATOOL: Share(1 / 4, 250, 200), G3: Share(1 / 4, 250, 250)},
}
"""The shares of both datasets in each mix, which is named by whose experience it has."""


def mixed(metatool: Split, g3: Split, mixes: Mapping[str, Mapping[str, Share]] = MIXES) -> dict[str, Split]:
    """The split of each mix, from the experience of two splits; their queries are not read.

    Groups are `DATASET-used` and `DATASET-new`. A request for several tools is `new` where one of them is
    hidden, the gold then being those, and no such request is experience. Every client documents the whole
    catalog.
    """
    splits = {METATOOL: metatool, G3: g3}
    called = restricted(g3.documentation, {item.tool for item in g3.experience})
    documentation = combine([metatool.documentation, called])
    known = {**metatool.names, **g3.names}
    names = {tool.id: known[tool.id] for tool in documentation.tools}
    holdings = dict.fromkeys(CLIENTS, frozenset(names))
    made = {}
    for name, shares in mixes.items():
        experience, queries = [], []
        for dataset, share in shares.items():
            gold = served(splits[dataset])
            hidden = hidden_tools(gold, share.hidden)
            new = [request for request, tools in gold.items() if tools & hidden]
            used = [request for request, tools in gold.items() if not tools & hidden][: share.used]
            queries += [_query(dataset, USED, request, gold[request]) for request in used]
            queries += [_query(dataset, NEW, request, gold[request] & hidden) for request in new[: share.new]]
            held_back = {*used, *new}
            experience += [item for item in splits[dataset].experience if item.query not in held_back]
        made[name] = Split(name, documentation, tuple(experience), tuple(queries), names, holdings)
    return made


def served(split: Split) -> dict[str, frozenset[str]]:
    """The judged names of the tools that each request was a success of, in order of the requests' digests."""
    found: dict[str, set[str]] = {}
    for item in split.experience:
        found.setdefault(item.query, set()).add(split.names[item.tool])
    return {request: frozenset(found[request]) for request in sorted(found, key=_digest)}


def hidden_tools(gold: Mapping[str, frozenset[str]], share: float) -> frozenset[str]:
    """A share of the tools that requests were served by, the lowest digests first."""
    tools = sorted({tool for found in gold.values() for tool in found}, key=_digest)
    return frozenset(tools[: round(share * len(tools))])


def _query(dataset: str, kind: str, request: str, gold: frozenset[str]) -> Query:
    group = f"{dataset}-{kind}"
    return Query(f"{group}/{_digest(request)[:16]}", request, group, gold)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
