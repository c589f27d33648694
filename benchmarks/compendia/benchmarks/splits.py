"""Splits: what is documented, what organizations experienced, what is asked. Pure: datasets come in as read.

A split says nothing of how experience travels: `snapshots` makes the snapshots of its arms.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from compendia.client.importers import import_source
from compendia.contract import Compendium, ErrorCode, error

from .datasets import Query, alias
from .metatool import MetaTool
from .sealtools import SealTools
from .stabletoolbench import ToolCorpus
from .toolbench_g3 import G3

CLIENTS = tuple(f"client{number}" for number in range(1, 6))
"""Five organizations, as in the Synapse paper."""

LABELLED, ZERO = "labelled", "zero"


@dataclass(frozen=True)
class Item:
    """One recorded call: whose, the request as it was written, and the id of the tool that was tried."""

    client: str
    query: str
    tool: str


@dataclass(frozen=True)
class Split:
    """documentation: the whole catalog as imported, without experience. experience: calls that worked, in a
    fixed order; failures: calls that did not.

    queries: what is asked, with groups and the judged names of the gold tools. names: tool id to the name it
    is judged by, so that aliases count as one. holdings: the ids of the tools that each client documents;
    every tool that a client used is among them, and every tool is in one of them at least. Empty without
    experience.
    """

    name: str
    documentation: Compendium
    experience: tuple[Item, ...]
    queries: tuple[Query, ...]
    names: Mapping[str, str]
    holdings: Mapping[str, frozenset[str]]
    failures: tuple[Item, ...] = ()

    def __post_init__(self) -> None:
        known = set(self.names.values())
        lost = sorted({name for query in self.queries for name in query.gold} - known)
        strange = sorted({item.tool for item in (*self.experience, *self.failures)} - set(self.names))
        if lost or strange:
            raise error(
                ErrorCode.INTERNAL,
                f"{self.name}: tools that are not in the catalogue: {', '.join((lost + strange)[:5])}",
                "tools",
            )

    def experienced(self) -> frozenset[str]:
        """Judged names of the tools with experience."""
        return frozenset(self.names[item.tool] for item in self.experience)


def stb_docs(corpus: ToolCorpus) -> Split:
    """StableToolBench from documentation alone: tools as imported, aliases collapsed only in judging."""
    return _split(
        "stb-docs", _imported("toolbench", corpus.toolbench_source(), "stabletoolbench"), corpus.queries
    )


def stb_g3(corpus: ToolCorpus, g3: G3) -> Split:
    """StableToolBench's queries, over its tools and G3's, with the G3 requests as the only experience.

    Tools of the same alias are one tool, under the name and category it is first listed with. Each request
    is one success of every tool it called. Five clients: the categories of the first called tools, dealt so
    that requests balance; a client documents the tools of its categories and those it called.
    """
    source = json.dumps(_one_tool_an_alias([*_apis(corpus), *g3.apis]), ensure_ascii=False).encode()
    documentation = _imported("toolbench", source, "toolbench")
    categories = Counter(request.category for request in g3.requests)
    client_of = deal(categories, CLIENTS)
    ids = {alias(tool.title): tool.id for tool in documentation.tools}
    experience = tuple(
        Item(client_of[request.category], request.text, ids[name])
        for request in g3.requests
        for name in request.tools
    )
    return _split("stb-g3", documentation, corpus.queries, experience, client_of)


def metatool(data: MetaTool, seed: int) -> Split:
    """MetaTool's zero-label split: queries of tools with (`labelled`) and without (`zero`) experience.

    MetaTool has no categories: rows are dealt to the five clients in turn, so that each knows every used
    tool a little and their experience overlaps. All document the whole catalog.
    """
    held_out = data.split(seed)
    documentation = _imported("functions", data.functions_source(), "metatool")
    ids = {alias(tool.title): tool.id for tool in documentation.tools}
    experience = tuple(
        Item(CLIENTS[number % len(CLIENTS)], data.rows[row][0], ids[alias(data.rows[row][1])])
        for number, row in enumerate(held_out.train)
    )
    zero = set(held_out.zero_tools)
    queries = tuple(
        Query(f"row/{row}", text, ZERO if tool in zero else LABELLED, frozenset({alias(tool)}))
        for row in held_out.test
        for text, tool in [data.rows[row]]
    )
    everything = frozenset(ids.values())
    return _split("metatool", documentation, queries, experience, holdings=dict.fromkeys(CLIENTS, everything))


def sealtools(data: SealTools) -> Split:
    """Seal-Tools with its dev file as experience; a test query is `zero` when no gold tool was used in it.

    Five clients by the area of a request's first called tool, dealt as in `stb_g3`.
    """
    documentation = _imported("functions", data.source, "sealtools")
    ids = {alias(tool.title): tool.id for tool in documentation.tools}
    client_of = deal(Counter(data.areas[request.tools[0]] for request in data.dev), CLIENTS)
    experience = tuple(
        Item(client_of[data.areas[request.tools[0]]], request.text, ids[name])
        for request in data.dev
        for name in request.tools
    )
    used = {name for request in data.dev for name in request.tools}
    queries = tuple(
        Query(request.id, request.text, LABELLED if gold & used else ZERO, gold)
        for request in data.tests
        for gold in [frozenset(request.tools)]
    )
    return _split("sealtools", documentation, queries, experience, client_of)


def deal(weights: Mapping[str, int], clients: tuple[str, ...]) -> dict[str, str]:
    """Each key to a client, so that weights balance: the heaviest first, to the lightest client (longest
    processing time, Graham 1969); equals in alphabetical order.

    >>> deal({"a": 3, "b": 2, "c": 1, "d": 1}, ("x", "y"))
    {'a': 'x', 'b': 'y', 'c': 'y', 'd': 'x'}
    """
    loads = dict.fromkeys(clients, 0)
    dealt = {}
    for key in sorted(weights, key=lambda key: (-weights[key], key)):
        lightest = min(clients, key=lambda client: loads[client])
        dealt[key] = lightest
        loads[lightest] += weights[key]
    return dealt


def _split(
    name: str,
    documentation: Compendium,
    queries: tuple[Query, ...],
    experience: tuple[Item, ...] = (),
    client_of: Mapping[str, str] | None = None,
    holdings: Mapping[str, frozenset[str]] | None = None,
) -> Split:
    names = {tool.id: alias(tool.title) for tool in documentation.tools}
    if holdings is None:
        holdings = _holdings(documentation, experience, client_of) if client_of else {}
    return Split(name, documentation, experience, queries, names, holdings)


def _holdings(
    documentation: Compendium, experience: Iterable[Item], client_of: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """Tools by category; categories that no request began with are dealt by their number of tools."""
    category = {tool.id: tool.category.split("/")[0] for tool in documentation.tools}
    unused = Counter(named for named in category.values() if named not in client_of)
    owner = deal(unused, CLIENTS) | dict(client_of)
    held: dict[str, set[str]] = {client: set() for client in CLIENTS}
    for tool, named in category.items():
        held[owner[named]].add(tool)
    for item in experience:
        held[item.client].add(item.tool)
    return {client: frozenset(tools) for client, tools in held.items()}


def _imported(kind: Literal["toolbench", "functions"], source: bytes, name: str) -> Compendium:
    return import_source(kind, source, org="benchmark", source_name=name).compendium


def _apis(corpus: ToolCorpus) -> Iterable[dict[str, object]]:
    return (api for apis in corpus.api_lists for api in apis)


def _one_tool_an_alias(apis: Iterable[dict[str, object]]) -> list[dict[str, object]]:
    """The entries, each under the name and category of the first entry of its alias."""
    first: dict[str, dict[str, object]] = {}
    renamed = []
    for api in apis:
        category = api.get("category_name", api.get("category"))
        place = first.setdefault(
            alias(str(api["tool_name"])), {"category_name": category, "tool_name": api["tool_name"]}
        )
        renamed.append({key: value for key, value in api.items() if key != "category"} | place)
    return renamed
