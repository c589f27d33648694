"""The demo's document as a person wants to see it: who contributed, what was disputed, what was planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

Document = Mapping[str, Any]

_WIDEST = 118
_COUNTED = ("tools", "scenarios", "precautions", "templates")
_RULES = {
    "owner": "the owner's word",
    "majority": "majority",
    "digest": "tie, by digest",
    "kept_all": "all kept",
    "first": "the first counts",
    "none": "open: both kept",
}
_SOURCES = {"query": "from the query", "template": "as in earlier calls", "default": "default"}


def show(found: Document) -> None:
    """Print the whole document to stdout."""
    console = Console()
    console = Console(width=min(console.width, _WIDEST))
    console.print(Rule("[bold]One federated round", style="cyan"))
    console.print(organizations_table(found["organizations"]))
    console.print(round_line(found["round"]))
    console.print(Rule("[bold]What was disputed, and how it was resolved", style="cyan"))
    console.print(conflicts_table(found["conflicts"]))
    console.print(Rule("[bold]What the router plans", style="cyan"))
    for plan in found["plans"]:
        console.print(plan_panel(plan))
    parts = ", ".join(f"{part.replace('_', ' ')} {value:.1f}" for part, value in found["timings_s"].items())
    console.print(Text(f"Seconds: {parts}", style="dim"))


def organizations_table(organizations: Iterable[Document]) -> Table:
    """Who contributed what."""
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False)
    table.add_column("Organization", ratio=3)
    table.add_column("Sources", ratio=7)
    table.add_column("Calls made", justify="right", ratio=2)
    table.add_column("Compendium", ratio=4)
    table.add_column("Sent", justify="right", ratio=2)
    for org in organizations:
        sources = [f"{s['kind']}: {s['file']} ({_count(s['tools'], 'tool')})" for s in org["sources"]]
        calls = org["experience"]
        told = f"{calls['success']} ok\n{calls['failure']} failed"
        holds = "\n".join(_count(org["compendium"][name], name[:-1]) for name in _COUNTED)
        receipt = org["receipt"]
        sent = f"{receipt['wire_bytes'] / 1000:.1f} kB\n{receipt['digest'][:8]}"
        table.add_row(
            f"[bold]{org['title']}[/]\n[dim]{org['about']}[/]", "\n".join(sources), told, holds, sent
        )
    return table


def round_line(closed: Document) -> Group:
    """How the round ended, and who was refused."""
    refused = closed["refused"]
    return Group(
        Text.assemble(
            f"Round {closed['round']} is {closed['phase']}: ",
            (f"{len(closed['contributions'])} contributions", "bold"),
            " merged into snapshot ",
            (closed["revision"], "bold green"),
        ),
        Text.assemble(
            "Refused: ",
            (refused["org"], "bold"),
            f" sent other bytes a second time in the same round ({refused['code']}). The first count.",
        ),
        "",
    )


def conflicts_table(conflicts: Iterable[Document]) -> Table:
    """The conflict log; entries that differ in nothing but their tool share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for conflict in conflicts:
        held = conflict["winner"]
        dissent = "\n".join(_claim(conflict, claim) for claim in conflict["dissent"])
        key = (
            conflict["kind"],
            _disputed(conflict),
            _claim(conflict, held) if held else "-",
            dissent,
            _RULES[conflict["resolved_by"]],
        )
        rows.setdefault(key, []).append(conflict["tool"].rpartition("/")[2])
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, show_lines=False)
    table.add_column("Kind", style="bold")
    for name, ratio in (("Of", 4), ("What counts", 4), ("What else was said", 5), ("By", 2)):
        table.add_column(name, ratio=ratio, overflow="fold")
    for (kind, disputed, held_text, dissent, rule), tools in rows.items():
        about = Text.assemble((", ".join(filter(None, tools)), "bold"), "\n" if any(tools) else "", disputed)
        table.add_row(kind, about, held_text, dissent, rule, end_section=True)
    return table


def plan_panel(plan: Document) -> Panel:
    """One plan: the calls, what they return, what to beware of, why, and who lost."""
    parts: list[Any] = []
    if plan["abstained"]:
        parts.append(Text.assemble(("No tool is called. ", "bold yellow"), plan["why"]))
    for number, step in enumerate(plan["steps"], 1):
        parts.append(_step(number, step))
    parts += [Text(f"! {problem}", style="bold red") for problem in plan["problems"]]
    title = Text.assemble((f" {plan['about']} ", "bold black on cyan"), " ", (plan["query"], "bold"))
    below = Text(f"{plan['encoder']}, {plan['elapsed_ms']:.0f} ms", style="dim")
    return Panel(Group(*parts), title=title, title_align="left", subtitle=below, subtitle_align="right")


def _step(number: int, step: Document) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="dim", min_width=8)
    grid.add_column(overflow="fold")
    call = f"{step['method']} {step['path']}".strip() or step["title"]
    grid.add_row(f"call {number}", Text.assemble((step["tool"], "bold green"), f"  {call}"))
    for argument in step["arguments"]:
        grid.add_row("with", _argument(argument))
    if step["fields"]:
        grid.add_row("returns", Text(", ".join(_field(field) for field in step["fields"])))
    if step["licences"]:
        grid.add_row("licence", Text(" / ".join(step["licences"])))
    for warning in step["precautions"]:
        grid.add_row("beware", Text(warning, style="yellow"))
    for reason in step["reasons"]:
        grid.add_row("because", Text(reason, style="dim"))
    return grid


def _argument(argument: Document) -> Text:
    unit = f" {argument['unit']}" if argument["unit"] else ""
    if argument["source"] == "missing":
        need = "you must give it" if argument["required"] else "optional, left out"
        style = "bold red" if argument["required"] else "dim"
        return Text.assemble(argument["name"], (f"  {need}", style))
    value = (f"{argument['value']}{unit}", "bold")
    return Text.assemble(argument["name"], " = ", value, (f"  {_SOURCES[argument['source']]}", "dim"))


def _field(field: Document) -> str:
    return f"{field['path']} [{field['unit']}]" if field["unit"] else str(field["path"])


def _disputed(conflict: Document) -> str:
    if conflict["kind"] == "stance":
        return str(conflict["text"])
    if conflict["kind"] == "equivocation":
        return f"{conflict['org']} in round {conflict['round']}"
    field = str(conflict["field"])
    return field.replace("response_fields[", "[").replace("endpoints[", "[")


def _claim(conflict: Document, claim: Document) -> str:
    return f"{_value(conflict['kind'], claim['value'])} ({', '.join(claim['supporters'])})"


def _value(kind: str, value: Any) -> str:
    if kind == "stance":
        return "use it" if value == "use" else "do not use it"
    if kind == "equivocation":
        return f"digest {str(value)[:8]}"
    if kind == "provenance":
        entries = value if isinstance(value, list) else [value]
        return ", ".join(
            f"version {e['version']}" if e.get("version") else f"file {e['digest'][:8]}" for e in entries
        )
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 90 else text[:89] + "…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
