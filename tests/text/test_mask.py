"""The masker: what it hides, what it leaves, and that no text makes it slow, unstable or verbose."""

from __future__ import annotations

import doctest
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compendia.text import mask as masker
from compendia.text.mask import PLACEHOLDER, PUBLIC_WORDS, Masked, mask
from compendia.text.spans import Span

HIDDEN = {
    # numbers
    "send 3 boxes": "send <NUMBER> boxes",
    "about 1,234.50 or -5 or 1e5 or 50%": "about <NUMBER> or <NUMBER> or <NUMBER> or <NUMBER>%",
    "10km in 90s, the 3rd of 12": "<NUMBER>km in <NUMBER>s, the <NUMBER>rd of <NUMBER>",
    "$100 is 93 EUR": "$<NUMBER> is <NUMBER> EUR",
    "２４ ٣٤ ४२": "<NUMBER> <NUMBER> <NUMBER>",
    "a 24-hour, top-10 list": "a <NUMBER>-hour, top-<NUMBER> list",
    "3天后": "<NUMBER>天后",
    # dates and times
    "on 2026-02-03 or 3.2.2026 or 2/3/26": "on <DATE> or <DATE> or <DATE>",
    "at 2026-02-03T10:00:00Z": "at <DATE>",
    "by 5th of May 2026 or January 5, 2026": "by <DATE> or <DATE>",
    "2026年2月3日 和 3月4日": "<DATE> 和 <DATE>",
    "from 10:30 to 7pm": "from <TIME> to <TIME>",
    # addresses
    "write to ann.lee+x@mail.example.co.uk!": "write to <EMAIL>!",
    "发邮件到ann@example.com给他": "发邮件到<EMAIL>给他",
    "write to józef@example.pl": "write to <EMAIL>",
    "see https://example.com/a?b=c#d, please": "see <URL>, please",
    "is example.org/path up?": "is <URL> up?",
    "call +49 (30) 123-4567 or 555-123-4567": "call <PHONE> or <PHONE>",
    "ping 10.0.0.1:80 and fe80::1:2:3:4": "ping <ID> and <ID>",
    "ask @ann_lee": "ask <ID>",
    # identifiers
    "order AB-1234 of user u_77": "order <ID> of user <ID>",
    "123e4567-e89b-12d3-a456-426614174000": "<ID>",
    "commit 9f86d081884c7d65": "commit <ID>",
    "card 4111111111111111": "card <ID>",
    # quotations
    "find 'ann lee' now": "find <TEXT> now",
    "say \"it's 5 o'clock\".": "say <TEXT>.",
    "“outer ‘inner’ text” and «autre» and „noch eins“": "<TEXT> and <TEXT> and <TEXT>",
    "搜索“天气”和「本」": "搜索<TEXT>和<TEXT>",
    'set name="Ann Lee" and f("x")': "set name=<TEXT> and f(<TEXT>)",
}

LEFT = [
    "I'd like the dogs' food and the users' data, isn't it?",
    "rock’n’roll, the farmers’ market and it’s fine",
    "what can I do in the weather today",
    "convert mp3 to mp4, sha256 of a covid-19 report in utf-8",
    "May I ask a question in March",
    'unbalanced " is not closed',
    "明天巴黎会下雨吗",
    "a < b > c <foo> <script>",
    "<NUMBER> apples for <TEXT> at <EMAIL>",
    "e.g. this, i.e. that... or?!",
    "",
]


@pytest.mark.parametrize(("text", "masked"), HIDDEN.items())
def test_what_is_particular_is_hidden(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize("text", LEFT)
def test_what_is_asked_for_stays(text: str) -> None:
    assert mask(text) == text


PIECES = """' " “ ” „ ‘ ’ ‚ « » ‹ › 「 」 ` a 5 bob A1 - _ . @ x.com http:// <NUMBER> <TEXT> < > mp3 年 3月4日
May 5th : / é 天 s 90 e5 km 10:30 pm ( ) % １ covid-19 1.2.3.4 :: ² + # ? !"""
FRAGMENTS = st.lists(
    st.sampled_from([*PIECES.split(), " ", "\n", "+1 555 123 4567", "\u0301"]), max_size=12
).map("".join)


@given(FRAGMENTS | st.text())
@example('5"x"')
@example("'a 'b' c'")
@example("5@bob")
@example("x.com-5")
def test_masking_a_masked_text_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(masker).failed == 0


@pytest.mark.parametrize(
    ("part", "masked"),
    [
        ("Pay 12 EUR to 'A.", "Pay <NUMBER> EUR to <TEXT>"),
        ("B. Lee' on 3 May!", "<TEXT> on <DATE>!"),
        ("Then write to x1", "Then write to <EMAIL>"),
        ("Lee", "<TEXT>"),
        ("on", "on"),
    ],
)
def test_a_part_has_whole_placeholders(part: str, masked: str) -> None:
    text = "Pay 12 EUR to 'A. B. Lee' on 3 May! Then write to x1@example.org"
    start = text.index(part)
    assert Masked(text).span(Span(text, start, start + len(part))).said == masked


@given(FRAGMENTS | st.text(), st.integers(0), st.integers(0))
def test_parts_side_by_side_cover_the_masked_text(text: str, one: int, other: int) -> None:
    first, last = sorted((one % (len(text) + 1), other % (len(text) + 1)))
    masked = Masked(text)
    parts = [masked.span(Span(text, *place)) for place in ((0, first), (first, last), (last, len(text)))]
    assert [part.text for part in parts] == [mask(text)] * 3
    assert (parts[0].start, parts[-1].end) == (0, len(mask(text)))
    for left, right in pairwise(parts):
        assert right.start <= left.end
        assert left.start <= left.end


@given(FRAGMENTS | st.text())
def test_no_digit_gets_through_but_in_public_words(text: str) -> None:
    rest = PLACEHOLDER.sub(" ", mask(text)).casefold()
    for word in sorted(PUBLIC_WORDS, key=len, reverse=True):
        rest = rest.replace(word, " ")
    assert not any(character.isdecimal() for character in rest)


@given(FRAGMENTS | st.text())
def test_the_text_grows_by_a_bounded_factor(text: str) -> None:
    assert len(mask(text)) <= 8 * len(text)


@given(st.text(st.characters(categories=["Ll", "Lu", "Lo", "Zs"])))
def test_plain_words_of_any_script_stay(text: str) -> None:
    assert mask(text) == text


@given(
    st.text(
        st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="\"'`“”‘’„‚«»‹›「」『』《》＂＇")
    )
)
def test_quotations_are_hidden_whatever_they_hold(text: str) -> None:
    assert mask(f"find “x{text}x” now") == "find <TEXT> now"


HOSTILE = (
    """a 1 'a " “ a- a. a@ 1: 1. 1- 'a'a ab: f: http:// a.b@ +1 x1- 年 ( a.com. - a_ 1/1/ ~5~of~ May~ 'a~"""
)


@pytest.mark.parametrize("unit", HOSTILE.replace("~", "\u2003").split(" "))
def test_long_hostile_texts_are_no_trouble(unit: str) -> None:
    """Quadratic work on 200,000 characters would outlast the suite's time limit many times over."""
    text = unit * (200_000 // len(unit))
    masked = mask(text)
    assert len(masked) <= 8 * len(text)
    assert mask(masked) == masked
