"""Parts of a text that still know where they stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """The part [start, end) of a text, in characters."""

    text: str
    start: int
    end: int

    @property
    def said(self) -> str:
        """What the part says, as a text of its own."""
        return self.text[self.start : self.end]


Text = str | Span
"""A text of its own, or a part of one."""


def said(text: Text) -> str:
    """The characters of a text or of a part."""
    return text.said if isinstance(text, Span) else text


def whole(text: Text) -> str:
    """The text itself, or the one that a part belongs to."""
    return text.text if isinstance(text, Span) else text


def by_length(text: Text) -> tuple[int, str, int, int]:
    """A key to sort by that keeps the parts of a text together."""
    place = (text.start, text.end) if isinstance(text, Span) else (0, 0)
    return len(whole(text)), whole(text), *place


def tokens_within(span: Span, offsets: Sequence[tuple[int, int]]) -> slice | None:
    """Which tokens stand in a span, by where each begins and ends; None unless they reach its end.

    >>> tokens_within(Span("get tides now", 4, 9), [(0, 0), (0, 3), (4, 8), (8, 9), (10, 13), (0, 0)])
    slice(2, 4, None)
    """
    places = [at for at, (start, end) in enumerate(offsets) if span.start < end and start < span.end]
    if not places or max(end for _, end in offsets) < span.end:
        return None
    return slice(places[0], places[-1] + 1)


Edit = tuple[int, int, str]
"""The characters [start, end) of a text, and what they are replaced by."""


def edited(text: str, edits: list[Edit]) -> str:
    """The text after its edits, which stand in order and apart."""
    kept, position = [], 0
    for start, end, put in edits:
        kept += [text[position:start], put]
        position = end
    return "".join([*kept, text[position:]])


def moved(place: int, edits: list[Edit], *, at_end: bool) -> int:
    """Where a place of a text stands after its edits; within a replacement, at its beginning or its end."""
    longer = 0
    for start, end, put in edits:
        if place <= start:
            break
        if place < end:
            return start + longer + at_end * len(put)
        longer += len(put) - (end - start)
    return place + longer
