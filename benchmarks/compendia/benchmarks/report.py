"""Tables of runs, pure: the answers of every system judged again from the logs, then all figures by bound."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .evaluation import Evaluation, K
from .logbook import Run
from .metrics import ALL, harmonic_mean, mean
from .splits import LABELLED, ZERO
from .tables import number

SIGNS = {"at_least": ">=", "at_most": "<="}
RECALL = f"recall@{K}"


@dataclass(frozen=True)
class Table:
    """A titled table of texts; `note` stands under it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """As GitHub shows it. A `|` in a cell is escaped."""
        lines = [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
            for cells in (self.columns, ["---"] * len(self.columns), *self.rows)
        ]
        return "\n".join([f"### {self.title}", "", *lines, *(["", self.note] if self.note else []), ""])


@dataclass(frozen=True)
class System:
    """Answers of one system of a benchmark: one evaluation, or one per client."""

    name: str
    evaluations: tuple[Evaluation, ...]

    def figure(self, key: str) -> float:
        """A figure such as `acc@1/all`; of several clients, their mean."""
        return mean([evaluation.figures()[key] for evaluation in self.evaluations])

    def interval(self, key: str) -> tuple[float, float] | None:
        """Its 95 % interval; none for a mean over clients."""
        return self.evaluations[0].intervals()[key] if len(self.evaluations) == 1 else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The queries' groups, in order of first appearance."""
        return tuple(dict.fromkeys(query.group for query in self.evaluations[0].queries))


def by_benchmark(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each benchmark, in their order."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.benchmark, []).append(run)
    return found


def systems(runs: Iterable[Run]) -> list[System]:
    """The systems whose answers were logged, best first. Of a system that ran twice, the later run counts.

    Logs of the clients of one system (`NAME_clientN`) are one system.
    """
    latest: dict[str, Evaluation] = {}
    for run in runs:
        latest |= run.evaluations()
    gathered: dict[str, list[Evaluation]] = {}
    for log in sorted(latest):
        gathered.setdefault(re.sub(r"_client\d+$", "", log), []).append(latest[log])
    made = [System(name, tuple(found)) for name, found in gathered.items()]
    return sorted(made, key=lambda system: (-system.figure(f"acc@1/{ALL}"), system.name))


def tables(runs: Sequence[Run]) -> list[Table]:
    """Per benchmark: accuracy of every system from its logged answers, and all figures with their bounds."""
    made = []
    for name, found in by_benchmark(runs).items():
        known = systems(found)
        if known and set(known[0].groups) == {LABELLED, ZERO}:
            made.append(zero_table(name, known))
        elif known:
            made.append(accuracy_table(name, known))
        made.append(figures_table(name, found))
    return made


def accuracy_table(name: str, known: Sequence[System]) -> Table:
    """acc@1 of every system by group, over all with its interval, and recall@5."""
    groups = list(dict.fromkeys(group for system in known for group in system.groups))
    rows = []
    for system in known:
        cells = [
            number(system.figure(f"acc@1/{group}")) if group in system.groups else "" for group in groups
        ]
        over_all = with_interval(system.figure(f"acc@1/{ALL}"), system.interval(f"acc@1/{ALL}"))
        rows.append([system.name, *cells, over_all, number(system.figure(f"{RECALL}/{ALL}"))])
    columns = ["acc@1", *groups, f"{ALL} [95 %]", RECALL]
    return Table(f"{name}: answers", columns, rows, counted(known))


def zero_table(name: str, known: Sequence[System]) -> Table:
    """Accuracy on tools with and without experience, and its harmonic mean."""
    rows = []
    for system in known:
        parts = [system.figure(f"acc@1/{group}") for group in (LABELLED, ZERO)]
        told = [
            with_interval(share, system.interval(f"acc@1/{group}"))
            for share, group in zip(parts, (LABELLED, ZERO), strict=True)
        ]
        recall = number(system.figure(f"{RECALL}/{ALL}"))
        rows.append([system.name, *told, number(harmonic_mean(*parts)), recall])
    rows.sort(key=lambda row: (-float(row[3]), row[0]))
    columns = ["system", f"{LABELLED} [95 %]", f"{ZERO} [95 %]", "H", RECALL]
    return Table(f"{name}: answers", columns, rows, counted(known))


def figures_table(name: str, runs: Sequence[Run]) -> Table:
    """Every figure of the runs with its interval, bound and verdict; the latest run of a figure counts."""
    rows: dict[str, list[str]] = {}
    for run in runs:
        manifest = run.manifest
        for key, value in run.document["figures"].items():
            ends = manifest.get("intervals", {}).get(key)
            bound = run.document["expected"].get(key, {})
            told = " ".join(
                f"{'>=' if end == 'at_least' else '<='} {limit:g}" for end, limit in bound.items()
            )
            shown = with_interval(value, (ends[0], ends[1]) if ends else None)
            rows[key] = [key, shown, told, manifest["verdicts"].get(key, "")]
    return Table(
        f"{name}: figures",
        ["figure", "measured [95 %]", "bound", "verdict"],
        list(rows.values()),
        origin(runs),
    )


def origin(runs: Sequence[Run]) -> str:
    """Which commits and samples figures are from."""
    commits = dict.fromkeys(str(run.manifest["commit"])[:12] for run in runs)
    limits = sorted({run.limit for run in runs if run.limit is not None})
    sample = f" A sample of {', '.join(map(str, limits))}, not the published figures." if limits else ""
    return f"Commit {', '.join(commits)}; {runs[-1].manifest['cpu_count']} cores.{sample}"


def counted(known: Sequence[System]) -> str:
    """How many queries the systems were asked."""
    sizes = sorted({len(system.evaluations[0].queries) for system in known})
    return f"{' or '.join(map(str, sizes))} queries."


def with_interval(value: float, ends: tuple[float, float] | None) -> str:
    """A figure with its interval, where it has one.

    >>> with_interval(0.75, (0.7, 0.8)), with_interval(3, None)
    ('0.750 [0.700, 0.800]', '3')
    """
    return number(value) + (f" [{number(ends[0])}, {number(ends[1])}]" if ends else "")


def curves(figures: Mapping[str, float]) -> dict[str, dict[str, dict[float, float]]]:
    """Figures that differ in a number alone, `METRIC/NUMBER` or `METRIC/NUMBER@ARM`, by metric, arm, number.

    >>> curves({"acc@1/20@ours": 0.5, "acc@1/0@ours": 0.6, "acc@1/all@ours": 0.4})
    {'acc@1': {'ours': {0.0: 0.6, 20.0: 0.5}}}
    """
    found: dict[str, dict[str, dict[float, float]]] = {}
    for key, value in figures.items():
        parts = re.fullmatch(r"(.+)/(\d+)(?:@(.+))?", key)
        if parts:
            metric, at, arm = parts.groups()
            found.setdefault(metric, {}).setdefault(arm or "", {})[float(at)] = value
    return {
        metric: {arm: dict(sorted(line.items())) for arm, line in lines.items()}
        for metric, lines in found.items()
        if any(len(line) > 1 for line in lines.values())
    }
