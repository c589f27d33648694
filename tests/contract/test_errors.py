"""The error table: complete, with real gRPC statuses, and errors that travel between processes."""

from __future__ import annotations

import pickle

import grpc
import pytest

from compendia.contract import ERRORS, CompendiaError, ErrorCode, Problem, error


def test_every_code_has_its_row_and_no_row_is_left_over() -> None:
    assert set(ERRORS) == set(ErrorCode)


@pytest.mark.parametrize("code", ErrorCode)
def test_a_row_says_status_meaning_and_remedy(code: ErrorCode) -> None:
    row = ERRORS[code]
    assert grpc.StatusCode[row.grpc_status] is not grpc.StatusCode.OK
    assert row.meaning
    assert row.fix
    assert not row.fix.endswith(".")
    assert code == code.name


def test_a_problem_says_what_where_and_what_to_do() -> None:
    made = error(ErrorCode.OUT_OF_RANGE, "-1 lies outside 0..9", "usage[2].failures")
    assert str(made) == (
        "usage[2].failures: -1 lies outside 0..9 [OUT_OF_RANGE]. Fix: see the range in `compendia schema`."
    )
    assert "Fix: count again." in str(error(ErrorCode.OUT_OF_RANGE, "x", fix="count again"))


def test_the_first_problem_gives_the_code() -> None:
    made = CompendiaError([Problem(ErrorCode.BAD_ID, "a"), Problem(ErrorCode.BAD_TEXT, "b")])
    assert made.code is ErrorCode.BAD_ID
    assert str(made).count("Fix: ") == 2


def test_an_error_without_a_problem_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="at least one problem"):
        CompendiaError([])


def test_errors_travel_between_processes() -> None:
    made = CompendiaError([Problem(ErrorCode.BAD_ID, "a", "b", "c"), Problem(ErrorCode.BUSY, "d")])
    assert pickle.loads(pickle.dumps(made)).problems == made.problems
