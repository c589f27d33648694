"""What a person sees of a run: one table of figures with their bounds and verdicts."""

from __future__ import annotations

from compendia.text.console import print_table, say

from .benchmark import Benchmark, duration
from .run import Result


def show(result: Result) -> None:
    """Print the figures to stdout, and what qualifies them to stderr."""
    rows, manifest = [], result.manifest
    for key, value in result.figures.items():
        bound, verdict = result.expected.get(key), result.verdicts.get(key)
        ends = manifest["intervals"].get(key)
        between = f"{number(ends[0])} to {number(ends[1])}" if ends else ""
        rows.append(
            (key, number(value), between, str(bound or ""), verdict.name if verdict is not None else "")
        )
    columns = ("figure", "measured", "95 %", "expected", "verdict")
    print_table(f"{result.benchmark}: {result.verdict.name}", columns, rows)
    say(f"{duration(manifest['seconds'])} on {manifest['cpu_count']} cores, commit {manifest['commit'][:12]}")
    if manifest["arguments"]["limit"] is not None:
        say("--limit was given: a sample, not the published figure")


def show_list(benchmarks: tuple[Benchmark, ...]) -> None:
    """Print what can be run."""
    rows = [(b.name, b.about, " ".join(key for part in b.parts for key in part.keys)) for b in benchmarks]
    print_table("Benchmarks", ("name", "what it measures", "figures"), rows)


def number(value: float) -> str:
    """A figure at a precision that fits its size.

    >>> number(0.69411), number(5), number(1234.5)
    ('0.694', '5', '1234')
    """
    if isinstance(value, int):
        return str(value)
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.0f}"
