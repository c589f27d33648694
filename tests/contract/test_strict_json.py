"""JSON as RFC 8259 has it: what Python lets through is refused, with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values

from compendia.contract import CompendiaError, ErrorCode, strict_json
from compendia.contract.strict_json import canonical, digest, loads


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ('{"a": [1, NaN]}', ErrorCode.NOT_A_NUMBER, "a[1]"),
        ('{"a": {"b": -Infinity}}', ErrorCode.NOT_A_NUMBER, "a.b"),
        ('{"a": 1e400}', ErrorCode.NOT_A_NUMBER, "a"),
        ("[-1e999]", ErrorCode.NOT_A_NUMBER, "[0]"),
        ("NaN", ErrorCode.NOT_A_NUMBER, "$"),
        ('{"a": ' + "9" * 65 + "}", ErrorCode.NOT_A_NUMBER, "a"),
        ('{"a": {"b": 1, "b": 1}}', ErrorCode.DUPLICATE_KEY, "a"),
        ('[{"b": 1, "b": NaN}]', ErrorCode.DUPLICATE_KEY, "[0]"),
        ('{"a": "x\\ud800"}', ErrorCode.BAD_TEXT, "a"),
        ('{"a": ["\\udc00\\ud800"]}', ErrorCode.BAD_TEXT, "a[0]"),
        ('{"a": {"\\ud800": 1}}', ErrorCode.BAD_TEXT, "a.(key)"),
        ('{"a": "\\u0000"}', ErrorCode.BAD_TEXT, "a"),
        ('"\ud800"', ErrorCode.BAD_TEXT, "$"),
        ("", ErrorCode.INVALID_JSON, ""),
        ("{'a': 1}", ErrorCode.INVALID_JSON, ""),
        ("[1,]", ErrorCode.INVALID_JSON, ""),
        ("[1] []", ErrorCode.INVALID_JSON, ""),
        ("[01]", ErrorCode.INVALID_JSON, ""),
        ("[" * 100_000, ErrorCode.INVALID_JSON, ""),
        ('{"a":' * 100_000, ErrorCode.INVALID_JSON, ""),
    ],
)
def test_refused_with_its_place(text: str, code: ErrorCode, path: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        loads(text)
    assert (caught.value.code, caught.value.problems[0].path) == (code, path)


@pytest.mark.parametrize("data", [b"\xff\xfe[\x00]\x00", b'"\xed\xa0\x80"', b'"\x80"'])
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    with pytest.raises(CompendiaError) as caught:
        loads(data)
    assert caught.value.code is ErrorCode.INVALID_JSON
    assert "UTF-8" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\\\ud800 and \\\\u0000"', "\\ud800 and \\u0000"),
        ("1e300", 1e300),
        ("[-0.0, 0, 1.0]", [-0.0, 0, 1.0]),
    ],
)
def test_what_is_json_is_read(text: str | bytes, value: object) -> None:
    assert loads(text) == value


@given(json_values)
def test_canonical_text_is_read_back(value: object) -> None:
    text = canonical(value)
    assert loads(text) == value
    assert canonical(loads(text)) == text
    assert "\n" not in text


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), json_values)
)
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    mixed = dict(reversed(value.items()))
    assert canonical(mixed) == canonical(value)
    assert digest(mixed) == digest(value)


@given(st.text(max_size=40) | st.text('[]{},:"0123456789eE.+-\\ud8truefalsn ', max_size=40))
def test_accepted_text_is_what_python_reads_and_junk_never_crashes(text: str) -> None:
    try:
        value = loads(text)
    except CompendiaError:
        return
    assert value == json.loads(text)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": -float("inf")}])
def test_canonical_refuses_what_json_has_no_word_for(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        strict_json.canonical(value)
