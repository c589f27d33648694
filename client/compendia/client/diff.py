"""The typed difference of two compendia or snapshots: which entry, which field, what before, what after.

Entries meet by the key that their signatures declare, at every depth, so a moved entry is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue

from compendia.contract import SECTIONS, Compendium, Snapshot
from compendia.contract.document import header_json, record_json
from compendia.contract.signature import FieldSignature, Law, key_fields, record_key, signatures
from compendia.contract.strict_json import canonical


@dataclass(frozen=True)
class Difference:
    """One difference. field "" means the whole entry, which then stands on one side only (the other is None).

    section: a section of the compendium, or `header`, or (snapshots) `snapshot` and `conflicts`.
    """

    section: str
    key: str
    field: str
    before: JsonValue
    after: JsonValue

    @property
    def kind(self) -> str:
        """added, removed or changed."""
        if self.field:
            return "changed"
        return "added" if self.before is None else "removed"


def diff(before: Compendium | Snapshot, after: Compendium | Snapshot) -> tuple[Difference, ...]:
    """All differences in document order, sorted by key within a section. Equal documents give none."""
    found: list[Difference] = []
    frame_before, frame_after = _frame(before), _frame(after)
    found.extend(_values("snapshot", "", frame_before, frame_after))
    one, other = _compendium(before), _compendium(after)
    found.extend(_values("header", "", header_json(one), header_json(other)))
    for section in SECTIONS:
        found.extend(_entries(section, getattr(one, section), getattr(other, section)))
    found.extend(_conflicts(before, after))
    return tuple(found)


def _compendium(document: Compendium | Snapshot) -> Compendium:
    return document.compendium if isinstance(document, Snapshot) else document


def _frame(document: Compendium | Snapshot) -> dict[str, JsonValue]:
    if not isinstance(document, Snapshot):
        return {}
    return document.model_dump(mode="json", exclude={"compendium", "conflicts"})


def _values(
    section: str, key: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> Iterator[Difference]:
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield Difference(section, key, name, before.get(name), after.get(name))


def _entries(section: str, before: Sequence[BaseModel], after: Sequence[BaseModel]) -> Iterator[Difference]:
    for key, one, other in _met(before, after):
        if one is None or other is None:
            yield Difference(section, key, "", _plain(one), _plain(other))
        else:
            for field, old, new in _fields(one, other, ""):
                yield Difference(section, key, field, old, new)


def _met(
    before: Sequence[BaseModel], after: Sequence[BaseModel]
) -> Iterator[tuple[str, BaseModel | None, BaseModel | None]]:
    left = {record_key(entry): entry for entry in before}
    right = {record_key(entry): entry for entry in after}
    for key in sorted(left.keys() | right.keys()):
        yield " ".join(part for part in map(str, key) if part), left.get(key), right.get(key)


def _fields(one: BaseModel, other: BaseModel, path: str) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    for field in signatures(type(one)):
        if field.signature.law is Law.KEY:
            continue
        old, new = getattr(one, field.name), getattr(other, field.name)
        where = f"{path}{field.name}"
        if _keyed(field):
            for key, left, right in _met(old, new):
                if left is None or right is None:
                    yield f"{where}[{key}]", _plain(left), _plain(right)
                else:
                    yield from _fields(left, right, f"{where}[{key}].")
        elif _plain(old) != _plain(new):
            yield where, _plain(old), _plain(new)


def _keyed(field: FieldSignature) -> bool:
    """True for a list of entries that have more than their key, so that one can differ within an entry."""
    return field.element is not None and len(key_fields(field.element)) < len(signatures(field.element))


def _plain(value: Any) -> JsonValue:
    if isinstance(value, BaseModel):
        return record_json(value)  # type: ignore[arg-type]
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    plain: JsonValue = value
    return plain


def _conflicts(before: Compendium | Snapshot, after: Compendium | Snapshot) -> Iterator[Difference]:
    left, right = _logged(before), _logged(after)
    for text in sorted(left.keys() ^ right.keys()):
        entry: Any = left.get(text) or right.get(text)
        key = " ".join(part for part in (entry["tool"], entry["field"]) if part)
        yield Difference("conflicts", key, "", left.get(text), right.get(text))


def _logged(document: Compendium | Snapshot) -> dict[str, JsonValue]:
    if not isinstance(document, Snapshot):
        return {}
    dumped = (conflict.model_dump(mode="json") for conflict in document.conflicts)
    return {canonical(entry): entry for entry in dumped}
