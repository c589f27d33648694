"""Parts of texts: their place among other texts, and the tokens that stand in them."""

from __future__ import annotations

import doctest

import pytest

from compendia.text import spans
from compendia.text.spans import Span, by_length, tokens_within


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(spans).failed == 0


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (0, 13, slice(1, 4)),
        (5, 6, slice(2, 3)),  # cuts a token
        (3, 4, None),  # a blank
        (10, 16, None),  # goes on where nothing was read
    ],
)
def test_tokens_of_a_part(start: int, end: int, found: slice | None) -> None:
    offsets = [(0, 0), (0, 3), (4, 9), (10, 13), (0, 0)]
    assert tokens_within(Span("get tides now or", start, end), offsets) == found


def test_parts_of_a_text_stay_together_among_texts_of_its_length() -> None:
    texts = [Span("abc", 1, 2), "bcd", Span("bcd", 0, 1), "abc", "ab", Span("abc", 0, 1), "abcd"]
    ordered = ["ab", "abc", Span("abc", 0, 1), Span("abc", 1, 2), "bcd", Span("bcd", 0, 1), "abcd"]
    assert sorted(texts, key=by_length) == ordered
