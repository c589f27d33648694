"""The aggregator's commands: aggregator serve, round open|close|status, conflicts."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compendia.text.console import EXIT_FAILED, guarded, print_json, print_table, progress, say

if TYPE_CHECKING:
    from compendia.contract import Conflict
    from compendia.wire.channel import Patience

    from .control import RoundReport

aggregator_app = typer.Typer(no_args_is_help=True, help="Run the aggregator.")
round_app = typer.Typer(no_args_is_help=True, help="Open, close and see rounds.")


class ExecutorKind(StrEnum):
    """Where per-tool merging runs."""

    SERIAL = "serial"
    PROCESS = "process"
    RAY = "ray"


class PolicyKind(StrEnum):
    """How dissent is treated; the first is ours, the others are the paper's ablations."""

    CONFLICT_LOG = "conflict_log"
    ROUND_DELAYED = "round_delayed"
    MAJORITY = "majority"
    UNTYPED = "untyped"


Aggregator = Annotated[str, typer.Option("--aggregator", "-a", help="HOST:PORT of the aggregator.")]
Timeout = Annotated[float, typer.Option(help="Seconds to wait for the answer.", min=0.1)]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for an aggregator that is not up yet.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON document.")]


def register(app: typer.Typer) -> None:
    """Add the aggregator's commands to an app."""
    app.add_typer(aggregator_app, name="aggregator")
    app.add_typer(round_app, name="round")
    app.command()(conflicts)


@aggregator_app.callback()
def _aggregator() -> None:
    """Run the aggregator."""


@aggregator_app.command()
@guarded
def serve(
    db: Annotated[Path, typer.Option(help="Database file; made when it is not there.")] = Path(
        ".compendia/aggregator.db"
    ),
    address: Annotated[str, typer.Option(help="Where to listen; port 0 picks one.")] = "127.0.0.1:7700",
    grant: Annotated[
        list[str] | None,
        typer.Option(help="PUBLISHER=ORG: ORG's definitions of the publisher's tools count. Repeatable."),
    ] = None,
    quorum: Annotated[int, typer.Option(help="Organizations a round needs, if not said at open.", min=1)] = 1,
    deadline: Annotated[
        float, typer.Option(help="Seconds a round stays open, if not said at open; 0: until closed.", min=0)
    ] = 0.0,
    encoder: Annotated[str, typer.Option(help="Encoder that clusters by meaning.")] = "minilm",
    cache: Annotated[
        Path | None,
        typer.Option(help="Where encoded documents are kept; else one file for all programs."),
    ] = None,
    executor: Annotated[ExecutorKind, typer.Option(help="Where merging runs.")] = ExecutorKind.SERIAL,
    workers: Annotated[int, typer.Option(help="Processes or Ray CPUs for merging.", min=1)] = 2,
    policy: Annotated[PolicyKind, typer.Option(help="How dissent is treated.")] = PolicyKind.CONFLICT_LOG,
    slots: Annotated[int, typer.Option(help="Uploads received at once.", min=1)] = 8,
    validation_slots: Annotated[int, typer.Option(help="Uploads unpacked at once.", min=1)] = 2,
    port_file: Annotated[Path | None, typer.Option(help="Write the address there once it answers.")] = None,
) -> None:
    """Serve until SIGTERM. Writes "ready ADDRESS" to stderr once it answers.

    Example: compendia aggregator serve --db round.db --grant acme=acme-corp --quorum 3
    """
    import logging
    import time
    from contextlib import closing

    from compendia.text.encode import load_encoder
    from compendia.text.places import vectors_file
    from compendia.wire.server import Limits
    from compendia.wire.server import serve as run

    from .coordinator import Coordinator, MergeSettings
    from .executor import make_executor
    from .service import AggregatorService, ServiceSettings
    from .store import SqlStore

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    merging = MergeSettings(
        encoder=load_encoder(encoder, cache=cache or vectors_file()),
        executor=lambda: make_executor(executor.value, workers),
        grants=_grants(grant or []),
        policy=policy.value,
    )
    settings = ServiceSettings(
        upload_slots=slots,
        validation_slots=validation_slots,
        quorum=quorum,
        deadline_s=deadline or None,
    )
    # As many calls again as uploads: status, pull and close answer while every upload slot is taken.
    with closing(SqlStore(db)) as store, Coordinator(store, merging, time.time) as coordinator:
        service = AggregatorService(coordinator, settings)
        run([service], address, Limits(slots=2 * slots + 8), port_file=port_file)


@round_app.command("open")
@guarded
def open_(
    aggregator: Aggregator,
    quorum: Annotated[int, typer.Option(help="Organizations needed; 0: the server's default.", min=0)] = 0,
    deadline: Annotated[
        float, typer.Option(help="Seconds until it closes by itself; 0: the server's default.", min=0)
    ] = 0.0,
    member: Annotated[
        list[str] | None, typer.Option(help="Who may contribute; none named: anyone. Repeatable.")
    ] = None,
    timeout: Timeout = 30.0,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Open the next round. It closes when all named members contributed, at the deadline, or by hand.

    Example: compendia round open --aggregator 127.0.0.1:7700 --quorum 3 --deadline 3600
    """
    from .control import open_round

    report = open_round(
        aggregator,
        quorum=quorum,
        deadline_s=deadline,
        members=tuple(member or ()),
        patience=_patience(timeout, wait),
    )
    _show(report, as_json)


@round_app.command()
@guarded
def close(
    aggregator: Aggregator,
    round: Annotated[int, typer.Option(help="Which round; 0 for the one that is open.", min=0)] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Merge what is there, below the quorum too.")
    ] = False,
    timeout: Timeout = 600.0,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Close the open round and wait for its snapshot. Exit code 1 when the merge failed.

    Example: compendia round close --aggregator 127.0.0.1:7700
    """
    from .control import close_round

    with progress("merging"):
        report = close_round(aggregator, round=round, force=force, patience=_patience(timeout, wait))
    _show(report, as_json)
    if report.failure:
        raise typer.Exit(EXIT_FAILED)


@round_app.command()
@guarded
def status(
    aggregator: Aggregator, timeout: Timeout = 30.0, wait: Wait = False, as_json: AsJson = False
) -> None:
    """Show the newest round: who contributed, how long it stays open, which snapshots there are.

    Example: compendia round status --aggregator 127.0.0.1:7700 --json
    """
    from .control import round_status

    _show(round_status(aggregator, _patience(timeout, wait)), as_json)


@guarded
def conflicts(
    aggregator: Aggregator,
    revision: Annotated[str, typer.Option(help="Which snapshot; empty for the newest.")] = "",
    timeout: Timeout = 30.0,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Show the conflict log of a snapshot: who said what, which claim won, and by which rule.

    Example: compendia conflicts --aggregator 127.0.0.1:7700
    """
    from .control import conflict_log

    log = conflict_log(aggregator, revision, _patience(timeout, wait))
    if as_json:
        dumped = [conflict.model_dump(mode="json") for conflict in log.conflicts]
        print_json({"revision": log.revision, "conflicts": dumped})
    elif log.conflicts:
        columns = ["kind", "tool", "field", "winner", "dissent", "resolved by"]
        print_table(f"Conflicts of {log.revision}", columns, map(_row, log.conflicts))
    else:
        say(f"no conflicts in {log.revision}")


def _row(conflict: Conflict) -> tuple[str, ...]:
    field = conflict.field
    if conflict.kind == "stance":
        field = f"{field}: {conflict.text}"
    winner = _claim(conflict.winner.value, conflict.winner.supporters) if conflict.winner else "none"
    dissent = "\n".join(_claim(claim.value, claim.supporters) for claim in conflict.dissent)
    return conflict.kind, conflict.tool, field, winner, dissent, conflict.resolved_by


def _claim(value: object, supporters: tuple[str, ...]) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"{text if len(text) <= 80 else text[:79] + '…'} ({', '.join(supporters)})"


def _show(report: RoundReport, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(asdict(report))
        return
    left = f", {report.seconds_left:.0f} s left" if report.seconds_left else ""
    columns = ["organization", "bytes", "digest"]
    rows = [(kept.org, kept.wire_bytes, kept.digest[:16]) for kept in report.contributions]
    say(f"round {report.round}: {report.phase}, quorum {report.quorum}{left}")
    if rows:
        print_table(f"Contributions to round {report.round}", columns, rows)
    if report.revision:
        say(f"newest snapshot: {report.revision} (of {len(report.revisions)})")
    if report.failure:
        say(f"the merge failed: {report.failure}")


def _patience(timeout_s: float, wait: bool) -> Patience:
    from compendia.wire.channel import Patience

    return Patience(timeout_s=timeout_s, wait_for_ready=wait)


def _grants(words: list[str]) -> dict[str, str]:
    """PUBLISHER=ORG pairs. Raises USAGE for another form, or for a publisher granted twice."""
    from compendia.contract import ErrorCode, error

    grants: dict[str, str] = {}
    for word in words:
        publisher, equals, org = word.partition("=")
        if not (publisher and equals and org):
            raise error(ErrorCode.USAGE, f"{word!r} is not PUBLISHER=ORG", "--grant", "write acme=acme-corp")
        if grants.setdefault(publisher, org) != org:
            raise error(
                ErrorCode.USAGE,
                f"{publisher!r} is granted to two organizations",
                "--grant",
                "grant it to one",
            )
    return grants
