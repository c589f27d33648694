"""The document: one canonical text, which is read back as what was written."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import compendia

from compendia.contract import (
    SECTIONS,
    CompendiaError,
    Compendium,
    ErrorCode,
    Member,
    Scenario,
    ToolMetadata,
    document,
    seal,
)
from compendia.contract.document import dumps, loads, records, sorted_compendium

slow_to_draw = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
both_stages = st.sampled_from(["raw", "noised"]).flatmap(compendia)


@slow_to_draw
@given(both_stages)
def test_what_is_read_back_is_what_was_written(made: Compendium) -> None:
    document.check(made)
    assert loads(dumps(made)) == sorted_compendium(made)
    assert loads(dumps(made).encode()) == sorted_compendium(made)


@slow_to_draw
@given(both_stages, st.integers())
def test_equal_compendia_have_equal_bytes(made: Compendium, seed: int) -> None:
    shuffle = random.Random(seed)
    mixed = made.model_copy(
        update={name: tuple(shuffle.sample(found := getattr(made, name), len(found))) for name in SECTIONS}
    )
    assert dumps(mixed) == dumps(made)
    assert dumps(loads(dumps(made))) == dumps(made)


@slow_to_draw
@given(both_stages)
def test_one_record_stands_on_one_line(made: Compendium) -> None:
    text = dumps(made)
    assert text.endswith("\n")
    filled = [name for name in SECTIONS if getattr(made, name)]
    assert len(text.split("\n")) - 1 == 1 + 2 * len(filled) + sum(1 for _ in records(made))
    assert json.loads(text)["schema_version"] == 1


def test_fields_at_their_default_are_left_out() -> None:
    tool = ToolMetadata(id="a/b/c")
    assert dumps(Compendium(org="acme", tools=(tool,))) == (
        '{"org":"acme","schema_version":1,\n"tools":[\n{"id":"a/b/c"}\n]}\n'
    )


def test_a_section_that_is_no_list_is_refused() -> None:
    with pytest.raises(CompendiaError) as caught:
        loads('{"schema_version":1,"org":"acme","tools":{}}')
    assert (caught.value.code, caught.value.problems[0].path) == (ErrorCode.BAD_FIELD, "tools")


def test_check_is_as_strict_as_reading() -> None:
    made = Compendium(org="acme", scenarios=(Scenario(tool="a/b/c", text="x"),))
    with pytest.raises(CompendiaError) as checked:
        document.check(made)
    with pytest.raises(CompendiaError) as read:
        loads(dumps(made))
    assert checked.value.problems == read.value.problems


def test_known_tools_count_as_registered() -> None:
    made = Compendium(org="acme", scenarios=(Scenario(tool="a/b/c", text="x", endpoint="call"),))
    document.check(made, {"a/b/c": ["call"]})
    with pytest.raises(CompendiaError) as caught:
        document.check(made, {"a/b/c": ["other"]})
    assert caught.value.code is ErrorCode.UNKNOWN_ENDPOINT


def test_a_file_survives(tmp_path: Path) -> None:
    made = Compendium(org="acme", tools=(ToolMetadata(id="a/b/c", description="días 天"),))
    document.dump(made, tmp_path / "acme.json")
    assert document.load(tmp_path / "acme.json") == made


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, name: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        document.load(tmp_path / name)
    assert caught.value.code is ErrorCode.SOURCE_UNREADABLE
    assert str(tmp_path / name) in str(caught.value)


@slow_to_draw
@given(compendia())
def test_a_snapshot_survives(made: Compendium) -> None:
    merged = made.model_copy(update={"org": ""})
    snapshot = seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder="hashing-0",
        members=(Member(org="acme", round=1, digest="0" * 64),),
        compendium=merged,
        conflicts=(),
    )
    assert document.snapshot_loads(document.snapshot_dumps(snapshot)) == snapshot
    assert snapshot.revision.startswith("r1-")


def test_a_revision_depends_on_everything_in_the_snapshot() -> None:
    parts = {
        "parent": "",
        "round": 1,
        "policy": "majority",
        "encoder": "hashing-0",
        "members": (),
        "compendium": Compendium(),
        "conflicts": (),
    }
    changes = {
        "parent": "r0-x",
        "round": 2,
        "policy": "other",
        "encoder": "e5-0",
        "members": (Member(org="acme", round=1, digest="0"),),
        "compendium": Compendium(tools=(ToolMetadata(id="a/b/c"),)),
    }
    revisions = {seal(**parts).revision}  # type: ignore[arg-type]
    revisions |= {seal(**(parts | {name: value})).revision for name, value in changes.items()}  # type: ignore[arg-type]
    assert len(revisions) == 1 + len(changes)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("[]", "$"),
        ('{"org":"acme"}', "$"),
        ('{"compendium":{},"revision":1}', "revision"),
        ('{"compendium":{"tools":[{"id":"X/y/z"}]}}', "tools[0].id"),
    ],
)
def test_a_bad_snapshot_is_refused_with_its_place(text: str, path: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        document.snapshot_loads(text)
    assert path in [p.path for p in caught.value.problems]
