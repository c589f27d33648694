"""Take one upload in: bytes to a spool, checked against caps and digest, then validated record by record.

Receiving and validating take turns in separate slots: a slow sender does not keep others from being
validated, and however many send at once, only a few uploads are unpacked at a time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from compendia.contract import Compendium, ErrorCode, error
from compendia.contract.ids import check_part
from compendia.contract.validate import KnownTools
from compendia.wire.codec import CompendiumReader, check_versions
from compendia.wire.framing import UPLOAD_CAPS, Caps, Receiver
from compendia.wire.v1 import compendia_pb2 as pb

from .store import StoredContribution

SPOOL_BYTES = 512 * 1024
"""Of an upload, this much may stay in memory; the rest goes to a temporary file. Of one that is no larger the
records stay too, for the merge."""
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Slots:
    """So many at a time; the rest wait, no longer than their caller does."""

    def __init__(self, count: int, what: str) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._what = what

    @contextmanager
    def one(self, seconds: float | None) -> Iterator[None]:
        """Hold a slot. seconds: how long to wait for it, None for ever. Raises DEADLINE."""
        if not self._free.acquire(timeout=None if seconds is None else max(0.0, seconds)):
            raise error(ErrorCode.DEADLINE, f"no slot for {self._what} became free in time")
        try:
            yield
        finally:
            self._free.release()


@dataclass(frozen=True)
class Announced:
    """What the header of an upload says. round 0: whichever is open."""

    org: str
    round: int
    digest: str


def announced(messages: Iterator[pb.PublishRequest]) -> Announced:
    """The header, which must be the first message. Raises PROTOCOL, SCHEMA_VERSION, BAD_ID."""
    first = next(messages, None)
    if first is None or first.WhichOneof("part") != "header":
        raise error(ErrorCode.PROTOCOL, "an upload starts with its header", "header")
    header = first.header
    check_versions(header.schema_versions.min, header.schema_versions.max)
    check_part(header.org, "header.org")
    if not _DIGEST.fullmatch(header.digest):
        raise error(ErrorCode.PROTOCOL, "the digest is not the 64 hex digits of a SHA-256", "header.digest")
    return Announced(header.org, header.round, header.digest)


def receive(
    messages: Iterator[pb.PublishRequest], digest: str, spool: IO[bytes], caps: Caps = UPLOAD_CAPS
) -> None:
    """Take the chunks after the header into the spool. Raises TOO_LARGE, DIGEST_MISMATCH, PROTOCOL."""
    receiver = Receiver(spool, caps)
    for message in messages:
        if message.WhichOneof("part") != "chunk":
            raise error(ErrorCode.PROTOCOL, "after the header only chunks follow", "chunk")
        receiver.write(message.chunk)
    receiver.finish(digest)


def validated(
    spool: IO[bytes],
    claim: Announced,
    known: Callable[[str], KnownTools],
    caps: Caps = UPLOAD_CAPS,
) -> tuple[StoredContribution, Compendium | None]:
    """Read the whole upload once; of one over SPOOL_BYTES only ids are kept, and no compendium is returned.

    Raises CompendiaError with every problem found.
    """
    spool.seek(0, 2)
    size = spool.tell()
    spool.seek(0)
    reader = CompendiumReader(spool, known, caps)
    if reader.header.org != claim.org:
        raise error(
            ErrorCode.BAD_FIELD,
            f"the header of the upload says {claim.org!r}, the compendium {reader.header.org!r}",
            "org",
            "publish the compendium under its own organization",
        )
    whole = None
    if size <= SPOOL_BYTES:
        whole = reader.whole()
    else:
        for _ in reader:
            pass
    row = StoredContribution(
        org=claim.org,
        round=claim.round,
        digest=claim.digest,
        compressed_bytes=size,
        records=reader.counts.total(),
        window=reader.header.window,
    )
    return row, whole


def check_windows(new: StoredContribution, earlier: tuple[StoredContribution, ...]) -> None:
    """Raises WINDOW_OVERLAP when the organization's statistics of another round count the same time."""
    if new.window is None:
        return
    for old in earlier:
        if old.org != new.org or old.window is None or old.round == new.round:
            continue
        if new.window.start < old.window.end and old.window.start < new.window.end:
            raise error(
                ErrorCode.WINDOW_OVERLAP,
                f"{new.window.start} to {new.window.end} overlaps {old.window.start} to {old.window.end},"
                f" which round {old.round} counted",
                "window",
            )
