"""The `compendia` command: the commands of every area under one name.

Each area's `cli` imports only typer and the console at its top, so that `compendia --help` stays quick.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

import compendia.aggregator.cli
import compendia.benchmarks.cli
import compendia.client.cli
import compendia.router.cli

from . import demo

EXIT_PIPE_CLOSED = 141  # as the shell reports SIGPIPE

app = typer.Typer(
    name="compendia",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for area in (
    compendia.client.cli,
    compendia.aggregator.cli,
    compendia.router.cli,
    compendia.benchmarks.cli,
    demo,
):
    area.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"compendia {version('compendia')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Organizations teach each other's agents which tool to call, when, and when not.

    Example: compendia import openapi weather.json --org acme --out acme.json
    """


def main() -> None:
    """Run the command. Ctrl-C ends it with 130; a reader that leaves early ends it quietly."""
    # Before torch and faiss are loaded: their threads wait asleep. Spinning, several programs on a few cores
    # slow each other down twentyfold (measured: 27 s against 1.2 s for one pass of the small LLM).
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # But not at once, for the next product is microseconds away: on two cores a plan took 26 ms for 30, five
    # cards 0.30 s for 0.46. Two such programs side by side take a quarter to a half longer than asleep; who
    # runs several gives each its own core with OMP_NUM_THREADS=1.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # A snapshot is some 100,000 objects without cycles, and each look for cycles walks them all: at Python's
    # own thresholds that took a third of the time to read one.
    gc.set_threshold(100_000, 20, 50)
    try:
        try:
            app(prog_name="compendia")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Whoever read our output has left. The interpreter flushes once more on its way out: into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(EXIT_PIPE_CLOSED) from None
