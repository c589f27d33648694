"""Plans and explanations as a person wants to see them in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from compendia.contract import PlannedStep, ToolPlan

_SOURCES = {
    "query": "from the query",
    "template": "as in earlier calls",
    "default": "the default",
    "missing": "to be given",
}


def show_plan(plan: ToolPlan) -> None:
    """Print a plan: its steps, or why there are none."""
    console = Console()
    style = "bold yellow" if plan.abstained else "bold green"
    console.print(Text(plan.why, style=style))
    for number, step in enumerate(plan.steps, 1):
        console.print(_step(number, step))
    console.print(Text(f"snapshot {plan.revision}", style="dim"))


def _step(number: int, step: PlannedStep) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", justify="right", min_width=8)
    grid.add_column(overflow="fold")
    call = " ".join(filter(None, (step.method, step.path))) or step.title
    grid.add_row(f"step {number}", Text.assemble((step.tool, "bold"), f"  {call}"))
    for argument in step.arguments:
        value = "?" if argument.source == "missing" else str(argument.value)
        unit = f" {argument.unit}" if argument.unit else ""
        told = f"{argument.name} = {value}{unit}  ({argument.type}, {_SOURCES[argument.source]})"
        missing = argument.required and argument.source == "missing"
        grid.add_row("with", Text(told, style="yellow" if missing else ""))
    for field in step.fields:
        facts = [field.type, field.unit, field.source_type if field.source_type != "unknown" else ""]
        facts += [*field.licences, f"chosen by {field.why}"]
        grid.add_row("returns", Text(f"{field.path}  ({', '.join(filter(None, facts))})"))
    if step.licences:
        grid.add_row("licence", Text(" / ".join(step.licences)))
    for source in step.provenance:
        grid.add_row("source", Text(" ".join(filter(None, (source.origin, source.version)))))
    for warning in step.precautions:
        grid.add_row("beware", Text(warning, style="yellow"))
    for reason in step.reasons:
        grid.add_row("because", Text(reason))
    return grid


def show_explanation(found: dict[str, Any]) -> None:
    """Print what made each candidate's score, the winner first, and the reasons and warnings of each step."""
    console = Console()
    console.print(Text(found["why"], style="bold yellow" if found["abstained"] else "bold green"))
    for part in found["parts"]:
        names = sorted({name for c in part["candidates"] for name, v in c["contributions"].items() if v})
        console.print(_weighed(part, names))
        if "experience" in names:
            console.print(Text(_within_experience(part["weights"]), style="dim"))
    for step in found["steps"]:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="dim", justify="right", min_width=8)
        grid.add_column(overflow="fold")
        grid.add_row("tool", Text(step["tool"], style="bold"))
        for reason in step["reasons"]:
            grid.add_row("because", Text(reason))
        for warning in step["precautions"]:
            grid.add_row("beware", Text(warning, style="yellow"))
        console.print(grid)


def _within_experience(weights: dict[str, float]) -> str:
    """By what experience speaks, and by what its gate opens; or the plain rule where there is too little."""
    if "near" in weights:
        return f"There is little experience: only a near scenario adds, {weights['near']:g} x how near it is."
    shown = {
        kind: ", ".join(
            f"{name.removeprefix(kind).replace('_', ' ')} {weight:.2f}"
            for name, weight in weights.items()
            if name.startswith(kind) and weight
        )
        for kind in ("experience/", "gate/")
    }
    return f"Experience weighs {shown['experience/']}; its gate {shown['gate/']}."


def _weighed(part: dict[str, Any], names: list[str]) -> Table:
    """Candidates side by side, best first; a row is what one feature added to their scores."""
    candidates = part["candidates"]
    title = f"{part['part']}  (evidence {part['evidence']:.2f}, needed {part['threshold']:.2f})"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("")
    ids = [candidate["tool"] for candidate in candidates]
    short = [tool.rpartition("/")[2] for tool in ids]
    for name in short if len(set(short)) == len(short) else ids:
        table.add_column(name, justify="right", overflow="fold")

    def add(name: str, values: list[float | None], style: str = "") -> None:
        table.add_row(name, *("" if value is None else f"{value:.2f}" for value in values), style=style)

    for name in names:
        add(
            f"{name.replace('_', ' ')} x {part['weights'][name]:.2f}",
            [c["contributions"].get(name, 0.0) + 0.0 for c in candidates],
        )
    table.add_section()
    add("score", [c["score"] for c in candidates], "bold")
    add("behind", [c["behind"] for c in candidates])
    weights = part["weights"]
    if "rerank/model" in weights:
        scores = [c["rerank_score"] for c in candidates]
        mean = sum(scores) / len(scores)
        add(
            f"reranker x {weights['rerank/model']:.2f}",
            [weights["rerank/model"] * (score - mean) for score in scores],
        )
        if weights["rerank/used"]:
            used = [weights["rerank/used"] * c["features"]["used"] + 0.0 for c in candidates]
            add("used, for the reranker", used)
    return table
