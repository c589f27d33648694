"""Seal-Tools (Wu et al., arXiv:2405.08355): 4,076 generated tools of 146 areas, queries of one to six calls.

Its training file is left out; the 700 queries of its dev file serve as experience.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .datasets import alias, files_of, read_lines, readable

NAME = "sealtools"
DEV = "Seal-Tools_Dataset/dev.jsonl"
TOOLS = "Seal-Tools_Dataset/tool.jsonl"
TESTS = ("Seal-Tools_Dataset/test_in_domain.jsonl", "Seal-Tools_Dataset/test_out_domain.jsonl")
FILES = (TOOLS, DEV, *TESTS)


@dataclass(frozen=True)
class Request:
    """One query: the aliases of the tools it calls, in order, each once."""

    id: str
    text: str
    tools: tuple[str, ...]


@dataclass(frozen=True)
class SealTools:
    """source: the tool file as it is, for the importer. areas: alias to area. tests: dataset's own order."""

    source: bytes
    areas: Mapping[str, str]
    dev: tuple[Request, ...]
    tests: tuple[Request, ...]


def read_sealtools(folder: Path) -> SealTools:
    """Read tools, dev and both test files. Raises DATA_MISSING, SOURCE_UNREADABLE."""
    paths = files_of(NAME, folder, FILES)
    with readable(folder):
        areas = {alias(tool["api_name"]): tool["field"].split("/")[0] for tool in read_lines(paths[TOOLS])}
        tests = [requests(read_lines(paths[name])) for name in TESTS]
        return SealTools(
            paths[TOOLS].read_bytes(), areas, requests(read_lines(paths[DEV])), tuple(sum(tests, ()))
        )


def requests(rows: Iterable[dict[str, Any]]) -> tuple[Request, ...]:
    """The rows of one file. Pure."""
    return tuple(
        Request(row["id"], row["query"], tuple(dict.fromkeys(alias(call["api"]) for call in row["calling"])))
        for row in rows
    )
