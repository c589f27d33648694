"""The client's side of a connection: a channel, and calls that are tried again within one deadline.

Only "nobody there" and BUSY are tried again: whatever else a server says, it will say again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import grpc
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from compendia.contract import CompendiaError, ErrorCode, error

from .status import from_rpc_error

T = TypeVar("T")

_LOOPBACK = ("localhost:", "127.", "[::1]:", "unix:")


@dataclass(frozen=True)
class Patience:
    """timeout_s: for everything, retries included. attempts: how often an absent server is tried.

    wait_for_ready: keep waiting for a server that is not up yet, until the timeout. A BUSY server is tried
    until the timeout in any case.
    """

    timeout_s: float = 60.0
    attempts: int = 4
    wait_for_ready: bool = False


DEFAULT_PATIENCE = Patience()


@contextmanager
def connect(address: str) -> Iterator[grpc.Channel]:
    """A channel to `address` ("host:port" or "unix:PATH"), closed at the end of the block."""
    if not address or (":" not in address):
        raise error(ErrorCode.USAGE, f"{address!r} is not an address", "--aggregator", "write HOST:PORT")
    options: list[tuple[str, int]] = [("grpc.max_receive_message_length", 64 * 1024 * 1024)]
    if address.startswith(_LOOPBACK):
        options.append(("grpc.enable_http_proxy", 0))  # a proxy cannot reach our own machine
    with grpc.insecure_channel(address, options=options) as channel:
        yield channel


def call(
    attempt: Callable[[float], T],
    address: str,
    patience: Patience = DEFAULT_PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """Run `attempt(seconds_left)` until it succeeds, is refused, or the patience ends.

    `attempt` makes one gRPC call with that timeout, and must be safe to repeat. Raises CompendiaError.
    """
    ends = time.monotonic() + patience.timeout_s

    def once() -> T:
        left = ends - time.monotonic()
        if left <= 0:
            raise error(ErrorCode.DEADLINE, f"no answer within {patience.timeout_s:g} s", address)
        try:
            return attempt(left)
        except grpc.RpcError as fault:
            raise from_rpc_error(fault, address) from None

    def enough(state: RetryCallState) -> bool:
        fault = state.outcome.exception() if state.outcome else None
        absent = isinstance(fault, CompendiaError) and fault.code is ErrorCode.UNREACHABLE
        return absent and not patience.wait_for_ready and stop_after_attempt(patience.attempts)(state)

    retrying = Retrying(
        retry=retry_if_exception(_worth_another_try),
        wait=wait_random_exponential(multiplier=0.1, max=2.0),
        stop=lambda state: enough(state) or stop_after_delay(patience.timeout_s)(state),
        sleep=lambda seconds: sleep(max(0.0, min(seconds, ends - time.monotonic()))),
        reraise=True,
    )
    return retrying(once)


def _worth_another_try(fault: BaseException) -> bool:
    return isinstance(fault, CompendiaError) and fault.code in (ErrorCode.UNREACHABLE, ErrorCode.BUSY)
