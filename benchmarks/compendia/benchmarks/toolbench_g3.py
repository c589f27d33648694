"""ToolBench G3 (Qin et al., arXiv:2307.16789): requests over several categories, with the tools called.

A join of ToolPlanner's called tools (Wu et al., arXiv:2409.14826) with COLT's queries and API documents
(Qu et al., arXiv:2405.16089). Called tools are standardized names there, which `standardized` makes of a
document's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.contract import ErrorCode, error

from .datasets import alias, files_of, read_lines, readable

NAME = "toolbench_g3"
FILES = ("apis.jsonl", "experience.jsonl")


@dataclass(frozen=True)
class Request:
    """One request: the aliases of the tools that were called, in order, each once, and the category of the
    first call."""

    id: str
    text: str
    tools: tuple[str, ...]
    category: str


@dataclass(frozen=True)
class G3:
    """The documentation of 240 tools (an entry per API), and the requests."""

    apis: tuple[dict[str, Any], ...]
    requests: tuple[Request, ...]


def standardized(name: str) -> str:
    """ToolBench's standard form of a tool's name.

    >>> standardized("IP Geolocation - IPWHOIS.io"), standardized("23andMe")
    ('ip_geolocation_ipwhois_io', 'get_23andme')
    """
    plain = re.sub(r"_+", "_", re.sub(r"[^\u4e00-\u9fa5a-zA-Z0-9_]", "_", name)).strip("_").lower()
    return f"get_{plain}" if plain[:1].isdigit() else plain


def read_g3(folder: Path) -> G3:
    """Read both files. Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published."""
    apis, experience = (read_lines(path) for path in files_of(NAME, folder, FILES).values())
    with readable(folder):
        return join(apis, experience)


def join(apis: Iterable[dict[str, Any]], experience: Iterable[dict[str, Any]]) -> G3:
    """Requests and documents, each called tool by its alias. Pure.

    Raises SOURCE_UNREADABLE for a called tool without a document, or whose standard name two tools share.
    """
    documents = tuple(apis)
    names: dict[str, str] = {}
    for api in documents:
        known = names.setdefault(standardized(api["tool_name"]), alias(api["tool_name"]))
        if known != alias(api["tool_name"]):
            raise error(ErrorCode.SOURCE_UNREADABLE, f"{known!r} and {api['tool_name']!r} are called alike")
    requests = []
    for row in experience:
        called = dict.fromkeys(row["called_tools_std"])
        if unknown := [name for name in called if name not in names]:
            raise error(ErrorCode.SOURCE_UNREADABLE, f"called tools without a document: {unknown}")
        requests.append(
            Request(
                str(row["query_id"]),
                row["query"],
                tuple(names[name] for name in called),
                row["called_categories"][0],
            )
        )
    return G3(documents, tuple(requests))
