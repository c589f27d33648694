"""StableToolBench (Guo et al., arXiv:2403.07714): 765 solvable queries in six groups. Test data only.

Its catalogue is the tools of its own `api_list`s, pooled.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .datasets import Query, alias, files_of, read_json, readable

NAME = "stabletoolbench"
GROUPS = ("G1_category", "G1_instruction", "G1_tool", "G2_category", "G2_instruction", "G3_instruction")
FILES = tuple(f"{group}.json" for group in GROUPS)


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


def read_stabletoolbench(folder: Path) -> ToolCorpus:
    """Read the six groups. Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published."""
    groups = [(path.stem, read_json(path)) for path in files_of(NAME, folder, FILES).values()]
    with readable(folder):
        return pool(groups)


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
