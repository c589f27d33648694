"""Readers of the public datasets: where they are, what they hold, and how to get them where they are not.

Nothing is downloaded and nothing of them is kept in this repository.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.contract import ErrorCode, error

DATA_VARIABLE = "COMPENDIA_DATA"
CHECKOUT = Path(__file__).resolve().parents[3]

UPSTREAM = {
    "stabletoolbench": "THUNLP-MT/StableToolBench at aa4ed9f4 (its solvable_queries/test_instruction files)",
    "restbench": "Yifan-Song793/RestGPT at d9901286 (datasets/ and specs/)",
    "mcp": "icip-cas/LiveMCPBench at a928e57d (as livemcpbench/) and docker/mcp-registry at 818bf169",
    "openapi": "darosh/openapi-directory-lite at 24eef4d4 and zijianhuang/openapi-directory at 6cc2f821",
}
"""Where each folder of the data directory comes from: a public repository and the commit that was used."""

STB_GROUPS = ("G1_category", "G1_instruction", "G1_tool", "G2_category", "G2_instruction", "G3_instruction")


@dataclass(frozen=True)
class Query:
    """One test query: its place in its group (`G1_tool/17`), its text, its group and the gold tools."""

    id: str
    text: str
    group: str
    gold: frozenset[str]


@dataclass(frozen=True)
class ToolCorpus:
    """StableToolBench: every API of its own `api_list`s once, and the test queries with their qrels.

    tools: alias to the APIs of the tools that share it, in order of first appearance, each API once.
    api_lists: the lists as published, for an importer that does its own pooling.
    """

    tools: Mapping[str, tuple[dict[str, Any], ...]]
    queries: tuple[Query, ...]
    api_lists: tuple[list[dict[str, Any]], ...]

    def toolbench_source(self) -> bytes:
        """All `api_list`s as one ToolBench file."""
        return json.dumps([{"api_list": apis} for apis in self.api_lists], ensure_ascii=False).encode()


def alias(name: str) -> str:
    """The name under which equally named tools count as one: lower case, words joined with `_`.

    >>> alias("Simple YouTube  Search")
    'simple_youtube_search'
    """
    return "_".join(name.lower().split())


def data_directory(given: Path | None = None) -> Path:
    """The datasets' directory: `given`, else $COMPENDIA_DATA, else `../shared/data` beside the checkout.

    Raises DATA_MISSING where there is none.
    """
    chosen = given or (Path(value) if (value := os.environ.get(DATA_VARIABLE)) else None)
    directory = chosen or CHECKOUT.parent / "shared" / "data"
    if not directory.is_dir():
        asked = "--data" if given else f"${DATA_VARIABLE}" if chosen else "the default"
        raise error(
            ErrorCode.DATA_MISSING,
            f"there is no directory {directory} ({asked})",
            "data",
            "make a directory with one folder per dataset and name it with --data or "
            f"{DATA_VARIABLE}; benchmarks/README.md lists the repositories and commits",
        )
    return directory


def dataset(name: str, given: Path | None = None) -> Path:
    """The folder of one dataset; `given` may name the folder itself or the directory that holds it.

    Raises DATA_MISSING with the public repository and commit to get it from.
    """
    directory = data_directory(given)
    if directory.name == name and not (directory / name).is_dir():
        return directory
    folder = directory / name
    if not folder.is_dir():
        raise missing(name, folder)
    return folder


def missing(name: str, path: Path) -> Exception:
    """The error of a dataset that is not there, saying how to get it."""
    return error(
        ErrorCode.DATA_MISSING,
        f"the dataset {name} is not at {path}",
        "data",
        f"get it from the public repository {UPSTREAM[name]} and put it there, or name another "
        f"place with --data or {DATA_VARIABLE}",
    )


def stabletoolbench_files(folder: Path) -> tuple[Path, ...]:
    """The six group files. Raises DATA_MISSING when one is not there."""
    files = tuple(folder / f"{group}.json" for group in STB_GROUPS)
    for path in files:
        if not path.is_file():
            raise missing("stabletoolbench", path)
    return files


def read_stabletoolbench(folder: Path) -> ToolCorpus:
    """Read the six groups. Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published."""
    groups = []
    for path in stabletoolbench_files(folder):
        try:
            groups.append((path.stem, json.loads(path.read_bytes())))
        except ValueError as fault:
            raise error(ErrorCode.SOURCE_UNREADABLE, f"{path.name}: {fault}", str(path)) from None
    try:
        return pool(groups)
    except (KeyError, TypeError) as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"not the published shape: {fault!r}", str(folder)) from None


def pool(groups: Iterable[tuple[str, list[dict[str, Any]]]]) -> ToolCorpus:
    """Pool queries and `api_list`s of all groups; of equal (category, tool, API) the first counts. Pure."""
    tools: dict[str, dict[tuple[str, str, str], dict[str, Any]]] = {}
    queries, api_lists = [], []
    for group, entries in groups:
        for number, entry in enumerate(entries):
            gold = frozenset(alias(tool) for tool, _ in entry["relevant APIs"])
            queries.append(Query(f"{group}/{number}", entry["query"], group, gold))
            api_lists.append(entry["api_list"])
            for api in entry["api_list"]:
                key = (api["category_name"], api["tool_name"], api["api_name"])
                tools.setdefault(alias(api["tool_name"]), {}).setdefault(key, api)
    pooled = {name: tuple(apis.values()) for name, apis in tools.items()}
    return ToolCorpus(pooled, tuple(queries), tuple(api_lists))


def stratified(queries: tuple[Query, ...], limit: int | None) -> tuple[Query, ...]:
    """At most `limit` queries (all where None), taken evenly over the whole order, so every group stays."""
    if limit is None or limit >= len(queries):
        return queries
    return tuple(queries[index * len(queries) // limit] for index in range(limit))
