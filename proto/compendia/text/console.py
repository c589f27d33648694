"""How every command talks to a person or a program: tables, JSON, progress, errors and exit codes.

Results go to stdout, everything else (progress, errors) to stderr, so that `--json` output can be piped.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

if TYPE_CHECKING:
    from compendia.contract.errors import CompendiaError

P = ParamSpec("P")
R = TypeVar("R")

EXIT_FAILED = 1  # the input or the state does not allow it
EXIT_UNAVAILABLE = 3  # nobody answered, or not in time: trying again may help
EXIT_INTERNAL = 70  # a fault of ours (BSD sysexits EX_SOFTWARE)

_EXIT_BY_STATUS = {
    "UNAVAILABLE": EXIT_UNAVAILABLE,
    "DEADLINE_EXCEEDED": EXIT_UNAVAILABLE,
    "INTERNAL": EXIT_INTERNAL,
}


def print_json(value: Any) -> None:
    """Write one JSON document to stdout, indented, Unicode as it is."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to stdout; numbers are right-aligned."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    kept = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", title_style="bold")
    for index, name in enumerate(columns):
        numeric = bool(kept) and all(isinstance(row[index], int | float) for row in kept)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in kept:
        table.add_row(*(Text(str(cell)) for cell in row))
    Console().print(table)


def say(message: str) -> None:
    """Write one line to stderr."""
    sys.stderr.write(message + "\n")


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Show that something is under way, on stderr, only where a person looks at it."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


def fail(fault: CompendiaError) -> NoReturn:
    """Write every problem to stderr and leave with the exit code of its kind."""
    from compendia.contract.errors import ERRORS

    for problem in fault.problems:
        say(f"error: {problem}")
    raise SystemExit(_EXIT_BY_STATUS.get(ERRORS[fault.code].grpc_status, EXIT_FAILED))


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command report a CompendiaError as messages and an exit code instead of a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except ValueError as fault:  # importing the contract costs every `--help` a fifth of a second
            from compendia.contract.errors import CompendiaError

            if not isinstance(fault, CompendiaError):
                raise
            fail(fault)

    return run
