"""The demo's document as a person wants to see it: who contributed, what was disputed, what was planned."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

Document = Mapping[str, Any]

_FIELD = re.compile(
    r"endpoints\[(?P<endpoint>[\w.-]+)\]\."
    r"(?:(?:response_fields|parameters)\[(?P<name>.+)\]\.)?(?P<word>\w+)$"
)
_WIDEST = 118
_IN_A_FILE = 110
_KINDS = ("stance", "definition", "licence", "provenance", "equivocation")
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
    known = console.is_terminal or "COLUMNS" in os.environ
    console = Console(width=min(console.width, _WIDEST) if known else _IN_A_FILE)
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
    table.add_column("Organization", no_wrap=True)
    table.add_column("Sources", ratio=1, overflow="fold")
    table.add_column("Calls made", no_wrap=True)
    table.add_column("Compendium", no_wrap=True)
    table.add_column("Sent", no_wrap=True)
    for org in organizations:
        sources = [f"{s['kind']} {s['file']}, {_count(s['tools'], 'tool')}" for s in org["sources"]]
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
            (refused["organization"], "bold"),
            f" sent other bytes a second time in the same round ({refused['code']}). The first bytes count.",
        ),
        "",
    )


def conflicts_table(conflicts: Iterable[Document]) -> Table:
    """The conflict log; entries with equal claims share a row."""
    rows: dict[tuple[str, str, str, str], list[Document]] = {}
    for conflict in sorted(conflicts, key=lambda conflict: _KINDS.index(conflict["kind"])):
        held = _claim(conflict, conflict["winner"]) if conflict["winner"] else "-"
        dissent = "\n".join(_claim(conflict, claim) for claim in conflict["dissent"])
        rows.setdefault((conflict["kind"], held, dissent, conflict["resolved_by"]), []).append(conflict)
    table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, show_lines=True)
    table.add_column("Kind", style="bold", no_wrap=True)
    for name in ("Of", "What counts", "What else was said"):
        table.add_column(name, ratio=1, overflow="fold")
    table.add_column("Resolved by", no_wrap=True)
    for (kind, held, dissent, rule), entries in rows.items():
        tools = ", ".join(dict.fromkeys(entry["tool"].rpartition("/")[2] for entry in entries))
        disputed = ", ".join(dict.fromkeys(map(_disputed, entries)))
        about = Text.assemble((tools, "bold green"), "\n" if tools else "", disputed)
        table.add_row(kind, about, _shown(held), _shown(dissent), _RULES[rule])
    return table


def plan_panel(plan: Document) -> Panel:
    """One plan: the calls, what they return, what to beware of, why, and who lost."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", style="cyan", min_width=10)
    grid.add_column(overflow="fold")
    grid.add_row("request", Text(plan["query"], style="bold"))
    if plan["abstained"]:
        grid.add_row("no tool", Text(plan["why"], style="yellow"))
    for number, (step, ranking) in enumerate(zip(plan["steps"], plan["rankings"], strict=False), 1):
        several = f" {number}" if len(plan["steps"]) > 1 else ""
        _add_step(grid, several, step, ranking)
    _add(grid, "PROBLEM", [Text(problem, style="bold red") for problem in plan["problems"]])
    below = f"router {plan['encoder']}, {plan['elapsed_ms']:.0f} ms"
    return Panel(
        grid,
        title=f"[bold]{plan['about']}",
        title_align="left",
        subtitle=Text(below, style="dim"),
        subtitle_align="right",
        border_style="yellow" if plan["abstained"] else "cyan",
    )


def _add_step(grid: Table, number: str, step: Document, ranking: Document) -> None:
    call = f"{step['method']} {step['path'] or step['title']}".strip()
    _add(grid, f"call{number}", [Text.assemble((step["tool"], "bold green"), "  ", call)])
    _add(grid, "with", [_argument(argument) for argument in step["arguments"]])
    _add(grid, "returns", [Text(", ".join(_field(field, step) for field in step["fields"]))])
    _add(grid, "licence", [Text(" / ".join(step["licences"]))] if step["licences"] else [])
    _add(grid, "beware", [Text(warning, style="yellow") for warning in step["precautions"]])
    _add(grid, "because", [Text(reason, style="dim") for reason in step["reasons"]])
    _add(grid, "weighed", [Text("; ".join(map(_weighed, ranking["candidates"][:3])), style="dim")])


def _add(grid: Table, label: str, lines: Iterable[Text]) -> None:
    for number, line in enumerate(lines):
        grid.add_row(label if number == 0 else "", line)


def _argument(argument: Document) -> Text:
    unit = f" {argument['unit']}" if argument["unit"] else ""
    if argument["source"] == "missing":
        return Text.assemble(argument["name"], ("  you must give it", "bold red"))
    value = (f"{argument['value']}{unit}", "bold")
    return Text.assemble(argument["name"], " = ", value, (f"  {_SOURCES[argument['source']]}", "dim"))


def _field(field: Document, step: Document) -> str:
    """A response field with its unit, and with its own licence where the tool has another or none."""
    source = field["source_type"] if field["source_type"] != "unknown" else ""
    own = [licence for licence in field["licences"] if licence not in step["licences"]]
    notes = [note for note in (field["unit"], source, *own) if note]
    return f"{field['path']} [{', '.join(notes)}]" if notes else str(field["path"])


def _weighed(candidate: Document) -> str:
    """A candidate with its score, what the frozen LLM said of it, and whether a precaution lies near."""
    told = "" if candidate["rerank_score"] is None else f", LLM {candidate['rerank_score']:.2f}"
    warned = ", warned" if candidate["features"].get("precaution", 0.0) > 0.0 else ""
    return f"{candidate['tool'].rpartition('/')[2]} {candidate['score']:.2f}{told}{warned}"


def _disputed(conflict: Document) -> str:
    """What the claims are about: the masked request, or the field without the way to it."""
    if conflict["kind"] == "stance":
        return str(conflict["text"])
    if conflict["kind"] == "equivocation":
        return f"{conflict['org']} in round {conflict['round']}"
    found = _FIELD.match(str(conflict["field"]))
    if found is None:
        return str(conflict["field"])
    return f"{found['word']} of {(found['name'] or found['endpoint']).split(', ')[0]}"


def _claim(conflict: Document, claim: Document) -> str:
    return f"{_value(conflict['kind'], claim['value'])} ({', '.join(claim['supporters'])})"


def _shown(claims: str) -> Text:
    """The claims with those who make them in the background."""
    text = Text(claims)
    text.highlight_regex(r"(?m)\([a-z0-9_., -]+\)$", "dim")
    return text


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
    return text if len(text) <= 140 else text[:139] + "…"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
