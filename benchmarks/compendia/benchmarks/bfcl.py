"""BFCL v4 live (Patil et al., ICML 2025): questions that people asked of a hosted service, each with the few
functions it was asked with. `multiple`: exactly one of them is right; `irrelevance`: none is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .datasets import files_of, read_lines, readable

NAME = "bfcl"
MULTIPLE, IRRELEVANCE = "BFCL_v4_live_multiple.json", "BFCL_v4_live_irrelevance.json"
FILES = (MULTIPLE, IRRELEVANCE)


@dataclass(frozen=True)
class Question:
    """text: what the user said, all turns, without the system's and the assistant's. functions: as published,
    for the importer; may be empty."""

    id: str
    text: str
    functions: bytes

    @property
    def half(self) -> int:
        """0 or 1, by a hash of the id."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2


@dataclass(frozen=True)
class Bfcl:
    """The questions of both files, in their order."""

    multiple: tuple[Question, ...]
    irrelevance: tuple[Question, ...]


def read_bfcl(folder: Path) -> Bfcl:
    """Read both files. Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published."""
    paths = files_of(NAME, folder, FILES)
    with readable(folder):
        return Bfcl(questions(read_lines(paths[MULTIPLE])), questions(read_lines(paths[IRRELEVANCE])))


def questions(rows: Iterable[dict[str, Any]]) -> tuple[Question, ...]:
    """The rows of one file. Pure."""
    return tuple(
        Question(
            row["id"],
            "\n".join(
                message["content"]
                for turn in row["question"]
                for message in turn
                if message["role"] == "user"
            ),
            json.dumps(row["function"], ensure_ascii=False).encode(),
        )
        for row in rows
    )
