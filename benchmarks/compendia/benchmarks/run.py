"""Runs a benchmark and makes its one document: figures, bounds, verdict, manifest.

The document is kept beside the logs of the run, in `HOME/BENCHMARK/RUN/`. A run with other options has
another folder, so `bench tables` always finds a document with the very logs that it was made with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.text.console import say

from .benchmark import Benchmark, Figures, Options, Session, matches
from .records import RESULT, commit, cpu_count, utc_now, versions, write_json
from .verdict import Bound, Verdict, judge_all, overall


@dataclass(frozen=True)
class Result:
    """The outcome of one run."""

    benchmark: str
    figures: Figures
    expected: Mapping[str, Bound]
    verdicts: Mapping[str, Verdict]
    manifest: Mapping[str, Any]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of any figure."""
        return overall(self.verdicts.values())

    def as_json(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {
            "benchmark": self.benchmark,
            "figures": dict(self.figures),
            "expected": {key: bound.as_json() for key, bound in self.expected.items()},
            "verdict": self.verdict.name,
            "manifest": dict(self.manifest),
        }


def run(
    benchmark: Benchmark,
    options: Options,
    bounds: Mapping[str, Bound],
    home: Path,
    clock: Callable[[], str] = utc_now,
) -> Result:
    """Measure what the options call for and judge it. Logs and the document go to a folder of `home/NAME/`.

    A bound is due when a part that produces its figure ran, and `only` did not leave it out. Raises whatever
    a part raises, and INTERNAL for a due figure that is missing: nothing is judged on a partial result.
    """
    session = Session(options, home / benchmark.name / options.slug(), home)
    parts = benchmark.parts_for(options)
    figures: dict[str, float] = {}
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    for number, part in enumerate(parts, 1):
        say(f"{benchmark.name}: part {number}/{len(parts)} ({', '.join(part.keys)})")
        begun = time.perf_counter()
        figures |= part.measure(session)
        seconds[part.keys[0]] = round(time.perf_counter() - begun, 3)
    if options.only:
        figures = {key: value for key, value in figures.items() if _asked(key, options)}
    due = {
        key: bound
        for key, bound in bounds.items()
        if any(part.produces(key) for part in parts) and _asked(key, options)
    }
    if options.limit is not None:
        # A key with a size in it ("merge_s/28000") names another figure than the one a limited run made.
        due = {key: bound for key, bound in due.items() if key in figures}
    verdicts = judge_all(figures, due)
    made = manifest(session, verdicts, seconds, round(time.perf_counter() - started, 3), clock())
    result = Result(benchmark.name, figures, due, verdicts, made)
    write_json(session.directory / RESULT, result.as_json())
    return result


def manifest(
    session: Session,
    verdicts: Mapping[str, Verdict],
    parts_s: Mapping[str, float],
    seconds: float,
    finished: str,
) -> dict[str, Any]:
    """What somebody needs to make the figures again, and to see whether they had the same inputs."""
    options = session.options
    return {
        "inputs": dict(sorted(session.inputs.items())),
        "logs": dict(sorted(session.logs.items())),
        "commit": commit(),
        "versions": versions(),
        "cpu_count": cpu_count(),
        "seeds": list(options.seeds),
        "arguments": {
            "limit": options.limit,
            "only": list(options.only),
            "llm": options.llm,
            "arms": list(options.arms),
            "encoder": options.encoder,
        },
        "verdicts": {key: verdict.name for key, verdict in verdicts.items()},
        "intervals": {key: list(ends) for key, ends in session.intervals.items()},
        "notes": dict(session.notes),
        "finished": finished,
        "seconds": seconds,
        "parts_s": dict(parts_s),
    }


def _asked(key: str, options: Options) -> bool:
    return not options.only or any(matches(wanted, key) for wanted in options.only)
