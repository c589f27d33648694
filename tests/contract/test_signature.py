"""Signatures: every field of every record has one, and the schema table shows them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest
from pydantic import BaseModel

from compendia.contract import SECTIONS, Annex, Compendium
from compendia.contract.compendium import COUNT_BOUNDS, NOISED_BOUNDS, Record
from compendia.contract.signature import (
    PRIVACY,
    Law,
    Role,
    Signature,
    key_fields,
    record_key,
    schema_table,
    signatures,
)


def _nested(record: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield record
    for field in signatures(record):
        if field.element is not None:
            yield from _nested(field.element)


RECORDS = sorted({r for kind in SECTIONS.values() for r in _nested(kind)}, key=lambda record: record.__name__)


@pytest.mark.parametrize("record", RECORDS)
def test_every_field_has_one_signature(record: type[BaseModel]) -> None:
    assert [f.name for f in signatures(record)] == list(record.model_fields)


@pytest.mark.parametrize("record", RECORDS)
def test_every_record_has_a_key_that_sorts(record: type[BaseModel]) -> None:
    assert key_fields(record)
    assert all(record.model_fields[name].annotation is not None for name in key_fields(record))


def test_a_field_without_a_signature_is_a_mistake_of_the_programmer() -> None:
    class Unsigned(Record):
        name: Annotated[str, Signature(Role.IDENTITY, Law.KEY)]
        colour: str = ""

    with pytest.raises(TypeError, match=r"Unsigned\.colour needs exactly one Signature"):
        signatures(Unsigned)


@pytest.mark.parametrize("record", RECORDS)
def test_every_statistic_has_public_bounds(record: type[BaseModel]) -> None:
    for field in signatures(record):
        if field.signature.role is Role.STATISTIC:
            assert field.signature.bounds is not None, field.name
        if field.signature.wire_bounds:
            low, high = field.signature.wire_bounds
            assert low < 0 < high
            assert field.signature.law is Law.SUM


def test_noise_has_room_on_both_sides() -> None:
    assert NOISED_BOUNDS[0] < COUNT_BOUNDS[0]
    assert NOISED_BOUNDS[1] > COUNT_BOUNDS[1]


def test_the_table_has_every_field_of_every_record() -> None:
    rows = list(schema_table(Compendium))
    expected = [path for section, kind in SECTIONS.items() for path in _paths(kind, f"{section}[]")]
    assert [row.field for row in rows] == expected
    assert all(row.privacy == PRIVACY[Role(row.role)] for row in rows)
    assert all(row.type and row.merge for row in rows)


def _paths(record: type[BaseModel], prefix: str) -> Iterator[str]:
    for field in signatures(record):
        yield f"{prefix}.{field.name}"
        if field.element is not None:
            yield from _paths(field.element, f"{prefix}.{field.name}[]")


def test_what_users_wrote_is_masked_and_what_was_counted_is_noised() -> None:
    rows = {row.field: row for row in schema_table(Compendium)}
    for field in (
        "scenarios[].text",
        "precautions[].text",
        "precautions[].evidence",
        "templates[].arguments",
    ):
        assert rows[field].privacy == "mask"
    for field in ("usage[].successes", "usage[].failures", "scenarios[].count", "precautions[].count"):
        assert rows[field].privacy == "clip and noise"
        assert rows[field].range != rows[field].range_on_wire
    assert rows["scenarios[].support"].privacy == "never sent"
    assert rows["scenarios[].tool"].refers_to == "tool"


def test_licence_and_provenance_are_never_voted_away() -> None:
    for record in RECORDS:
        for field in signatures(record):
            if field.name in {"licences", "provenance"}:
                assert field.signature.role is Role.POLICY
                assert field.signature.law is Law.KEEP_ALL


def test_card_headings_stand_in_an_order() -> None:
    for record in RECORDS:
        for field in signatures(record):
            assert bool(field.signature.heading) == bool(field.signature.order), field.name


def test_keys_sort_whatever_they_hold() -> None:
    values: list[object] = [None, True, 1, 1.5, "b", "a", [1], {"b": 1, "a": [None]}]
    entries = [Annex(tool="a/b/c", key="x-own", value=value) for value in values]
    assert len({record_key(entry) for entry in entries}) == len(values)
    assert sorted(map(record_key, entries)) == sorted(map(record_key, reversed(entries)))
