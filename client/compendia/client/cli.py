"""The client's commands: import, client build|publish|pull, validate, schema, diff."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compendia.text.console import EXIT_FAILED, guarded, print_json, print_table, progress, say

if TYPE_CHECKING:
    from compendia.wire.channel import Patience

    from .files import Known

client_app = typer.Typer(no_args_is_help=True, help="Build a compendium, publish it, pull what all know.")


class Kind(StrEnum):
    """What `compendia import` reads."""

    OPENAPI = "openapi"
    MCP = "mcp"
    FUNCTIONS = "functions"
    TOOLBENCH = "toolbench"


Out = Annotated[Path, typer.Option("--out", "-o", help="Where to write the result.")]
Aggregator = Annotated[str, typer.Option("--aggregator", "-a", help="HOST:PORT of the aggregator.")]
Timeout = Annotated[float, typer.Option(help="Seconds for everything, retries included.", min=0.1)]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for an aggregator that is not up yet.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document.")]
Pinned = Annotated[
    Path | None, typer.Option(help="Snapshot file with the tools that may be named besides its own.")
]


def register(app: typer.Typer) -> None:
    """Add the client's commands to an app."""
    app.command("import")(import_)
    app.command()(validate)
    app.command()(schema)
    app.command()(diff)
    app.add_typer(client_app, name="client")


@guarded
def import_(
    kind: Annotated[Kind, typer.Argument(help="What the source is.")],
    source: Annotated[Path, typer.Argument(help="The file to read.")],
    org: Annotated[str, typer.Option(help="Who contributes.")],
    out: Out,
    publisher: Annotated[str, typer.Option(help="Who provides the tools, if not as the source says.")] = "",
    as_json: AsJson = False,
) -> None:
    """Turn a tool description into a typed compendium.

    Example: compendia import openapi weather.json --org acme --out acme.json
    """
    from compendia.contract.document import dumps, read_bytes

    from .files import write_whole
    from .importers import import_source
    from .summary import counts, described

    with progress(f"importing {source}"):
        imported = import_source(
            kind.value, read_bytes(source), org=org, source_name=source.stem, publisher=publisher
        )
        write_whole(out, dumps(imported.compendium))
    for notice in imported.notices:
        say(f"note: {notice}")
    if as_json:
        print_json({"out": str(out), "notices": list(imported.notices), **counts(imported.compendium)})
    else:
        say(f"wrote {out}: {described(imported.compendium)}")


@client_app.command()
@guarded
def build(
    sources: Annotated[list[Path], typer.Argument(help="Imported compendia of one organization.")],
    out: Out,
    experience: Annotated[
        list[Path] | None, typer.Option(help="JSONL log of what agents tried. Repeatable.")
    ] = None,
    start: Annotated[str, typer.Option("--from", help="Start of the window, 2026-09-01T00:00:00Z.")] = "",
    end: Annotated[str, typer.Option("--to", help="End of the window, not in it.")] = "",
    pinned: Pinned = None,
    as_json: AsJson = False,
) -> None:
    """Join imported sources with experience: counts, scenarios, precautions, call templates, all masked.

    The window is read off the log's times where it is not named.

    Example: compendia client build imported.json --experience log.jsonl --out acme.json
    """
    from compendia.contract.document import dumps

    from .files import build_files, write_whole
    from .summary import described, summary

    with progress("building"):
        compendium = build_files(sources, experience or [], start=start, end=end, pinned=pinned)
        write_whole(out, dumps(compendium))
    if as_json:
        window = compendium.window.model_dump() if compendium.window else None
        print_json({"out": str(out), "window": window, **summary(compendium)})
    else:
        say(f"wrote {out}: {described(compendium)}")


@client_app.command()
@guarded
def publish(
    file: Annotated[Path, typer.Argument(help="A compendium file.")],
    aggregator: Aggregator,
    round: Annotated[int, typer.Option(help="Which round; 0 for the one that is open.", min=0)] = 0,
    next_round: Annotated[
        bool, typer.Option("--next-round", help="When the round is closed, wait for the next one.")
    ] = False,
    timeout: Timeout = 60.0,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Send a compendium to the aggregator. Sending the same file again is harmless.

    Example: compendia client publish acme.json --aggregator 127.0.0.1:7700
    """
    from dataclasses import asdict

    from .files import read_compendium
    from .publish import publish as send

    patience = _patience(timeout, wait)
    with progress(f"publishing {file}"):
        compendium = read_compendium(file, _known_at(aggregator, patience))
        receipt = send(aggregator, compendium, round=round, next_round=next_round, patience=patience)
    if as_json:
        print_json(asdict(receipt))
    else:
        again = " (it was there already)" if receipt.repeated else ""
        say(f"{receipt.org}: {receipt.records} records in round {receipt.round}{again}")
        say(f"{receipt.wire_bytes} bytes, digest {receipt.digest}")


@client_app.command()
@guarded
def pull(
    aggregator: Aggregator,
    out: Out,
    revision: Annotated[str, typer.Option(help="Which snapshot; empty for the newest.")] = "",
    timeout: Timeout = 60.0,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Fetch the merged snapshot into a file.

    Example: compendia client pull --aggregator 127.0.0.1:7700 --out snapshot.json
    """
    from .pull import pull_to
    from .summary import described, summary

    with progress(f"pulling from {aggregator}"):
        snapshot = pull_to(out, aggregator, revision, _patience(timeout, wait))
    if as_json:
        print_json({"out": str(out), **summary(snapshot)})
    else:
        say(f"wrote {out}: {snapshot.revision}, {described(snapshot)}")


@guarded
def validate(
    file: Annotated[Path, typer.Argument(help="A compendium or snapshot file.")],
    pinned: Pinned = None,
    as_json: AsJson = False,
) -> None:
    """Check a compendium or snapshot. Exit code 1 and every problem with its fix when it is not valid.

    Example: compendia validate acme.json --pinned snapshot.json
    """
    from compendia.contract import CompendiaError

    from .files import read_document
    from .summary import described, problems, summary

    try:
        with progress(f"checking {file}"):
            document = read_document(file, _known_in(pinned))
    except CompendiaError as fault:
        if as_json:
            print_json({"file": str(file), "valid": False, "problems": problems(fault)})
        raise
    if as_json:
        print_json({"file": str(file), "valid": True, "problems": [], **summary(document)})
    else:
        say(f"{file} is valid: {described(document)}")


@guarded
def schema(as_json: AsJson = False) -> None:
    """Show every field of a compendium: type, role, how it merges, privacy, range, place on the card.

    Example: compendia schema --json
    """
    from dataclasses import asdict
    from itertools import groupby

    from compendia.contract import SCHEMA_VERSION, Compendium
    from compendia.contract.signature import schema_table

    rows = list(schema_table(Compendium))
    if as_json:
        print_json({"schema_version": SCHEMA_VERSION, "fields": [asdict(row) for row in rows]})
        return
    columns = ["field", "type", "role", "merge", "privacy", "range (on the wire)", "refers to", "on the card"]
    for record, group in groupby(rows, key=lambda row: row.field.rpartition(".")[0]):
        cells = (
            (
                row.field.rpartition(".")[2],
                row.type,
                row.role,
                row.merge,
                row.privacy,
                row.range + (f" ({row.range_on_wire})" if row.range_on_wire != row.range else ""),
                row.refers_to,
                row.card,
            )
            for row in group
        )
        print_table(record, columns, cells)


@guarded
def diff(
    before: Annotated[Path, typer.Argument(help="A compendium or snapshot file.")],
    after: Annotated[Path, typer.Argument(help="Another one.")],
    pinned: Pinned = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs, entry by entry and field by field. Exit code 1 when anything does, as diff(1).

    Example: compendia diff monday.json tuesday.json
    """
    from dataclasses import asdict

    from compendia.contract.strict_json import canonical

    from .diff import diff as differences
    from .files import read_document

    with progress("comparing"):
        known = _known_in(pinned)
        found = differences(read_document(before, known), read_document(after, known))
    if as_json:
        print_json([{"kind": one.kind, **asdict(one)} for one in found])
    elif found:
        rows = (
            (
                one.kind,
                one.section,
                one.key,
                one.field,
                _short(canonical(one.before)),
                _short(canonical(one.after)),
            )
            for one in found
        )
        print_table(f"{len(found)} differences", ["", "section", "key", "field", "before", "after"], rows)
    else:
        say("no differences")
    if found:
        raise typer.Exit(EXIT_FAILED)


def _patience(timeout_s: float, wait: bool) -> Patience:
    from compendia.wire.channel import Patience

    return Patience(timeout_s=timeout_s, wait_for_ready=wait)


def _known_in(pinned: Path | None) -> Known | None:
    from .files import read_snapshot, tools_of

    return tools_of(read_snapshot(pinned)) if pinned is not None else None


def _known_at(aggregator: str, patience: Patience) -> Known:
    """The tools of a pinned revision, asked of the aggregator only when a compendium pins one."""
    from .pull import pull as fetch

    return lambda revision: fetch(aggregator, revision, patience).known_tools()


def _short(text: str) -> str:
    return "" if text == "null" else text if len(text) <= 80 else text[:79] + "…"
