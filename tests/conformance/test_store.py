"""What every `Store` must do. A new backend is one more line in `OPENERS`."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compendia.aggregator.store import (
    Evidence,
    SqlStore,
    Store,
    StoredContribution,
    StoredRound,
    StoredSnapshot,
)
from compendia.contract import CompendiaError, ErrorCode, Window

OPENERS: dict[str, Callable[[Path], Store]] = {
    "sqlite-file": lambda folder: SqlStore(folder / "state.db"),
    "sqlite-memory": lambda _: SqlStore(),
}
DURABLE = ["sqlite-file"]

ROUND = StoredRound(number=1, phase="open", quorum=2, deadline=1_800_000_000.5, members=("a", "b"))
JANUARY = Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z")


def _contribution(org: str = "a", digest: str = "d1", round: int = 1) -> StoredContribution:
    return StoredContribution(org, round, digest, compressed_bytes=3, records=7, window=JANUARY)


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path)
    opened.put_round(ROUND)
    yield opened
    opened.close()


def test_rounds_are_kept_and_replaced(store: Store) -> None:
    later = StoredRound(number=2, phase="open", quorum=1)
    closed = StoredRound(number=1, phase="closed", quorum=2, failure="no encoder")
    store.put_round(later)
    store.put_round(closed)
    assert store.rounds() == (closed, later)


def test_a_contribution_comes_back_as_it_was(store: Store) -> None:
    data = bytes(range(256))
    assert store.add_contribution(_contribution(), data)
    assert store.contributions() == (_contribution(),)
    assert store.contribution_data("a", 1, "d1") == data


def test_contributions_are_sorted_and_chosen_by_round(store: Store) -> None:
    store.put_round(StoredRound(number=2, phase="open", quorum=1))
    rows = [_contribution("b"), _contribution("a", round=2), _contribution("a")]
    for row in rows:
        store.add_contribution(row, b"x")
    assert store.contributions() == (rows[2], rows[0], rows[1])
    assert store.contributions(2) == (rows[1],)


def test_no_window_stays_none(store: Store) -> None:
    bare = StoredContribution("a", 1, "d1", 3, 7)
    store.add_contribution(bare, b"x")
    assert store.contributions() == (bare,)


def test_the_same_again_changes_nothing(store: Store) -> None:
    assert store.add_contribution(_contribution(), b"abc")
    assert not store.add_contribution(_contribution(), b"abc")
    assert len(store.contributions()) == 1
    assert store.evidence() == ()


def test_a_second_digest_is_refused_and_kept_as_evidence(store: Store) -> None:
    store.add_contribution(_contribution(), b"abc")
    for _ in range(2):
        with pytest.raises(CompendiaError) as caught:
            store.add_contribution(_contribution(digest="d2"), b"xyz")
        assert caught.value.code is ErrorCode.EQUIVOCATION
    assert store.contributions() == (_contribution(),)
    assert store.contribution_data("a", 1, "d1") == b"abc"
    assert store.evidence() == (Evidence("a", 1, kept="d1", refused="d2"),)


def test_another_digest_in_another_round_is_welcome(store: Store) -> None:
    store.put_round(StoredRound(number=2, phase="open", quorum=1))
    assert store.add_contribution(_contribution(), b"abc")
    assert store.add_contribution(_contribution(digest="d2", round=2), b"xyz")
    assert store.evidence() == ()


def test_a_round_that_nobody_opened_takes_nothing(store: Store) -> None:
    with pytest.raises(CompendiaError) as caught:
        store.add_contribution(_contribution(round=9), b"x")
    assert caught.value.code is ErrorCode.NO_OPEN_ROUND
    assert store.contributions() == ()


def test_snapshots_are_kept_in_order_and_once(store: Store) -> None:
    first = StoredSnapshot("r1-ff", 1, "d", 3)
    second = StoredSnapshot("r1-00", 1, "e", 3)
    for row, data in ((first, b"one"), (second, b"two"), (first, b"one")):
        store.put_snapshot(row, data)
    assert store.snapshots() == (first, second)
    assert store.snapshot_data("r1-ff") == b"one"


def test_an_unknown_revision_is_named(store: Store) -> None:
    with pytest.raises(CompendiaError, match="r9-none") as caught:
        store.snapshot_data("r9-none")
    assert caught.value.code is ErrorCode.UNKNOWN_REVISION


def test_of_racing_digests_exactly_one_counts(store: Store) -> None:
    def send(number: int) -> str:
        try:
            store.add_contribution(_contribution(digest=f"d{number}"), b"x")
        except CompendiaError as fault:
            return fault.code
        return "kept"

    with ThreadPoolExecutor(8) as pool:
        outcomes = sorted(pool.map(send, range(8)))
    assert outcomes == ["EQUIVOCATION"] * 7 + ["kept"]
    assert len(store.contributions()) == 1
    assert len(store.evidence()) == 7


@pytest.mark.parametrize("name", DURABLE)
def test_everything_is_there_after_reopening(name: str, tmp_path: Path) -> None:
    store = OPENERS[name](tmp_path)
    store.put_round(ROUND)
    store.add_contribution(_contribution(), b"abc")
    store.put_snapshot(StoredSnapshot("r1-ff", 1, "d", 3), b"one")
    store.close()
    again = OPENERS[name](tmp_path)
    assert again.rounds() == (ROUND,)
    assert again.contributions() == (_contribution(),)
    assert again.snapshot_data("r1-ff") == b"one"
    again.close()


@pytest.mark.parametrize("name", DURABLE)
def test_a_second_program_is_told_that_the_database_is_held(name: str, tmp_path: Path) -> None:
    store = OPENERS[name](tmp_path)
    with pytest.raises(CompendiaError, match=r"state\.db") as caught:
        OPENERS[name](tmp_path)
    assert caught.value.code is ErrorCode.USAGE
    store.close()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, not a database\n" * 100)
    with pytest.raises(CompendiaError, match=r"notes\.txt") as caught:
        SqlStore(path)
    assert caught.value.code is ErrorCode.USAGE


_WRITER = """
import sys
from pathlib import Path
from compendia.aggregator.store import SqlStore, StoredContribution, StoredRound
store = SqlStore(Path(sys.argv[1]))
store.put_round(StoredRound(number=1, phase="open", quorum=2))
for number in range(10_000):
    store.add_contribution(StoredContribution(f"org{number}", 1, f"d{number}", 4000, 1), b"x" * 4000)
    print(number, flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize("acknowledged", [1, 7, 40])
def test_what_was_acknowledged_survives_a_kill(acknowledged: int, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(acknowledged)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = SqlStore(path)
    kept = {row.org for row in store.contributions()}
    assert {f"org{number}" for number in said} <= kept
    assert len(kept) <= len(said) + 1  # at most the one that was under way
    assert store.contribution_data("org0", 1, "d0") == b"x" * 4000
    assert not store.add_contribution(StoredContribution("org0", 1, "d0", 4000, 1), b"x" * 4000)
    store.close()
