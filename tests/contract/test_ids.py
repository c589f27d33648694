"""Ids: what is refused and why, and slugs that keep different names apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import CompendiaError, ErrorCode
from compendia.contract.ids import MAX_PART, ToolId, check_part, distinct_slugs, parse_tool_id, slug


@pytest.mark.parametrize(
    "text", ["a/b/c", "api.example.com/v2/get_user-2", "0/1/2", "a/b/" + "x" * MAX_PART, "a/b/c_"]
)
def test_good_ids(text: str) -> None:
    assert str(parse_tool_id(text)) == text
    assert parse_tool_id(text) == ToolId(*text.split("/"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a/b", "has 2 parts"),
        ("a/b/c/d", "has 4 parts"),
        ("", "has 1 parts"),
        ("a//c", "is empty"),
        ("a/b/" + "x" * (MAX_PART + 1), "at most 64"),
        ("a/b/p\u0430y", "CYRILLIC SMALL LETTER A"),
        ("a/b/\u200bc", "ZERO WIDTH SPACE"),
        ("a/b/\uff43", "FULLWIDTH LATIN SMALL LETTER C"),
        ("a/b/Get", "collide with 'get'"),
        ("a/b/c.", "not a valid part"),
        ("a/b/-c", "not a valid part"),
        ("a/b/..", "not a valid part"),
        ("a/b/c d", "not a valid part"),
        ("a/b/c\n", "not a valid part"),
    ],
)
def test_bad_ids_say_which_rule_they_break(text: str, reason: str) -> None:
    with pytest.raises(CompendiaError, match="Fix: ") as caught:
        parse_tool_id(text, "tools[3].id")
    assert caught.value.code is ErrorCode.BAD_ID
    assert caught.value.problems[0].path == "tools[3].id"
    assert reason in caught.value.problems[0].message


def test_an_upper_case_id_is_answered_with_the_right_one() -> None:
    with pytest.raises(CompendiaError, match="write 'getuser'"):
        check_part("GetUser")


@given(st.text())
def test_every_text_has_a_valid_slug(text: str) -> None:
    assert check_part(slug(text)) == slug(text)


@given(st.lists(st.text(max_size=8), max_size=8) | st.lists(st.sampled_from("aA-_. é天"), max_size=8))
def test_names_side_by_side_keep_their_distance(names: list[str]) -> None:
    slugs = distinct_slugs(names)
    assert len(set(slugs)) == len(set(names))
    assert all(check_part(part) for part in slugs)


@given(
    st.lists(st.sampled_from(["getUser", "get_user", "get user", "x", "天", "é"]), max_size=6), st.randoms()
)
def test_the_order_of_names_does_not_matter(names: list[str], randomness: st.DataObject) -> None:
    by_name = dict(zip(names, distinct_slugs(names), strict=True))
    mixed = list(names)
    randomness.shuffle(mixed)  # type: ignore[attr-defined]
    assert dict(zip(mixed, distinct_slugs(mixed), strict=True)) == by_name


def test_long_names_that_differ_at_the_end_stay_apart() -> None:
    one, other = slug("x" * 100 + "1"), slug("x" * 100 + "2")
    assert one != other
    assert len(one) == len(other) == MAX_PART


def test_homoglyphs_do_not_meet() -> None:
    assert slug("p\u0430ypal") != slug("paypal")
