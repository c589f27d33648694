"""Published figures: `expected/NAME.yaml`, each bound beside the command that makes the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from compendia.contract import ErrorCode, error

from .verdict import Bound

EXPECTED = Path(__file__).resolve().parents[2] / "expected"
ENDS = ("at_least", "at_most")


def load_expected(name: str, directory: Path = EXPECTED) -> dict[str, Bound]:
    """The bounds of one benchmark by figure. Raises SOURCE_UNREADABLE (missing, malformed)."""
    path = directory / f"{name}.yaml"
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise error(
            ErrorCode.SOURCE_UNREADABLE,
            f"cannot read the published figures: {fault.strerror}",
            str(path),
            "run from a checkout of the repository; they are not part of an installed package",
        ) from None
    except yaml.YAMLError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"not YAML: {fault}", str(path)) from None
    if not isinstance(tree, dict):
        raise error(ErrorCode.SOURCE_UNREADABLE, "the file maps each figure to its bound", str(path))
    return {str(key): _bound(row, f"{path.name}: {key}") for key, row in tree.items()}


def _bound(row: Any, where: str) -> Bound:
    if not isinstance(row, dict) or set(row) - {*ENDS, "command", "source"}:
        raise error(
            ErrorCode.SOURCE_UNREADABLE,
            "a figure has at_least or at_most, command, and may have source",
            where,
        )
    ends = {end: row[end] for end in ENDS if end in row}
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in ends.values())
    if len(ends) != 1 or not numbers:
        raise error(ErrorCode.SOURCE_UNREADABLE, "a figure has one number: at_least or at_most", where)
    if not isinstance(row.get("command"), str):
        raise error(ErrorCode.SOURCE_UNREADABLE, "a figure names the command that makes it", where)
    return Bound(**ends, command=row["command"])
