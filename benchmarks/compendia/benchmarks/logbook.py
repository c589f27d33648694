"""What runs left behind, read again: each run's document, with logs that are the ones it was made with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.contract import ErrorCode, error

from .datasets import Query, read_json, read_lines, readable
from .evaluation import Evaluation
from .records import RESULT, sha256_of


@dataclass(frozen=True)
class Run:
    """One run: its document as `bench run --json` prints it, and its logs by name without `.jsonl`."""

    directory: Path
    document: Mapping[str, Any]
    logs: Mapping[str, Sequence[Mapping[str, Any]]]

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return str(self.document["benchmark"])

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What was read and used."""
        manifest: Mapping[str, Any] = self.document["manifest"]
        return manifest

    @property
    def limit(self) -> int | None:
        """The size of the sample; None for a full run."""
        limit: int | None = self.manifest["arguments"]["limit"]
        return limit

    def evaluations(self) -> dict[str, Evaluation]:
        """The logs of single answers, judged again; other logs are not among them."""
        return {name: judged(rows) for name, rows in self.logs.items() if rows and _is_answer(rows[0])}


def read_runs(home: Path) -> list[Run]:
    """Every run below `home`, the earliest first; of a benchmark that was run in full, no samples.

    Raises SOURCE_UNREADABLE for a log that is missing or is not the one of its document, and where there is
    no run at all.
    """
    runs = [read_run(path.parent) for path in sorted(home.glob(f"*/*/{RESULT}"))]
    if not runs:
        raise error(
            ErrorCode.SOURCE_UNREADABLE,
            f"there is no run in {home}",
            str(home),
            "run `compendia bench run NAME` first, or name another place with --home",
        )
    full = {run.benchmark for run in runs if run.limit is None}
    kept = [run for run in runs if run.limit is None or run.benchmark not in full]
    return sorted(kept, key=lambda run: (run.manifest["finished"], str(run.directory)))


def read_run(directory: Path) -> Run:
    """The run of a folder. Raises SOURCE_UNREADABLE."""
    path = directory / RESULT
    document = read_json(path)
    with readable(path):
        digests: Mapping[str, str] = document["manifest"]["logs"]
        document["benchmark"], document["figures"], document["manifest"]["finished"]
    logs = {}
    for name, expected in digests.items():
        found = sha256_of(directory / name)
        if found != expected:
            raise error(
                ErrorCode.SOURCE_UNREADABLE,
                f"the log {name} is not the one that the run's figures are from: its SHA-256 is "
                f"{found[:12]}..., the manifest has {expected[:12]}...",
                str(directory / name),
                "run the benchmark again, or delete the run's folder",
            )
        logs[Path(name).stem] = read_lines(directory / name)
    return Run(directory, document, logs)


def judged(rows: Sequence[Mapping[str, Any]]) -> Evaluation:
    """Logged answers as an evaluation; the text of a query is not logged."""
    queries = [Query(row["query"], "", row["group"], frozenset(row["gold"])) for row in rows]
    return Evaluation(queries, [row["found"] for row in rows])


def _is_answer(row: Mapping[str, Any]) -> bool:
    return {"query", "group", "gold", "found"} <= row.keys()
