"""One way to serve: bounded concurrency, health, reflection, rich errors, a graceful end.

`start` gives a running server to whoever embeds it (tests do); `serve` is a program's main loop.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from compendia.contract import CompendiaError, ErrorCode, error

from .status import to_rpc_status
from .v1 import compendia_pb2, compendia_pb2_grpc

DEFAULT_SLOTS = 16
_SPARE_THREADS = 4  # so that health answers, and refusals are quick, while every slot is taken

Servicer = compendia_pb2_grpc.AggregatorServicer | compendia_pb2_grpc.RouterServicer
Handler = Any  # grpc.RpcMethodHandler, whose generic parameters say nothing here


@dataclass(frozen=True)
class Limits:
    """slots: calls that run at once, more are refused as BUSY. message_bytes: cap of any one message."""

    slots: int = DEFAULT_SLOTS
    message_bytes: int = 2 * 1024 * 1024
    grace_s: float = 5.0


DEFAULT_LIMITS = Limits()


class Running:
    """A server that answers at `address` until `stop`."""

    def __init__(
        self, server: grpc.Server, checks: health.HealthServicer, address: str, grace_s: float
    ) -> None:
        self._server = server
        self._health = checks
        self._grace_s = grace_s
        self.address = address

    def stop(self) -> None:
        """Say NOT_SERVING, refuse new calls, let running ones end within the grace, then return."""
        self._health.enter_graceful_shutdown()
        self._server.stop(self._grace_s).wait()

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(servicers: Sequence[Servicer], address: str, limits: Limits = DEFAULT_LIMITS) -> Running:
    """Serve on `address` ("host:port", port 0 picks one; "unix:PATH"). Raises USAGE when it cannot listen."""
    pool = ThreadPoolExecutor(limits.slots + _SPARE_THREADS, thread_name_prefix="grpc")
    server = grpc.server(
        pool,
        interceptors=[_Guard(limits.slots)],
        options=[
            ("grpc.max_receive_message_length", limits.message_bytes),
            ("grpc.max_send_message_length", -1),
            ("grpc.so_reuseport", 0),  # two servers on one port would share its calls
        ],
        maximum_concurrent_rpcs=limits.slots * 8 + _SPARE_THREADS,
    )
    checks = health.HealthServicer()
    names = [health.SERVICE_NAME, reflection.SERVICE_NAME]
    names.extend(_register(servicer, server) for servicer in servicers)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    reflection.enable_server_reflection(names, server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as fault:
        raise error(
            ErrorCode.USAGE,
            f"cannot listen on {address!r}: {fault}",
            "--address",
            "choose a free port, or port 0 to have one picked",
        ) from None
    server.start()
    for name in names:
        checks.set(name, health_pb2.HealthCheckResponse.SERVING)
    return Running(server, checks, _bound(address, port), limits.grace_s)


def serve(
    servicers: Sequence[Servicer],
    address: str,
    limits: Limits = DEFAULT_LIMITS,
    *,
    port_file: Path | None = None,
    on_stop: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT; must run in the main thread.

    Writes one line `ready ADDRESS` to stderr, and the address into `port_file` (whole or not at all).
    `on_stop` runs after the last call has ended.
    """
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    running = start(servicers, address, limits)
    if port_file is not None:
        _write_whole(port_file, running.address + "\n")
    sys.stderr.write(f"ready {running.address}\n")
    sys.stderr.flush()
    asked.wait()
    running.stop()
    on_stop()


def _register(servicer: Servicer, server: grpc.Server) -> str:
    services = compendia_pb2.DESCRIPTOR.services_by_name
    if isinstance(servicer, compendia_pb2_grpc.AggregatorServicer):
        compendia_pb2_grpc.add_AggregatorServicer_to_server(servicer, server)
        return str(services["Aggregator"].full_name)
    compendia_pb2_grpc.add_RouterServicer_to_server(servicer, server)
    return str(services["Router"].full_name)


def _bound(address: str, port: int) -> str:
    return address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}"


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


if TYPE_CHECKING:
    _Interceptor = grpc.ServerInterceptor[Any, Any]
else:
    _Interceptor = grpc.ServerInterceptor  # generic in the stubs alone


class _Guard(_Interceptor):
    """Around every call of our services: a slot or BUSY; a CompendiaError becomes a rich status.

    Health and reflection pass untouched: they must answer when the server is full.
    """

    def __init__(self, slots: int) -> None:
        self._slots = threading.BoundedSemaphore(slots)
        self._count = slots

    def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Handler | None], handler_call_details: Any
    ) -> Handler | None:
        handler = continuation(handler_call_details)
        if handler is None or not handler_call_details.method.startswith("/compendia."):
            return handler
        codecs = (handler.request_deserializer, handler.response_serializer)
        if handler.unary_unary:
            return grpc.unary_unary_rpc_method_handler(self._one(handler.unary_unary), *codecs)
        if handler.stream_unary:
            return grpc.stream_unary_rpc_method_handler(self._one(handler.stream_unary), *codecs)
        return grpc.unary_stream_rpc_method_handler(self._many(handler.unary_stream), *codecs)

    def _one(self, behaviour: Callable[[Any, Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def run(request: Any, context: grpc.ServicerContext) -> Any:
            try:
                self._enter()
                try:
                    return behaviour(request, context)
                finally:
                    self._slots.release()
            except CompendiaError as fault:
                context.abort_with_status(to_rpc_status(fault))

        return run

    def _many(
        self, behaviour: Callable[[Any, Any], Iterable[Any]]
    ) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
        def run(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
            try:
                self._enter()
                try:
                    yield from behaviour(request, context)
                finally:
                    self._slots.release()
            except CompendiaError as fault:
                context.abort_with_status(to_rpc_status(fault))

        return run

    def _enter(self) -> None:
        if not self._slots.acquire(blocking=False):
            raise error(ErrorCode.BUSY, f"all {self._count} slots are taken")
