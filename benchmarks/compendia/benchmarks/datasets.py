"""The public datasets: where they are, how to get them where they are not, how their files are read.

Each that has queries has a module of its own, which says what it holds.

Nothing is downloaded and nothing of them is kept in this repository.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.contract import CompendiaError, ErrorCode, error
from compendia.contract.strict_json import digest

DATA_VARIABLE = "COMPENDIA_DATA"
CHECKOUT = Path(__file__).resolve().parents[3]

UPSTREAM = {
    "stabletoolbench": "THUNLP-MT/StableToolBench at aa4ed9f4 (its solvable_queries/test_instruction files)",
    "restbench": "Yifan-Song793/RestGPT at d9901286 (datasets/ and specs/)",
    "mcp": "icip-cas/LiveMCPBench at a928e57d (as livemcpbench/) and docker/mcp-registry at 818bf169",
    "toolbench_g3": "XiaoMi/toolplanner at 911af3a5 joined with quchangle1/COLT at bbec292c "
    "(experience.jsonl, apis.jsonl; benchmarks/README.md says how)",
    "metatool": "HowieHwong/MetaTool at 35e81bb7 (its dataset/, and zero_label_split.json of this project)",
    "sealtools": "fairyshine/Seal-Tools at ce753ecd (Seal-Tools_Dataset/)",
    "toolsdk": "toolsdk-ai/toolsdk-mcp-registry at 4bfe8262 (indexes/packages-list.json as tools.jsonl)",
    "bfcl": "ShishirPatil/gorilla at 6ea57973 (its BFCL_v4_live_* files)",
    "taubench": "sierra-research/tau-bench at 59a200c6 (tools and tasks as plain JSON)",
    "openapi": "darosh/openapi-directory-lite at 24eef4d4 and zijianhuang/openapi-directory at 6cc2f821",
}
"""Where each folder of the data directory comes from: a public repository and the commit that was used."""


@dataclass(frozen=True)
class Query:
    """One test query: its place in its group (`G1_tool/17`), its text, its group and the gold tools."""

    id: str
    text: str
    group: str
    gold: frozenset[str]


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


def files_of(name: str, folder: Path, files: Iterable[str]) -> dict[str, Path]:
    """The named files of a dataset. Raises DATA_MISSING when one is not there."""
    found = {file: folder / file for file in files}
    for path in found.values():
        if not path.is_file():
            raise missing(name, path)
    return found


def read_json(path: Path) -> Any:
    """A JSON file's tree. Raises SOURCE_UNREADABLE."""
    with readable(path):
        return json.loads(path.read_bytes())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines. Raises SOURCE_UNREADABLE."""
    with readable(path):
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What is read inside is as published, or it raises SOURCE_UNREADABLE with the place."""
    try:
        yield
    except CompendiaError:
        raise
    except OSError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"cannot read it: {fault.strerror}", str(path)) from None
    except (KeyError, TypeError, IndexError) as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"not the published shape: {fault!r}", str(path)) from None
    except ValueError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"{path.name}: {fault}", str(path)) from None


def stratified(queries: tuple[Query, ...], limit: int | None) -> tuple[Query, ...]:
    """At most `limit` queries (all where None), taken evenly over the whole order, so every group stays."""
    if limit is None or limit >= len(queries):
        return queries
    return tuple(queries[index * len(queries) // limit] for index in range(limit))


def sample(queries: Sequence[Query], wanted: int) -> tuple[Query, ...]:
    """At most `wanted` queries of each group, those whose text's digest comes first; in their own order."""
    chosen: set[Query] = set()
    for group in {query.group for query in queries}:
        own = [query for query in queries if query.group == group]
        chosen |= set(sorted(own, key=lambda query: (digest(query.text), query.id))[:wanted])
    return tuple(query for query in queries if query in chosen)
