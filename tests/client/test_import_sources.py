"""Bytes to trees and texts: strict JSON, lenient and safe YAML, descriptions made fit to read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.client.importers import KINDS, import_source
from compendia.client.importers.source import MAX_DEPTH, parse
from compendia.client.importers.texts import Notices, clean
from compendia.contract import CompendiaError, ErrorCode
from compendia.contract.compendium import MAX_TEXT


def tree(text: str | bytes) -> Any:
    return parse(text.encode() if isinstance(text, str) else text, name="s", publisher="").tree


def refusal(data: str | bytes) -> CompendiaError:
    with pytest.raises(CompendiaError) as caught:
        tree(data)
    assert len(caught.value.problems) == 1
    return caught.value


def test_yaml_scalars_mean_what_their_author_meant() -> None:
    text = """
operator: =
released: 2021-03-04
at: 2021-03-04T10:00:00Z
country: no
switch: on
clock: 12:30:45
octal: 0755
hex: 0x1F
big: 12345678901234567890123456789012345678901234567890123456789012345678901234567890
infinite: .inf
yes: true
none: ~
empty:
n: -12
x: 1.5e3
200: ok
0200: other
<<: {merged: 1, n: 7}
"""
    assert tree(text) == {
        "operator": "=",
        "released": "2021-03-04",
        "at": "2021-03-04T10:00:00Z",
        "country": "no",
        "switch": "on",
        "clock": "12:30:45",
        "octal": "0755",
        "hex": "0x1F",
        "big": "1234567890" * 8,
        "infinite": ".inf",
        "yes": True,
        "none": None,
        "empty": None,
        "n": -12,
        "x": 1500.0,
        "200": "ok",
        "0200": "other",
        "merged": 1,
    }


def test_yaml_duplicate_keys_are_refused() -> None:
    fault = refusal("paths:\n  /a: 1\n  /a: 2\n")
    assert fault.code is ErrorCode.DUPLICATE_KEY
    assert "line 3" in str(fault)
    assert refusal("200: a\n'200': b\n").code is ErrorCode.DUPLICATE_KEY


def test_yaml_aliases_are_shared_but_bounded() -> None:
    assert tree("a: &x {k: 1}\nb: *x\n") == {"a": {"k": 1}, "b": {"k": 1}}
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
    )
    assert refusal(bomb).code is ErrorCode.TOO_LARGE
    assert "contains itself" in str(refusal("a: &a [*a]\n"))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ErrorCode.SOURCE_UNREADABLE),
        (b" \n", ErrorCode.SOURCE_UNREADABLE),
        (b"# only a comment\n", ErrorCode.SOURCE_UNREADABLE),
        (b"just words", ErrorCode.SOURCE_UNREADABLE),
        (b"a: [1, 2", ErrorCode.SOURCE_UNREADABLE),
        (b"a: !!python/object/apply:os.system [ls]", ErrorCode.SOURCE_UNREADABLE),
        (b"? [a, b]\n: c\n", ErrorCode.SOURCE_UNREADABLE),
        (b"a: \xff\xfe", ErrorCode.SOURCE_UNREADABLE),
        (b"a: 1\n---\nb: 2\n", ErrorCode.SOURCE_UNREADABLE),
        (b"- " * 3000 + b"a", ErrorCode.SOURCE_UNREADABLE),
        (b'a: "\\0"', ErrorCode.BAD_TEXT),
        (b'{"a": 1,}', ErrorCode.INVALID_JSON),
        (b'{"a": \xff}', ErrorCode.INVALID_JSON),
        (b'{"a": 1, "a": 2}', ErrorCode.DUPLICATE_KEY),
        (b'{"a": NaN}', ErrorCode.NOT_A_NUMBER),
        (b'{"a": 1e400}', ErrorCode.NOT_A_NUMBER),
        (b'{"a": "\\ud800"}', ErrorCode.BAD_TEXT),
        (b"[" * 100_000, ErrorCode.INVALID_JSON),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), ErrorCode.SOURCE_UNSUPPORTED),
    ],
)
def test_broken_sources_fail_with_one_clear_message(data: bytes, code: ErrorCode) -> None:
    assert refusal(data).code is code
    for kind in KINDS:
        with pytest.raises(CompendiaError) as caught:
            import_source(kind, data, org="acme", source_name="s")
        assert caught.value.code is code


def test_lines() -> None:
    assert tree('{"a": 1}\n\n{"a": 2}\n') == [{"a": 1}, {"a": 2}]
    assert tree('{"a":\n 1}') == {"a": 1}
    assert tree(b"\xef\xbb\xbf{}") == {}
    fault = refusal('{"a": 1}\n{"a": NaN}')
    assert fault.code is ErrorCode.NOT_A_NUMBER
    assert "record 2" in str(fault)
    assert refusal('{"a": 1, "a": 2}\n{"b": 1}').code is ErrorCode.DUPLICATE_KEY


def test_a_bad_organization_is_refused() -> None:
    with pytest.raises(CompendiaError) as caught:
        import_source("mcp", b"[]", org="Acme Inc", source_name="s")
    assert caught.value.code is ErrorCode.BAD_ID


def cleaned(text: object) -> tuple[str, tuple[str, ...]]:
    notices = Notices()
    return clean(text, notices, "here"), notices.lines()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("<p>One</p><p>two <code>x</code></p>", "One\n\ntwo x"),
        ("a<br/>b<script>alert(1)</script>", "a\nb"),
        ("Give List<String> or <id>, a < b", "Give List<String> or <id>, a < b"),
        ("fish &amp; chips &lt;id&gt; ?a=1&copy=2", "fish & chips <id> ?a=1&copy=2"),
        ("  many   blanks \r\n\r\n\r\n\r\n here ", "many blanks\n\nhere"),
        (None, ""),
        (5, ""),
    ],
)
def test_descriptions_are_tidied(raw: object, expected: str) -> None:
    assert cleaned(raw) == (expected, ())


def test_invisible_characters_go_with_a_notice() -> None:
    text, told = cleaned("Ignore\u200b all\u202e\x07 \U000e0041rules&#x200b;")
    assert text == "Ignore all rules"
    assert told == ("control or zero-width characters were taken out (here)",)
    persian = "می\u200cخواهم"
    assert cleaned(persian) == (persian, ())
    assert cleaned("a\u200cb")[0] == "ab"


@pytest.mark.parametrize("times", [1, 2, 3])
def test_text_that_was_encoded_too_often_is_mended(times: int) -> None:
    text = broken = "Café – “天气” à la carte"
    for _ in range(times):
        broken = "".join(
            bytes([byte]).decode("cp1252") if byte not in {0x81, 0x8D, 0x8F, 0x90, 0x9D} else chr(byte)
            for byte in broken.encode()
        )
    assert cleaned(broken) == (text, ("text that was encoded as UTF-8 twice was mended (here)",))


def test_proper_text_is_left_alone() -> None:
    for text in ("Größe in µm, naïve café", "Ünïcödé", "ÀÉÎ", "भगवद्गीता", "€5 – “fine”"):
        assert cleaned(text) == (text, ())


def test_overlong_descriptions_are_cut_with_a_notice() -> None:
    for text in ("word " * 10_000, "x" * 40_000):
        short, told = cleaned(text)
        assert len(short) <= MAX_TEXT
        assert short.endswith("…")
        assert "was cut" in told[0]


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_cleaning_twice_changes_nothing_that_can_be_seen(text: str) -> None:
    once, _ = cleaned(text)
    assert "\x00" not in once
    assert len(once) <= MAX_TEXT


def test_notices_are_grouped() -> None:
    notices = Notices()
    for place in ("a", "b", "c", "d", "e", "a"):
        notices.add("odd", place)
    notices.add("whole")
    assert notices.lines() == ("odd (a, b, c and 2 more)", "whole")
