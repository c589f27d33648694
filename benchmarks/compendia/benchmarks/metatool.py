"""MetaTool (Huang et al., arXiv:2310.03128): 199 tools of one line each, 20,542 different queries with one
gold tool each, and the split that leaves 40 tools without any experience.

`zero_label_split.json` is that split for seed 42, and `hold_out` the procedure that made it: it gives the
same tools and rows, in the same order, and the splits of other seeds.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compendia.contract import ErrorCode, error

from .datasets import files_of, read_json, readable

NAME = "metatool"
QUERIES, DESCRIPTIONS, SPLIT = (
    "dataset/data/all_clean_data.csv",
    "dataset/plugin_des.json",
    "zero_label_split.json",
)
FILES = (QUERIES, DESCRIPTIONS, SPLIT)

PUBLISHED_SEED = 42
ZERO_TOOLS = 40
MOST_TRAIN = 25
MOST_TEST = 20
TEST_SHARE = 5  # at most one row in five of a tool is a test row


@dataclass(frozen=True)
class HoldOut:
    """zero_tools: those without experience, sorted. train, test: places in the rows; of a tool of zero_tools
    only test rows."""

    zero_tools: tuple[str, ...]
    train: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True)
class MetaTool:
    """descriptions: tool to its line. rows: (query, tool), each query once. published: seed 42's split."""

    descriptions: Mapping[str, str]
    rows: tuple[tuple[str, str], ...]
    published: HoldOut

    def functions_source(self) -> bytes:
        """The tools as a list of functions."""
        listed = [{"name": name, "description": text} for name, text in self.descriptions.items()]
        return json.dumps(listed, ensure_ascii=False).encode()

    def split(self, seed: int) -> HoldOut:
        """The published split for its seed, one made the same way for any other."""
        return self.published if seed == PUBLISHED_SEED else hold_out(self.rows, seed)


def deduplicated(rows: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The first row of each query, queries compared without case and outer blanks, whatever their tool.

    >>> deduplicated([("Tides?", "a"), (" tides? ", "b"), ("Bread", "b")])
    (('Tides?', 'a'), ('Bread', 'b'))
    """
    first: dict[str, tuple[str, str]] = {}
    for query, tool in rows:
        first.setdefault(query.strip().lower(), (query, tool))
    return tuple(first.values())


def hold_out(rows: Sequence[tuple[str, str]], seed: int, zero_tools: int = ZERO_TOOLS) -> HoldOut:
    """Hide `zero_tools` tools from experience, and draw train and test rows of each tool. Pure.

    One generator (PCG64 of the seed) permutes the sorted tools, of which the first are the zero tools, then
    each tool's rows in order of the tools: first come min(20, a fifth) test rows, then up to 25 train rows.
    """
    places: dict[str, list[int]] = {}
    for place, (_, tool) in enumerate(rows):
        places.setdefault(tool, []).append(place)
    tools = sorted(places)
    draw = np.random.default_rng(seed)
    zero = {tools[at] for at in draw.permutation(len(tools))[:zero_tools]}
    train: list[int] = []
    test: list[int] = []
    for tool in tools:
        shuffled = [int(place) for place in draw.permutation(places[tool])]
        cut = min(MOST_TEST, len(shuffled) // TEST_SHARE)
        test += shuffled[:cut]
        if tool not in zero:
            train += shuffled[cut : cut + MOST_TRAIN]
    return HoldOut(tuple(sorted(zero)), tuple(train), tuple(test))


def read_metatool(folder: Path) -> MetaTool:
    """Read queries, descriptions and the published split.

    Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published.
    """
    paths = files_of(NAME, folder, FILES)
    descriptions, published = read_json(paths[DESCRIPTIONS]), read_json(paths[SPLIT])
    with readable(paths[QUERIES]), paths[QUERIES].open(encoding="utf-8", newline="") as stream:
        rows = deduplicated((row["Query"], row["Tool"]) for row in csv.DictReader(stream))
    with readable(paths[SPLIT]):
        if published["rows"] != len(rows) or published["seed"] != PUBLISHED_SEED:
            raise error(
                ErrorCode.SOURCE_UNREADABLE,
                f"the split is of {published['rows']} rows with seed {published['seed']}, the queries are "
                f"{len(rows)}",
                str(paths[SPLIT]),
                "take both from the commit that benchmarks/README.md names",
            )
        split = HoldOut(*(tuple(published[key]) for key in ("zero_tools", "train", "test")))
    return MetaTool(descriptions, rows, split)
