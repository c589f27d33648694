"""Quoted spans: balanced, at word edges, in the marks of many languages. Apostrophes are not quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .scripts import UNSPACED

_STRAIGHT = "\"'`＂＇"
_OPENING = "“‘„‚«‹「『《"
_CLOSING = "”’“‘»›」』》"  # of the opening mark at the same place
_FAMILY = {mark: mark for mark in _STRAIGHT} | dict(
    zip("”’»›」』》“‘„‚«‹「『《", "“‘«‹「『《“‘“‘«‹「『《", strict=True)
)
_MARK = re.compile(f"[{re.escape(''.join(_FAMILY))}]")
_LETTER = re.compile(rf"[^\W{UNSPACED}]")
_DECADE = re.compile(r"['’‘＇](?:\d\d|<NUMBER>)s(?![\w<-])")


@dataclass
class _Edges:
    """What a mark may do by where it stands: begin a quotation, end one."""

    opens: bool
    closes: bool


def quoted_spans(text: str, placeholders: tuple[str, ...]) -> list[tuple[int, int]]:
    """Spans [start, end) of quotations with their marks, outermost, in order, not overlapping.

    A placeholder beside a mark counts as a word, for it stands for one. One pass and one stack for each kind
    of mark: linear in the text's length, however many marks are never closed.
    """
    stacks: dict[str, list[int]] = {}
    spans: list[tuple[int, int]] = []
    for match in _MARK.finditer(text):
        mark, place = match.group(), match.start()
        stack = stacks.setdefault(_FAMILY[mark], [])
        edges = _edges(text, place, placeholders)
        if stack and _closes(mark, text[stack[-1]], edges):
            spans.append((stack.pop(), place + 1))
        elif _opens(mark, edges) and not _DECADE.match(text, place):
            stack.append(place)
    return _union(sorted(spans))


def _opens(mark: str, edges: _Edges) -> bool:
    if mark in "”»›" or mark in _STRAIGHT or mark == "‘":
        return edges.opens
    return mark in _OPENING


def _closes(mark: str, opened_by: str, edges: _Edges) -> bool:
    if mark in _STRAIGHT or mark == "’":
        return edges.closes
    if mark in "“‘«‹":  # „German“ and »Danish«
        return opened_by in {"“": "„", "‘": "‚", "«": "»", "‹": "›"}[mark]
    return mark in _CLOSING


def _edges(text: str, place: int, placeholders: tuple[str, ...]) -> _Edges:
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    left = not _LETTER.match(before) and not text.endswith(placeholders, 0, place)
    right = not _LETTER.match(after) and not text.startswith(placeholders, place + 1)
    return _Edges(
        opens=left and bool(after) and not after.isspace(),
        closes=right and bool(before) and not before.isspace(),
    )


def _union(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
