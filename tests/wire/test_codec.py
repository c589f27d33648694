"""The codec: documents survive the trip, equal ones as equal bytes, and bad ones are refused with a place."""

import io
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import (
    Annex,
    CallTemplate,
    Claim,
    CompendiaError,
    Compendium,
    Endpoint,
    ErrorCode,
    Member,
    Parameter,
    Precaution,
    Scenario,
    SchemaDefinition,
    Snapshot,
    StanceConflict,
    ToolMetadata,
    Usage,
    Window,
    seal,
    strict_json,
)
from compendia.contract.document import dumps
from compendia.wire.codec import (
    CompendiumReader,
    SnapshotReader,
    check_versions,
    decode,
    decode_snapshot,
    encode,
    encode_snapshot,
)
from compendia.wire.framing import Caps, compress, lines

WINDOW = Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z")
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
PART = st.from_regex(r"[a-z0-9]{1,12}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT.filter(lambda t: t != "$ref"), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def compendiums(draw: st.DrawFn) -> Compendium:
    """Valid compendia with every section."""
    ids = [
        f"acme/{namespace}/{name}"
        for namespace, name in draw(st.sets(st.tuples(PART, PART), min_size=1, max_size=4))
    ]
    tools = tuple(
        ToolMetadata(
            id=identity,
            description=draw(TEXT),
            endpoints=(
                Endpoint(
                    name="main", title=draw(TEXT), parameters=(Parameter(name="q", json_schema=draw(JSON)),)
                ),
            ),
        )
        for identity in ids
    )
    some = st.sampled_from(ids)
    texts = draw(st.lists(st.tuples(some, TEXT), unique=True, max_size=5))
    count = st.integers(0, 1000)
    return Compendium(
        org="org",
        window=WINDOW,
        definitions=tuple(SchemaDefinition(id=identity, body=draw(JSON)) for identity in ids[:1]),
        tools=tools,
        usage=tuple(Usage(tool=identity, successes=draw(count), failures=draw(count)) for identity in ids),
        scenarios=tuple(
            Scenario(tool=tool, text=text, endpoint="main", count=draw(count)) for tool, text in texts
        ),
        precautions=tuple(Precaution(tool=tool, text=text, evidence=draw(TEXT)) for tool, text in texts[:2]),
        templates=tuple(
            CallTemplate(tool=identity, endpoint="main", arguments={"q": draw(JSON)}) for identity in ids[:2]
        ),
        annex=tuple(Annex(tool=identity, key="x-own", value=draw(JSON)) for identity in ids[:2]),
    )


def _small(**changes: Any) -> Compendium:
    tool = ToolMetadata(id="acme/weather/forecast", endpoints=(Endpoint(name="main"),))
    scenario = Scenario(tool=tool.id, text="weather in <TEXT>", endpoint="main")
    return Compendium(org="org", tools=(tool,), scenarios=(scenario,)).model_copy(update=changes)


def _bytes(compendium: Compendium) -> bytes:
    return b"".join(encode(compendium))


def _rows(*rows: Any) -> io.BytesIO:
    """A stream of these lines with a right end line."""
    numbered = [*rows, ["end", {"lines": len(rows)}]]
    return io.BytesIO(b"".join(compress((strict_json.canonical(row) + "\n").encode() for row in numbered)))


HEADER = ["compendium", {"schema_version": 1, "org": "org"}]
TOOL = ["tools", {"id": "acme/weather/forecast"}]


@given(compendiums())
def test_a_compendium_survives_the_trip(compendium: Compendium) -> None:
    back = decode(io.BytesIO(_bytes(compendium)))
    assert dumps(back) == dumps(compendium)


@given(compendiums(), st.randoms(use_true_random=False))
def test_equal_documents_are_equal_bytes(compendium: Compendium, order: random.Random) -> None:
    shuffled = {
        name: tuple(order.sample(list(value), len(value)))
        for name in Compendium.model_fields
        if isinstance(value := getattr(compendium, name), tuple)
    }
    assert _bytes(compendium.model_copy(update=shuffled)) == _bytes(compendium)


def _snapshot(compendium: Compendium) -> Snapshot:
    conflict = StanceConflict(
        tool=compendium.tools[0].id,
        field="stance",
        text="weather",
        winner=Claim(value="use", supporters=("a", "b")),
        dissent=(Claim(value="do_not", supporters=("c",)),),
        resolved_by="majority",
    )
    merged = compendium.model_copy(
        update={
            "org": "",
            "scenarios": tuple(s.model_copy(update={"support": 2}) for s in compendium.scenarios),
        }
    )
    return seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder="hashing",
        members=(Member(org="a", round=1, digest="0" * 64),),
        compendium=merged,
        conflicts=(conflict,),
    )


@given(compendiums())
def test_a_snapshot_survives_the_trip_with_what_the_merge_computed(compendium: Compendium) -> None:
    snapshot = _snapshot(compendium)
    assert decode_snapshot(io.BytesIO(b"".join(encode_snapshot(snapshot)))) == snapshot


@given(compendiums(), compendiums())
def test_the_next_snapshot_reads_as_if_it_were_the_first(one: Compendium, other: Compendium) -> None:
    reader = SnapshotReader()
    for snapshot in (_snapshot(one), _snapshot(other), _snapshot(one), _snapshot(one)):
        data = b"".join(encode_snapshot(snapshot))
        read = reader.read(io.BytesIO(data))
        assert read == decode_snapshot(io.BytesIO(data)) == snapshot
        assert b"".join(encode_snapshot(read)) == data


def test_a_line_that_the_last_snapshot_had_gives_the_same_record_and_is_checked_with_the_others() -> None:
    reader = SnapshotReader()
    snapshot = _snapshot(_small())
    first = reader.read(io.BytesIO(b"".join(encode_snapshot(snapshot))))
    again = reader.read(io.BytesIO(b"".join(encode_snapshot(snapshot))))
    assert again.compendium.tools[0] is first.compendium.tools[0]
    lost = snapshot.compendium.model_copy(update={"tools": ()})
    with pytest.raises(CompendiaError) as caught:
        reader.read(io.BytesIO(b"".join(encode_snapshot(snapshot.model_copy(update={"compendium": lost})))))
    assert ErrorCode.UNKNOWN_TOOL in {problem.code for problem in caught.value.problems}


def test_a_snapshot_under_a_false_revision_is_refused() -> None:
    snapshot = _snapshot(_small()).model_copy(update={"revision": "r1-0000000000000000"})
    with pytest.raises(CompendiaError) as caught:
        decode_snapshot(io.BytesIO(b"".join(encode_snapshot(snapshot))))
    assert caught.value.code is ErrorCode.DIGEST_MISMATCH


def test_a_compendium_is_no_snapshot_and_the_other_way_round() -> None:
    with pytest.raises(CompendiaError, match="expected is 'snapshot'"):
        decode_snapshot(io.BytesIO(_bytes(_small())))
    with pytest.raises(CompendiaError, match="expected is 'compendium'"):
        decode(io.BytesIO(b"".join(encode_snapshot(_snapshot(_small())))))


def test_the_reader_gives_the_header_first_and_then_typed_records() -> None:
    reader = CompendiumReader(io.BytesIO(_bytes(_small())))
    assert reader.header.org == "org"
    assert [(section, type(record)) for section, record in reader] == [
        ("tools", ToolMetadata),
        ("scenarios", Scenario),
    ]
    assert reader.counts == {"tools": 1, "scenarios": 1}


def test_tools_of_the_pinned_snapshot_are_known() -> None:
    compendium = _small(tools=(), pinned="r7")
    asked = []

    def known(revision: str) -> dict[str, list[str]]:
        asked.append(revision)
        return {"acme/weather/forecast": ["main"]}

    assert decode(io.BytesIO(_bytes(compendium)), known).scenarios == compendium.scenarios
    assert asked == ["r7"]
    with pytest.raises(CompendiaError) as caught:
        decode(io.BytesIO(_bytes(compendium)))
    assert caught.value.code is ErrorCode.UNKNOWN_TOOL


def test_every_problem_is_told_with_its_place() -> None:
    stream = _rows(
        HEADER,
        TOOL,
        ["scenarios", {"tool": "acme/weather/nowhere", "text": "x"}],
        ["scenarios", {"tool": "acme/weather/forecast", "text": "y", "count": -1}],
        ["scenarios", {"tool": "acme/weather/forecast", "text": "z", "support": 3}],
    )
    with pytest.raises(CompendiaError) as caught:
        decode(stream)
    assert {(p.code, p.path) for p in caught.value.problems} == {
        (ErrorCode.UNKNOWN_TOOL, "scenarios[0].tool"),
        (ErrorCode.OUT_OF_RANGE, "scenarios[1].count"),
        (ErrorCode.COMPUTED_FIELD, "scenarios[2].support"),
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'["tools", {"id": "a/b/c", "id": "a/b/d"}]', ErrorCode.DUPLICATE_KEY),
        (b'["annex", {"tool": "a/b/c", "key": "x-n", "value": NaN}]', ErrorCode.NOT_A_NUMBER),
        (b'["tools", {"id": "a/b/c", "title": "\\ud800"}]', ErrorCode.BAD_TEXT),
        (b'["tools"', ErrorCode.INVALID_JSON),
        (b'{"tools": 1}', ErrorCode.PROTOCOL),
        (b'["recipes", {}]', ErrorCode.BAD_FIELD),
    ],
)
def test_a_bad_line_is_refused(line: bytes, code: ErrorCode) -> None:
    head = strict_json.canonical(HEADER).encode()
    data = b"".join(compress([head + b"\n", line + b"\n", b'["end",{"lines":2}]\n']))
    with pytest.raises(CompendiaError) as caught:
        decode(io.BytesIO(data))
    assert caught.value.code is code
    assert "2" in caught.value.problems[0].path or code is ErrorCode.BAD_FIELD


def test_lines_that_break_off_or_go_on_are_refused() -> None:
    kept = list(lines(io.BytesIO(_bytes(_small()))))
    for rows in (kept[:-1], [*kept, kept[1]], [*kept[:1], *kept[2:]]):
        with pytest.raises(CompendiaError) as caught:
            decode(io.BytesIO(b"".join(compress(row + b"\n" for row in rows))))
        assert caught.value.code is ErrorCode.PROTOCOL


def test_bytes_that_break_off_are_refused_wherever_they_do() -> None:
    data = _bytes(_small())
    for size in range(len(data) - 4):  # the last four bytes are zstd's checksum; the digest covers them
        with pytest.raises(CompendiaError) as caught:
            decode(io.BytesIO(data[:size]))
        assert caught.value.code is ErrorCode.PROTOCOL


def test_a_document_over_the_cap_is_refused_on_both_sides() -> None:
    caps = Caps(document_bytes=100)
    with pytest.raises(CompendiaError, match="cap of 100 bytes"):
        list(encode(_small(), caps))
    with pytest.raises(CompendiaError, match="cap of 100 bytes"):
        decode(io.BytesIO(_bytes(_small())), caps=caps)


def test_a_schema_version_of_another_time_names_both() -> None:
    stream = _rows(["compendium", {"schema_version": 7, "org": "org"}])
    with pytest.raises(CompendiaError, match="version 7, this program reads version 1") as caught:
        decode(stream)
    assert caught.value.code is ErrorCode.SCHEMA_VERSION


def test_versions_that_overlap_pass_and_others_name_both() -> None:
    check_versions(1, 1)
    check_versions(1, 9)
    with pytest.raises(
        CompendiaError, match="the client speaks schema version 2 to 9, the server 1"
    ) as caught:
        check_versions(2, 9)
    assert caught.value.problems[0].fix == "upgrade the server"
    with pytest.raises(CompendiaError, match="the client speaks schema version 0, the server 1"):
        check_versions(0, 0)
