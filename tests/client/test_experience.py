"""Reading experience logs: strict, every problem with its line, its field and what to do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.client.experience import MAX_PROBLEMS, Outcome, read_outcomes, window_of
from compendia.contract import CompendiaError, ErrorCode

GOOD = {"query": "Ferry to Turku", "tool": "ferries", "outcome": "success"}


def _log(*lines: object) -> bytes:
    return "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines).encode()


def test_a_log_is_read_line_by_line() -> None:
    full = GOOD | {
        "endpoint": "search",
        "arguments": {"to": "Turku", "seats": [1, None, {"x": 1.5}]},
        "outcome": "failure",
        "comment": "sold out",
        "time": "2026-09-04T12:00:00+02:00",
    }
    first, second = read_outcomes(b"\xef\xbb\xbf" + _log(GOOD, "", "   ", full), "log.jsonl")
    assert first == Outcome("Ferry to Turku", "ferries", "success", place="log.jsonl:1")
    assert second.time == "2026-09-04T10:00:00Z"
    assert second.arguments == full["arguments"]
    assert second.place == "log.jsonl:4"


@pytest.mark.parametrize(
    ("line", "code", "path"),
    [
        ({"tool": "t", "outcome": "success"}, ErrorCode.BAD_FIELD, "log:1.query"),
        (GOOD | {"query": " \u200b"}, ErrorCode.BAD_FIELD, "log:1.query"),
        (GOOD | {"query": "x" * 20_000}, ErrorCode.BAD_FIELD, "log:1.query"),
        (GOOD | {"tool": 7}, ErrorCode.BAD_FIELD, "log:1.tool"),
        (GOOD | {"outcome": "maybe"}, ErrorCode.BAD_FIELD, "log:1.outcome"),
        (GOOD | {"arguments": ["Turku"]}, ErrorCode.BAD_FIELD, "log:1.arguments"),
        (GOOD | {"arguments": {"": 1}}, ErrorCode.BAD_FIELD, "log:1.arguments..[key]"),
        (GOOD | {"time": "yesterday"}, ErrorCode.BAD_FIELD, "log:1.time"),
        (GOOD | {"time": "2026-09-04T10:00:00"}, ErrorCode.BAD_FIELD, "log:1.time"),
        (GOOD | {"result": 1}, ErrorCode.BAD_FIELD, "log:1.result"),
        ("[1]", ErrorCode.BAD_FIELD, "log:1"),
        ("not json", ErrorCode.INVALID_JSON, "log:1"),
        ('{"query": "a", "query": "b"}', ErrorCode.DUPLICATE_KEY, "log:1"),
        ('{"arguments": {"a": NaN}}', ErrorCode.NOT_A_NUMBER, "log:1.arguments.a"),
        ('{"query": "\\ud800"}', ErrorCode.BAD_TEXT, "log:1.query"),
    ],
)
def test_a_bad_line_is_named_with_its_field(line: object, code: ErrorCode, path: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        read_outcomes(_log(line), "log")
    assert (code, path) in [(p.code, p.path) for p in caught.value.problems]
    assert "Fix:" in str(caught.value)


def test_every_bad_line_is_told_up_to_a_limit() -> None:
    with pytest.raises(CompendiaError) as caught:
        read_outcomes(_log("x", GOOD, "y"), "log")
    assert [p.path for p in caught.value.problems] == ["log:1", "log:3"]
    with pytest.raises(CompendiaError) as caught:
        read_outcomes(_log(*["x"] * 100))
    assert len(caught.value.problems) == MAX_PROBLEMS


def test_bytes_that_are_not_utf8_are_placed() -> None:
    with pytest.raises(CompendiaError) as caught:
        read_outcomes(_log(GOOD) + b"\n\xff", "log")
    assert caught.value.problems[0].path == "log:2"


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_junk_is_refused_never_crashes(data: bytes) -> None:
    try:
        outcomes = read_outcomes(data)
    except CompendiaError:
        return  # any other exception fails the test
    assert outcomes == ()


def test_the_window_holds_every_time() -> None:
    times = ["2026-09-04T10:00:00Z", "2026-09-30T23:59:59Z", "2026-09-01T00:00:00Z"]
    window = window_of([Outcome("q", "t", "success", time=time) for time in times])
    assert (window.start, window.end) == ("2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z")


@pytest.mark.parametrize("outcomes", [[], [Outcome("q", "t", "success", place="log:7")]])
def test_a_window_needs_times(outcomes: list[Outcome]) -> None:
    with pytest.raises(CompendiaError) as caught:
        window_of(outcomes)
    assert caught.value.code is ErrorCode.USAGE
    assert "--from" in str(caught.value)
