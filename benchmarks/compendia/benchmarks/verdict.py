"""Verdicts, pure: figures against the bounds that were published for them.

OK meets the bound, NEAR misses it by at most 1 % of it, FAIL by more. A due figure that is missing, or is
not a finite number, raises: an unreadable result is an error, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from compendia.contract import ErrorCode, error

from .metrics import check_figures

TOLERANCE = 0.01  # relative to the bound: run-to-run scatter of a median, not a way to pass


class Verdict(IntEnum):
    """How a figure stands to its bound; the larger the worse."""

    OK = 0
    NEAR = 1
    FAIL = 2


@dataclass(frozen=True)
class Bound:
    """An inclusive bound on one figure, exactly one end of it given; `command` is what makes the figure."""

    at_least: float | None = None
    at_most: float | None = None
    command: str = ""

    def __post_init__(self) -> None:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("a bound has one of at_least and at_most")

    def as_json(self) -> dict[str, float]:
        """`{"at_least": x}` or `{"at_most": x}`."""
        pairs = {"at_least": self.at_least, "at_most": self.at_most}
        return {name: value for name, value in pairs.items() if value is not None}

    def __str__(self) -> str:
        return f">= {self.at_least:g}" if self.at_least is not None else f"<= {self.at_most:g}"


def judge(value: float, bound: Bound, tolerance: float = TOLERANCE) -> Verdict:
    """The verdict on one figure.

    >>> [judge(value, Bound(at_least=0.5)).name for value in (0.5, 0.495, 0.49)]
    ['OK', 'NEAR', 'FAIL']
    """
    if bound.at_least is not None:
        missed_by = bound.at_least - value
        limit = bound.at_least
    else:
        assert bound.at_most is not None
        missed_by = value - bound.at_most
        limit = bound.at_most
    if missed_by <= 0:
        return Verdict.OK
    return Verdict.NEAR if missed_by <= tolerance * abs(limit) * (1 + 1e-9) else Verdict.FAIL


def judge_all(figures: Mapping[str, float], due: Mapping[str, Bound]) -> dict[str, Verdict]:
    """The verdict on each due figure. Raises INTERNAL naming every figure that is missing or no number."""
    missing = sorted(set(due) - set(figures))
    if missing:
        raise error(
            ErrorCode.INTERNAL,
            f"the benchmark did not produce {', '.join(missing)}",
            "figures",
            "this is a fault of the benchmark: a missing figure has no verdict",
        )
    try:
        check_figures(figures)
    except ValueError as fault:
        raise error(ErrorCode.INTERNAL, str(fault), "figures") from None
    return {key: judge(figures[key], bound) for key, bound in due.items()}


def overall(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of them; OK where nothing is bounded."""
    return max(verdicts, default=Verdict.OK)
