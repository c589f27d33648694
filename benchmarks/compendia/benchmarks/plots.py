"""Plots of runs with matplotlib: accuracy of every system, and figures over sizes or rates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from compendia.contract import ErrorCode, error

from .logbook import Run
from .metrics import ALL
from .report import System, by_benchmark, curves, systems
from .splits import LABELLED, ZERO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]
SALT = "compendia"
"""Makes the ids inside of an SVG the same in every run, so that equal figures give equal files."""


def draw(runs: Sequence[Run], out: Path, kind: Format = "svg") -> list[Path]:
    """Write the plots of all benchmarks to `out`; returns where. Raises MODEL_MISSING without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise error(
            ErrorCode.MODEL_MISSING, "matplotlib is not installed", fix="pip install 'compendia[bench]'"
        ) from None
    out.mkdir(parents=True, exist_ok=True)
    written = []
    with mpl.rc_context({"svg.hashsalt": SALT, "font.size": 9}):
        for name, figure in figures(runs):
            path = out / f"{name}.{kind}"
            figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if kind == "svg" else {})
            written.append(path)
    return written


def figures(runs: Sequence[Run]) -> Iterator[tuple[str, Figure]]:
    """Name and figure of every plot that the runs give."""
    for name, found in by_benchmark(runs).items():
        known = systems(found)
        if len(known) > 1:
            yield name, bars(name, known)
        seeds = {f"/{seed}" for run in found for seed in run.manifest["seeds"]}
        measured = {
            key: value
            for run in found
            for key, value in run.document["figures"].items()
            if not any(key.partition("@")[0].endswith(seed) for seed in seeds)
        }
        for metric, lines in curves(measured).items():
            slug = re.sub(r"[^A-Za-z0-9]+", "-", metric).strip("-")
            yield f"{name}_{slug}", curve(name, metric, lines)


def bars(name: str, known: Sequence[System]) -> Figure:
    """acc@1 of every system with its 95 % interval; two bars where queries are labelled or zero-label."""
    from matplotlib.figure import Figure as NewFigure

    groups = (LABELLED, ZERO) if set(known[0].groups) == {LABELLED, ZERO} else (ALL,)
    figure = NewFigure(figsize=(6.4, 0.9 + 0.26 * len(known) * len(groups)))
    axes = figure.add_subplot()
    height = 0.8 / len(groups)
    for place, group in enumerate(groups):
        key = f"acc@1/{group}"
        values = [system.figure(key) for system in known]
        ends = [system.interval(key) or (value, value) for system, value in zip(known, values, strict=True)]
        errors = [
            [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)],
            [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)],
        ]
        rows = [row + place * height for row in range(len(known))]
        axes.barh(rows, values, height, xerr=errors, label=group, color=f"C{place}", error_kw={"lw": 0.8})
    middle = height * (len(groups) - 1) / 2
    axes.set_yticks([row + middle for row in range(len(known))], [system.name for system in known])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("acc@1, with its 95 % interval")
    axes.set_title(name)
    if len(groups) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


def curve(name: str, metric: str, lines: Mapping[str, Mapping[float, float]]) -> Figure:
    """A figure over the number in its keys, one line per arm."""
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(6.4, 3.6))
    axes = figure.add_subplot()
    for arm, line in lines.items():
        axes.plot(list(line), list(line.values()), marker="o", label=arm or metric)
    axes.set_ylabel(metric)
    axes.set_title(name)
    axes.legend()
    axes.grid(alpha=0.3)
    return figure
