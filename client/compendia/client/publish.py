"""Publish: one compendium, encoded once, to one round; every retry sends the same bytes.

The encoded bytes lie in a temporary file, so that neither a second copy nor a retry costs memory.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from compendia.contract import CompendiaError, Compendium, ErrorCode, error
from compendia.wire.channel import DEFAULT_PATIENCE, Patience, call, connect
from compendia.wire.codec import encode
from compendia.wire.fetch import spoken_versions
from compendia.wire.framing import CHUNK_BYTES, Receiver
from compendia.wire.v1 import compendia_pb2 as pb
from compendia.wire.v1.compendia_pb2_grpc import AggregatorStub

_POLL_S = 0.25


@dataclass(frozen=True)
class Receipt:
    """The aggregator's word that it holds the bytes. repeated: it held them before."""

    org: str
    round: int
    digest: str
    wire_bytes: int
    records: int
    repeated: bool


@dataclass(frozen=True)
class Upload:
    """A compendium as the bytes to send, in an open temporary file."""

    org: str
    digest: str
    wire_bytes: int
    file: IO[bytes]

    def messages(self, round: int) -> Iterator[pb.PublishRequest]:
        """The messages of one attempt. Two attempts may overlap: each reads at its own place."""
        yield pb.PublishRequest(
            header=pb.PublishHeader(
                schema_versions=spoken_versions(),
                org=self.org,
                round=round,
                digest=self.digest,
                compressed_bytes=self.wire_bytes,
            )
        )
        for start in range(0, self.wire_bytes, CHUNK_BYTES):
            yield pb.PublishRequest(chunk=os.pread(self.file.fileno(), CHUNK_BYTES, start))


@contextmanager
def encoded(compendium: Compendium) -> Iterator[Upload]:
    """The compendium's upload, its bytes gone at the end of the block. Raises TOO_LARGE."""
    with tempfile.TemporaryFile() as file:
        receiver = Receiver(file)
        for chunk in encode(compendium):
            receiver.write(chunk)
        file.flush()
        yield Upload(compendium.org, receiver.digest, receiver.compressed_bytes, file)


def publish(
    address: str,
    compendium: Compendium,
    *,
    round: int = 0,
    next_round: bool = False,
    patience: Patience = DEFAULT_PATIENCE,
    sleep: Callable[[float], None] = time.sleep,
) -> Receipt:
    """Send a compendium to the aggregator; returns once it is durable there.

    round: which one, 0 for the one that is open now. The number is settled before the first byte, so that a
    retry can never end up in another round. next_round: when the round is closed, wait for the one that opens
    next and send the same bytes there, within the patience.
    Raises CompendiaError: ROUND_CLOSED (naming the next round), NO_OPEN_ROUND, EQUIVOCATION, TOO_LARGE, BUSY,
    UNREACHABLE, DEADLINE, and every validation error of the aggregator.
    """
    ends = time.monotonic() + patience.timeout_s
    with encoded(compendium) as upload, connect(address) as channel:
        stub = AggregatorStub(channel)
        while True:
            left = Patience(ends - time.monotonic(), patience.attempts, patience.wait_for_ready)
            try:
                number = round or _open_round(stub, address, left)
                return _send(stub, upload, number, address, left)
            except CompendiaError as fault:
                waiting = fault.code in (ErrorCode.ROUND_CLOSED, ErrorCode.NO_OPEN_ROUND)
                if not (next_round and waiting and time.monotonic() + _POLL_S < ends):
                    raise
            round = 0
            sleep(_POLL_S)


def _open_round(stub: AggregatorStub, address: str, patience: Patience) -> int:
    def ask(seconds: float) -> pb.RoundState:
        request = pb.RoundStatusRequest()
        state: pb.RoundState = stub.RoundStatus(
            request, timeout=seconds, wait_for_ready=patience.wait_for_ready
        )
        return state

    state = call(ask, address, patience)
    if state.phase != pb.ROUND_PHASE_OPEN:
        last = f"round {state.round} is over" if state.round else "no round was opened yet"
        raise error(ErrorCode.NO_OPEN_ROUND, f"{last}; the next will be round {state.round + 1}", "round")
    return int(state.round)


def _send(stub: AggregatorStub, upload: Upload, round: int, address: str, patience: Patience) -> Receipt:
    def attempt(seconds: float) -> pb.PublishReceipt:
        receipt: pb.PublishReceipt = stub.Publish(
            upload.messages(round), timeout=seconds, wait_for_ready=patience.wait_for_ready
        )
        return receipt

    told = call(attempt, address, patience)
    if (told.org, told.digest) != (upload.org, upload.digest):
        raise error(ErrorCode.PROTOCOL, "the receipt is for other bytes than were sent", "receipt")
    return Receipt(
        told.org, int(told.round), told.digest, int(told.compressed_bytes), int(told.records), told.repeated
    )
