"""The tokenizer: identifiers, scripts, and what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.text.tokenize import FUNCTION_WORDS, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("getUserProfile", ["get", "user", "profile", "getuserprofile"]),
        ("HTTPServer2Go", ["http", "server", "httpserver", "2", "go"]),
        ("order_by-user.id", ["order", "user"]),
        ("GitHub", ["git", "hub", "github"]),
        ("Cities buses status", ["city", "buse", "status"]),
        ("is it for WHO or who", ["who"]),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", ["full", "width"]),
        ("Straße", ["strasse"]),
        ("明天天气", ["明天", "天天", "天气"]),
        ("雨", ["雨"]),
        ("東京タワーの天気", ["東京", "京タ", "タワ", "ワー", "ーの", "の天", "天気"]),
        ("날씨 서울", ["날씨", "서울"]),
        ("भाषा हिन्दी", ["भाषा", "हिन्दी"]),
        ("Погода в Москве", ["погода", "в", "москве"]),
        ("naïve Übersicht", ["naïve", "übersicht"]),
        ("weather in <TEXT> on <DATE>", ["weather"]),
        ("", []),
        ("?! -- ...", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


def test_thai_gives_pairs() -> None:
    assert tokenize("อากาศ") == ["อา", "าก", "กา", "าศ"]


@given(st.text())
def test_words_are_folded_and_hold_no_blank(text: str) -> None:
    for word in tokenize(text):
        assert word
        assert not any(character.isspace() for character in word)
        assert word == word.casefold()


@given(st.text())
def test_case_of_a_whole_text_matters_only_to_function_words(text: str) -> None:
    assert [w for w in tokenize(text.lower()) if w in FUNCTION_WORDS] == []


@given(st.text())
def test_the_work_is_bounded_by_the_text(text: str) -> None:
    assert sum(map(len, tokenize(text))) <= 2 * 18 * (len(text) + 1)  # NFKC makes at most 18 of one


@pytest.mark.parametrize("unit", ["a", "aB", "A", "Ab", "1a", "天", "<", "<NUMBER>", "e\u0301", "\u0301"])
def test_long_hostile_texts_are_no_trouble(unit: str) -> None:
    assert sum(map(len, tokenize(unit * (200_000 // len(unit))))) <= 400_000
