"""`compendia demo`: the command; what it does stands in `demo_run`."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from compendia.text.console import EXIT_FAILED, guarded, print_json, say


def register(app: typer.Typer) -> None:
    """Add the `demo` command to the `compendia` command."""
    app.command()(demo)


@guarded
def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON document.")] = False,
    keep: Annotated[
        Path | None, typer.Option(help="Leave compendia, snapshot and logs in this new folder.")
    ] = None,
) -> None:
    """Run three organizations, an aggregator and two routers on this machine, and show what comes of it.

    Example: compendia demo --keep demo-run
    """
    from .demo_run import perform

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that no process is left
    with _folder(keep) as folder:
        found = perform(folder)
    if as_json:
        print_json(found)
    else:
        from .demo_view import show

        show(found)
    if any(plan["problems"] for plan in found["plans"]):
        raise typer.Exit(EXIT_FAILED)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    from compendia.contract.errors import ErrorCode, error

    if keep is None:
        with tempfile.TemporaryDirectory(prefix="compendia-demo-") as name:
            yield Path(name)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise error(ErrorCode.USAGE, f"{keep} is not empty", "--keep", "name a new folder")
    except OSError as fault:
        raise error(ErrorCode.USAGE, f"cannot use {keep}: {fault.strerror}", "--keep") from None
    yield keep.resolve()
    say(f"kept in {keep}: compendia, snapshot, logs")
