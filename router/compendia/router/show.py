"""Plans and explanations as a person wants to see them in a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from compendia.contract import PlannedStep, ToolPlan
from compendia.text.console import print_table

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
        rows = [
            [
                candidate["tool"],
                candidate["score"],
                *(candidate["contributions"].get(name, 0.0) for name in names),
                "" if candidate["rerank_score"] is None else round(candidate["rerank_score"], 3),
                candidate["behind"],
            ]
            for candidate in part["candidates"]
        ]
        title = f"{part['part']}  (evidence {part['evidence']:.2f}, needed {part['threshold']:.2f})"
        columns = ["tool", "score", *(name.replace("_", " ") for name in names), "reranker", "behind"]
        print_table(title, columns, rows)
    for step in found["steps"]:
        for reason in step["reasons"]:
            console.print(Text.assemble((f"{step['tool']}: ", "bold"), reason))
        for warning in step["precautions"]:
            console.print(Text.assemble((f"{step['tool']}: ", "bold"), (warning, "yellow")))
