"""An aggregator on loopback, in this process, over real gRPC: what the tests of service and client share."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from compendia.aggregator.coordinator import Coordinator, MergeSettings
from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.service import DEFAULT_SETTINGS, AggregatorService, ServiceSettings
from compendia.aggregator.store import SqlStore, Store
from compendia.contract import CompendiaError, Compendium, Endpoint, Scenario, ToolMetadata, Usage, Window
from compendia.text.encode import Encoder, HashingEncoder, Vectors
from compendia.wire.channel import Patience
from compendia.wire.codec import encode
from compendia.wire.fetch import spoken_versions
from compendia.wire.server import Limits, start
from compendia.wire.status import from_rpc_error
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub

TOOL = "acme/weather/forecast"
JANUARY = Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z")
FEBRUARY = Window(start="2026-02-01T00:00:00Z", end="2026-03-01T00:00:00Z")
QUICK = Patience(timeout_s=20.0)


@dataclass
class Clock:
    """Time as a test wants it: seconds since the epoch."""

    now_s: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Loopback:
    """A running aggregator."""

    address: str
    coordinator: Coordinator
    store: Store
    clock: Clock = field(default_factory=Clock)


@contextmanager
def aggregator(
    path: Path | None = None,
    *,
    settings: ServiceSettings = DEFAULT_SETTINGS,
    limits: Limits | None = None,
    encoder: Encoder | None = None,
    executor: Any = SerialExecutor,
    clock: Clock | None = None,
) -> Iterator[Loopback]:
    """An aggregator that answers, its database at `path` or in memory."""
    clock = clock or Clock()
    store = SqlStore(path)
    merging = MergeSettings(encoder=encoder or HashingEncoder(), executor=executor, grants={"acme": "alpha"})
    with Coordinator(store, merging, clock) as coordinator:
        service = AggregatorService(coordinator, settings)
        with start([service], "127.0.0.1:0", limits or Limits(slots=16, grace_s=0.5)) as running:
            yield Loopback(running.address, coordinator, store, clock)
    store.close()


def compendium(org: str = "alpha", text: str = "weather in <TEXT>", **changes: Any) -> Compendium:
    """A small valid compendium of one tool."""
    tool = ToolMetadata(id=TOOL, description="Forecasts", endpoints=(Endpoint(name="main"),))
    scenario = Scenario(tool=TOOL, text=text, endpoint="main")
    usage = Usage(tool=TOOL, successes=3, failures=1)
    base = Compendium(org=org, window=JANUARY, tools=(tool,), usage=(usage,), scenarios=(scenario,))
    return base.model_copy(update=changes)


def wire_bytes(made: Compendium) -> bytes:
    return b"".join(encode(made))


def header(data: bytes, org: str = "alpha", round: int = 1, **changes: Any) -> pb.PublishRequest:
    """The right header for these bytes, but for the changes."""
    said: dict[str, Any] = {
        "schema_versions": spoken_versions(),
        "org": org,
        "round": round,
        "digest": hashlib.sha256(data).hexdigest(),
        "compressed_bytes": len(data),
    }
    return pb.PublishRequest(header=pb.PublishHeader(**{**said, **changes}))


def chunks(data: bytes, size: int = 1000) -> list[pb.PublishRequest]:
    return [pb.PublishRequest(chunk=data[at : at + size]) for at in range(0, len(data), size)]


def refused(call: Callable[[], Any]) -> CompendiaError:
    """The error that a call ends with."""
    with pytest.raises(CompendiaError) as caught:
        call()
    return caught.value


def send_raw(address: str, messages: Any, timeout: float = 20.0) -> CompendiaError | pb.PublishReceipt:
    """Publish exactly these messages; returns the receipt or the error."""
    with grpc.insecure_channel(address) as channel:
        try:
            receipt: pb.PublishReceipt = AggregatorStub(channel).Publish(iter(messages), timeout=timeout)
        except grpc.RpcError as fault:
            return from_rpc_error(fault, address)
        return receipt


def refusal(address: str, messages: Any, timeout: float = 20.0) -> CompendiaError:
    answer = send_raw(address, messages, timeout)
    assert isinstance(answer, CompendiaError), answer
    return answer


def until(reached: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for what another thread does."""
    ends = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.01)


class SlowEncoder(HashingEncoder):
    """Encodes when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def encode_documents(self, texts: Any) -> Vectors:
        assert self.go.wait(30)
        return super().encode_documents(texts)
