"""The golden transcript of a merge. Made anew with `COMPENDIA_GOLDEN=write pytest tests/aggregator`."""

import os
from collections.abc import Iterator
from pathlib import Path

from golden_leaves import CONVERT, FORECAST, GOLDEN, REFUSED

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.view import view
from compendia.contract import Snapshot
from compendia.contract.document import dumps
from compendia.text.encode import HashingEncoder

TRANSCRIPT = Path(__file__).parent.parent / "golden" / "merge.txt"


def test_the_merge_reads_as_it_did() -> None:
    found = "\n".join(_lines(_snapshot())) + "\n"
    if os.environ.get("COMPENDIA_GOLDEN") == "write":
        TRANSCRIPT.write_text(found, encoding="utf-8")
    assert found == TRANSCRIPT.read_text(encoding="utf-8")


def test_every_kind_of_conflict_occurs_and_is_resolved_as_designed() -> None:
    snapshot = _snapshot()
    kinds = {(c.kind, c.resolved_by) for c in snapshot.conflicts}
    assert kinds == {
        ("stance", "majority"),
        ("stance", "none"),
        ("definition", "owner"),
        ("definition", "majority"),
        ("licence", "kept_all"),
        ("provenance", "kept_all"),
        ("equivocation", "first"),
        ("equivocation", "none"),
    }
    tools = {t.id: t for t in snapshot.compendium.tools}
    assert tools[FORECAST].description == "Forecasts the weather."
    assert tools[FORECAST].licences == ("CC-BY-4.0", "MIT")
    assert tools[CONVERT].description == "Converts money."
    assert [m.org for m in snapshot.members] == ["ada", "bee", "cyd"]
    tied = [r.tool for r in (*snapshot.compendium.scenarios, *snapshot.compendium.precautions)]
    assert tied.count(CONVERT) == 2  # a tie keeps both sides


def _snapshot() -> Snapshot:
    return view(
        GOLDEN,
        grants={"acme": "ada"},
        encoder=HashingEncoder(64),
        executor=SerialExecutor(),
        round=1,
        equivocations=REFUSED,
    )


def _lines(snapshot: Snapshot) -> Iterator[str]:
    yield f"revision {snapshot.revision}"
    for member in snapshot.members:
        yield f"member {member.org} round {member.round} {member.digest[:12]}"
    yield dumps(snapshot.compendium).rstrip()
    for conflict in snapshot.conflicts:
        won = (
            f"{conflict.winner.value!r} by {', '.join(conflict.winner.supporters)}"
            if conflict.winner
            else "nobody"
        )
        yield f"conflict {conflict.kind} {conflict.tool} {conflict.field}: {won} ({conflict.resolved_by})"
        for claim in conflict.dissent:
            yield f"    against: {claim.value!r} by {', '.join(claim.supporters)}"
        if conflict.do_not_use_when():
            yield f"    card: {conflict.do_not_use_when()}"
