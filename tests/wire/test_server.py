"""Serving: health, reflection, bounded concurrency, rich errors, a graceful end."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from compendia.contract import ERRORS, CompendiaError, ErrorCode, Problem, error
from compendia.wire.channel import Patience, call, connect
from compendia.wire.server import Limits, start
from compendia.wire.status import from_rpc_error, to_rpc_status
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub, RouterServicer, RouterStub


class Echo(RouterServicer):
    """Answers with the query; `wait` until let go, `raise` with what it was given."""

    def __init__(self, fault: CompendiaError | None = None) -> None:
        self.fault = fault
        self.go = threading.Event()
        self.entered = threading.Semaphore(0)

    def Route(self, request: pb.RouteRequest, context: grpc.ServicerContext) -> pb.RouteResponse:
        self.entered.release()
        if request.query == "wait":
            assert self.go.wait(30)
        if request.query == "raise" and self.fault:
            raise self.fault
        if request.query == "break":
            raise ZeroDivisionError("a bug")
        return pb.RouteResponse(plan_json=request.query)


def route(address: str, query: str, seconds: float = 20.0) -> str:
    with connect(address) as channel:
        stub = RouterStub(channel)
        answer = call(
            lambda left: stub.Route(pb.RouteRequest(query=query), timeout=left), address, Patience(seconds)
        )
        return str(answer.plan_json)


def refused(address: str, query: str, seconds: float = 20.0) -> CompendiaError:
    with pytest.raises(CompendiaError) as caught:
        route(address, query, seconds)
    return caught.value


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def address(echo: Echo) -> Iterator[str]:
    with start([echo], "127.0.0.1:0", Limits(slots=2, grace_s=0.5)) as running:
        yield running.address
        echo.go.set()


def test_it_answers_at_the_port_that_it_picked(address: str) -> None:
    assert int(address.rpartition(":")[2]) > 0
    assert route(address, "hello") == "hello"


def test_health_is_serving_for_the_server_and_each_service(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for service in ("", "compendia.v1.Router"):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as caught:
            stub.Check(health_pb2.HealthCheckRequest(service="compendia.v1.Aggregator"), timeout=10)
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_reflection_lists_the_services(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = stub.ServerReflectionInfo(iter([asked]), timeout=10)
    names = {service.name for service in answer.list_services_response.service}
    assert names == {
        "compendia.v1.Router",
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


def test_a_full_server_says_busy_and_still_answers_health(address: str, echo: Echo) -> None:
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(route, address, "wait") for _ in range(2)]
        for _ in waiting:
            assert echo.entered.acquire(timeout=10)
        with grpc.insecure_channel(address) as channel:
            with pytest.raises(grpc.RpcError) as caught:
                RouterStub(channel).Route(pb.RouteRequest(query="x"), timeout=10)
            assert from_rpc_error(caught.value).code is ErrorCode.BUSY
            assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
            checked = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=10)
            assert checked.status == health_pb2.HealthCheckResponse.SERVING
        threading.Timer(0.3, echo.go.set).start()
        assert route(address, "patient") == "patient"  # tried again until a slot was free
        assert [one.result(10) for one in waiting] == ["wait", "wait"]


def test_a_slot_comes_back_after_an_error(address: str, echo: Echo) -> None:
    echo.fault = error(ErrorCode.EMPTY_QUERY, "nothing asked")
    for _ in range(5):
        assert refused(address, "raise").code is ErrorCode.EMPTY_QUERY
    assert route(address, "hello") == "hello"


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_error_survives_the_trip(address: str, echo: Echo, code: ErrorCode) -> None:
    problem = Problem(code, "was ist 天气?", "scenarios[3].tool", "do this")
    echo.fault = CompendiaError([problem, Problem(ErrorCode.BAD_ID, "second")])
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        RouterStub(channel).Route(pb.RouteRequest(query="raise"), timeout=10)
    assert caught.value.code().name == ERRORS[code].grpc_status
    assert from_rpc_error(caught.value).problems == echo.fault.problems


@pytest.mark.parametrize("letter", ["a", "天", "🦕"])
def test_many_long_problems_are_cut_and_counted(address: str, echo: Echo, letter: str) -> None:
    long = letter * 5000
    echo.fault = CompendiaError([Problem(ErrorCode.BAD_FIELD, long, f"tools[{n}]", long) for n in range(20)])
    back = refused(address, "raise")
    assert back.problems[0].path == "tools[0]"
    assert back.problems[0].message.endswith("…")
    kept = len(back.problems) - 1
    assert back.problems[-1].message == f"and {20 - kept} more problems"


@pytest.mark.parametrize("letter", ["a", "é", "天", "🦕"])
@pytest.mark.parametrize("problems", [1, 2, 20, 500])
def test_an_error_is_within_what_every_peer_takes(letter: str, problems: int) -> None:
    long = letter * 5000
    status = to_rpc_status(CompendiaError([Problem(ErrorCode.BAD_FIELD, long, long, long)] * problems))
    headline = len(quote(status.details))  # as HTTP/2 carries it
    details = sum(len(base64.b64encode(value)) for _, value in status.trailing_metadata)
    assert headline + details < 8192 - 300, "gRPC refuses more by chance; 300 for the names of the headers"


def test_a_bug_of_ours_is_internal(address: str, caplog: pytest.LogCaptureFixture) -> None:
    assert refused(address, "break").code is ErrorCode.INTERNAL
    assert "ZeroDivisionError" in caplog.text


def test_a_call_that_takes_too_long_is_a_deadline(address: str) -> None:
    assert refused(address, "wait", 0.3).code is ErrorCode.DEADLINE


def test_a_service_that_is_not_there_is_named(address: str) -> None:
    with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError) as caught:
        AggregatorStub(channel).RoundStatus(pb.RoundStatusRequest(), timeout=10)
    assert from_rpc_error(caught.value, address).code is ErrorCode.PROTOCOL


def test_nobody_there_is_unreachable_after_a_few_attempts() -> None:
    slept: list[float] = []
    with connect("127.0.0.1:1") as channel:
        stub = RouterStub(channel)
        with pytest.raises(CompendiaError) as caught:
            call(
                lambda left: stub.Route(pb.RouteRequest(), timeout=left),
                "127.0.0.1:1",
                Patience(timeout_s=20, attempts=3),
                sleep=slept.append,
            )
    assert caught.value.code is ErrorCode.UNREACHABLE
    assert len(slept) == 2


def test_a_refusal_is_not_tried_again() -> None:
    tried: list[float] = []

    def attempt(left: float) -> None:
        tried.append(left)
        raise error(ErrorCode.EQUIVOCATION, "no")

    with pytest.raises(CompendiaError):
        call(attempt, "x:1")
    assert len(tried) == 1


def test_a_taken_port_is_refused(address: str) -> None:
    with pytest.raises(CompendiaError, match="cannot listen") as caught:
        start([Echo()], address)
    assert caught.value.code is ErrorCode.USAGE


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(CompendiaError) as caught, connect("nowhere"):
        pass
    assert caught.value.code is ErrorCode.USAGE


def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    with start([Echo()], f"unix:{tmp_path}/router.sock") as running:
        assert route(running.address, "hello") == "hello"


_PROGRAM = """
import sys, time
from pathlib import Path
from compendia.wire.server import serve
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import RouterServicer
class Slow(RouterServicer):
    def Route(self, request, context):
        print("entered", flush=True)
        time.sleep(0.5)
        return pb.RouteResponse(plan_json="done")
serve([Slow()], "127.0.0.1:0", port_file=Path(sys.argv[1]), on_stop=lambda: print("stopped", flush=True))
"""


@pytest.mark.process
def test_sigterm_lets_running_calls_end(tmp_path: Path) -> None:
    port_file = tmp_path / "port"
    words = [sys.executable, "-c", _PROGRAM, str(port_file)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    ) as program:
        assert program.stderr is not None
        assert program.stdout is not None
        ready = program.stderr.readline().split()
        address = port_file.read_text().strip()
        assert ready == ["ready", address]
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(route, address, "slow")
            assert program.stdout.readline() == "entered\n"
            program.send_signal(signal.SIGTERM)
            assert answer.result(20) == "done"
        assert program.stdout.read() == "stopped\n"
    assert program.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["port"]
