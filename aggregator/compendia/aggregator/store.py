"""What the aggregator must not forget, in a SQL database: rounds, contributions, evidence, snapshots.

Every method that writes has committed, and the bytes are on the disk, when it returns: only then may the
service acknowledge. The rules that a crash or a second request could break are constraints of the tables.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.pool import StaticPool

from compendia.contract import ErrorCode, Window, error

from .tables import CONTRIBUTIONS, EQUIVOCATIONS, META, ROUNDS, SNAPSHOTS, WINDOWS


@dataclass(frozen=True)
class StoredContribution:
    """A contribution without its bytes. compressed_bytes: their number; window: what its statistics count."""

    org: str
    round: int
    digest: str
    compressed_bytes: int
    records: int
    window: Window | None = None


@dataclass(frozen=True)
class StoredRound:
    """A round. deadline: UTC seconds since the epoch, or None; members: who may contribute, empty for any."""

    number: int
    phase: str
    quorum: int
    deadline: float | None = None
    members: tuple[str, ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class StoredSnapshot:
    """A snapshot without its bytes. digest: SHA-256 (hex) over them."""

    revision: str
    round: int
    digest: str
    compressed_bytes: int


@dataclass(frozen=True)
class Evidence:
    """One organization sent two digests in one round: the one that counts, and the one refused."""

    org: str
    round: int
    kept: str
    refused: str


class Store(Protocol):
    """Where the service keeps its state. Implementations pass `tests/conformance/test_store.py`."""

    def put_round(self, row: StoredRound) -> None:
        """Insert the round, or replace what was known of it."""

    def rounds(self) -> tuple[StoredRound, ...]:
        """All rounds, oldest first."""

    def add_contribution(self, row: StoredContribution, data: bytes) -> bool:
        """Keep a contribution; False when exactly it was there already.

        Raises EQUIVOCATION when the organization has other bytes in this round (they stay; the new ones
        are kept as evidence), NO_OPEN_ROUND when the round was never stored.
        """

    def contributions(self, round: int | None = None) -> tuple[StoredContribution, ...]:
        """Contributions of one round, or of all, sorted by (round, org)."""

    def contribution_data(self, org: str, round: int, digest: str) -> bytes:
        """The bytes as received."""

    def evidence(self) -> tuple[Evidence, ...]:
        """All equivocations, sorted by (round, org, refused)."""

    def put_snapshot(self, row: StoredSnapshot, data: bytes) -> None:
        """Keep a snapshot; the same revision again changes nothing."""

    def snapshots(self) -> tuple[StoredSnapshot, ...]:
        """All snapshots, in the order in which they were kept."""

    def snapshot_data(self, revision: str) -> bytes:
        """A snapshot's bytes. Raises UNKNOWN_REVISION."""

    def close(self) -> None:
        """Give the database free."""


class SqlStore:
    """`Store` over one SQLite connection: WAL, `synchronous=FULL`, foreign keys, one program at a time.

    path None keeps everything in memory. Raises USAGE when the file cannot be used, or another program holds
    it. Threads take turns: every operation is short, and the disk bounds it, not we.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._turn = threading.RLock()
        url = sa.URL.create("sqlite", database=str(path) if path else None)
        # StaticPool: the one connection; it holds the database's lock, so that no second aggregator can.
        self._engine = sa.create_engine(
            url, poolclass=StaticPool, connect_args={"check_same_thread": False, "timeout": 1.0}
        )
        sa.event.listen(self._engine, "connect", _set_up)
        sa.event.listen(self._engine, "begin", lambda c: c.exec_driver_sql("BEGIN IMMEDIATE"))
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            with self._engine.begin() as db:
                META.create_all(db)
        except (DatabaseError, OSError) as fault:
            self._engine.dispose()
            cause = getattr(fault, "orig", None) or fault
            raise error(
                ErrorCode.USAGE,
                f"cannot use {path} as the database: {cause}",
                "--db",
                "choose another file, or stop the aggregator that holds this one",
            ) from None

    def put_round(self, row: StoredRound) -> None:
        values = {**vars(row), "members": list(row.members)}
        with self._transaction() as db:
            known = db.scalar(sa.select(ROUNDS.c.number).where(ROUNDS.c.number == row.number))
            if known is None:
                db.execute(ROUNDS.insert().values(values))
            else:
                db.execute(ROUNDS.update().where(ROUNDS.c.number == row.number).values(values))

    def rounds(self) -> tuple[StoredRound, ...]:
        rows = self._read(sa.select(ROUNDS).order_by(ROUNDS.c.number))
        return tuple(StoredRound(**{**row, "members": tuple(row["members"])}) for row in rows)

    def add_contribution(self, row: StoredContribution, data: bytes) -> bool:
        kept = self._keep(row, data)
        if kept == row.digest:
            return False
        if kept:
            raise error(
                ErrorCode.EQUIVOCATION,
                f"{row.org} sent {kept} in round {row.round} already, this is {row.digest}",
                "digest",
            )
        return True

    def _keep(self, row: StoredContribution, data: bytes) -> str:
        """Keep it; returns the digest that stood in its place already, or "" when there was none."""
        key = {"org": row.org, "round": row.round}
        same_place = sa.and_(CONTRIBUTIONS.c.org == row.org, CONTRIBUTIONS.c.round == row.round)
        try:
            with self._transaction() as db:
                kept = db.scalar(sa.select(CONTRIBUTIONS.c.digest).where(same_place))
                if kept is None:
                    size = {"compressed_bytes": row.compressed_bytes, "records": row.records}
                    db.execute(CONTRIBUTIONS.insert().values(**key, digest=row.digest, **size, data=data))
                    if row.window is not None:
                        window = {"start": row.window.start, "end": row.window.end}
                        db.execute(WINDOWS.insert().values(**key, digest=row.digest, **window))
                    return ""
                if kept != row.digest:
                    refused = {"refused": row.digest, "kept": kept, "data": data}
                    db.execute(EQUIVOCATIONS.insert().prefix_with("OR IGNORE").values(**key, **refused))
                return str(kept)
        except IntegrityError:
            raise error(ErrorCode.NO_OPEN_ROUND, f"round {row.round} is not known", "round") from None

    def contributions(self, round: int | None = None) -> tuple[StoredContribution, ...]:
        c, w = CONTRIBUTIONS.c, WINDOWS.c
        same = sa.and_(c.org == w.org, c.round == w.round, c.digest == w.digest)
        query = sa.select(c.org, c.round, c.digest, c.compressed_bytes, c.records, w.start, w.end)
        query = query.select_from(CONTRIBUTIONS.outerjoin(WINDOWS, same)).order_by(c.round, c.org)
        if round is not None:
            query = query.where(c.round == round)
        return tuple(_contribution(row) for row in self._read(query))

    def contribution_data(self, org: str, round: int, digest: str) -> bytes:
        c = CONTRIBUTIONS.c
        same = sa.and_(c.org == org, c.round == round, c.digest == digest)
        return self._one(sa.select(c.data).where(same), ErrorCode.INTERNAL, f"no contribution {digest}")

    def evidence(self) -> tuple[Evidence, ...]:
        e = EQUIVOCATIONS.c
        query = sa.select(e.org, e.round, e.kept, e.refused).order_by(e.round, e.org, e.refused)
        return tuple(Evidence(**row) for row in self._read(query))

    def put_snapshot(self, row: StoredSnapshot, data: bytes) -> None:
        with self._transaction() as db:
            db.execute(SNAPSHOTS.insert().prefix_with("OR IGNORE").values(**vars(row), data=data))

    def snapshots(self) -> tuple[StoredSnapshot, ...]:
        s = SNAPSHOTS.c
        query = sa.select(s.revision, s.round, s.digest, s.compressed_bytes).order_by(s.position)
        return tuple(StoredSnapshot(**row) for row in self._read(query))

    def snapshot_data(self, revision: str) -> bytes:
        query = sa.select(SNAPSHOTS.c.data).where(SNAPSHOTS.c.revision == revision)
        return self._one(query, ErrorCode.UNKNOWN_REVISION, f"no snapshot has the revision {revision!r}")

    def close(self) -> None:
        with self._turn:
            self._engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        """One durable transaction. Raises INTERNAL when the database fails, such as on a full disk."""
        try:
            with self._turn, self._engine.begin() as db:
                yield db
        except OperationalError as fault:
            raise error(
                ErrorCode.INTERNAL,
                f"the database failed: {fault.orig}",
                fix="check the disk and its free space",
            ) from None

    def _read(self, query: sa.Select[Any]) -> Sequence[dict[str, Any]]:
        with self._transaction() as db:
            return [dict(row) for row in db.execute(query).mappings()]

    def _one(self, query: sa.Select[Any], code: ErrorCode, message: str) -> bytes:
        with self._transaction() as db:
            data = db.scalar(query)
        if data is None:
            raise error(code, message, "revision")
        return bytes(data)


def _set_up(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # we begin transactions ourselves, so that they lock from the start
    for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _contribution(row: dict[str, Any]) -> StoredContribution:
    start, end = row.pop("start"), row.pop("end")
    return StoredContribution(**row, window=Window(start=start, end=end) if start else None)
