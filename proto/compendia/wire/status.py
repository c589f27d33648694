"""CompendiaError over gRPC and back: google.rpc.Status with one ErrorInfo a problem (AIP-193).

Code, message, path and fix of every problem survive the trip. Trailing metadata is bounded by every HTTP/2
peer, so what does not fit is cut and counted. gRPC refuses some of what is over 8,192 bytes, by chance, so
the limits leave room for the headline, which travels twice: in the details, and as `grpc-message`, where a
byte that is not ASCII takes three.
"""

from __future__ import annotations

from collections.abc import Iterator

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from compendia.contract import ERRORS, CompendiaError, ErrorCode, Problem, error

DOMAIN = "compendia"
_MAX_DETAILS_BYTES = 4096
_MAX_TEXT_BYTES = 1200
_MAX_HEADLINE_BYTES = 400

_CODE_BY_STATUS = {
    grpc.StatusCode.UNAVAILABLE: ErrorCode.UNREACHABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: ErrorCode.DEADLINE,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ErrorCode.TOO_LARGE,
    grpc.StatusCode.UNIMPLEMENTED: ErrorCode.PROTOCOL,
    grpc.StatusCode.CANCELLED: ErrorCode.UNREACHABLE,
}
"""What a status means that came without our details: from gRPC itself, or from a program that is not ours."""


def to_rpc_status(fault: CompendiaError) -> grpc.Status:
    """The status to abort a call with."""
    name = ERRORS[fault.code].grpc_status
    number = grpc.StatusCode[name].value[0]
    details: list[any_pb2.Any] = []
    size = 0
    for index, problem in enumerate(fault.problems):
        packed = _packed(problem)
        size += packed.ByteSize()
        if size > _MAX_DETAILS_BYTES:
            details.append(_packed(_rest(fault, index)))
            break
        details.append(packed)
    status = status_pb2.Status(
        code=number, message=_cut(str(fault.problems[0]), _MAX_HEADLINE_BYTES), details=details
    )
    return rpc_status.to_status(status)


def from_rpc_error(fault: grpc.RpcError, address: str = "") -> CompendiaError:
    """The error behind a failed call; one of our table also when the server sent no details."""
    if not isinstance(fault, grpc.Call):
        return error(ErrorCode.INTERNAL, f"the call failed: {fault}", address)
    problems = tuple(_problems(fault))
    if problems:
        return CompendiaError(problems)
    details = fault.details() or "no message"
    code = _CODE_BY_STATUS.get(fault.code(), ErrorCode.INTERNAL)
    if code is ErrorCode.TOO_LARGE and "Concurrent RPC limit" in details:
        code = ErrorCode.BUSY
    return error(code, f"{fault.code().name}: {details}", address)


def _rest(fault: CompendiaError, index: int) -> Problem:
    left = len(fault.problems) - index
    return Problem(
        fault.problems[index].code,
        f"and {left} more problem{'s' if left > 1 else ''}",
        "",
        "run `compendia validate` on the file to see all",
    )


def _packed(problem: Problem) -> any_pb2.Any:
    info = error_details_pb2.ErrorInfo(reason=problem.code.value, domain=DOMAIN)
    info.metadata["message"] = _cut(problem.message)
    info.metadata["path"] = _cut(problem.path)
    info.metadata["fix"] = _cut(problem.fix)
    packed = any_pb2.Any()
    packed.Pack(info)
    return packed


def _cut(text: str, most: int = _MAX_TEXT_BYTES) -> str:
    """The text in at most `most` bytes of UTF-8: short enough for a header, storable whatever it held."""
    coded = text.encode("utf-8", "replace")
    if len(coded) <= most:
        return coded.decode("utf-8")
    return coded[: most - len("…".encode())].decode("utf-8", "ignore") + "…"


def _problems(call: grpc.Call) -> Iterator[Problem]:
    for packed in _details(call):
        info = error_details_pb2.ErrorInfo()
        if packed.Unpack(info) and info.domain == DOMAIN and info.reason in ErrorCode.__members__:
            data = info.metadata
            yield Problem(
                ErrorCode(info.reason), data.get("message", ""), data.get("path", ""), data.get("fix", "")
            )


def _details(call: grpc.Call) -> list[any_pb2.Any]:
    try:
        status = rpc_status.from_call(call)
    except ValueError:  # details that contradict the status: not ours
        return []
    return list(status.details) if status is not None else []
