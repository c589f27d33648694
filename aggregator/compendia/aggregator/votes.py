"""Values as they are voted on: by their JSON, one organization one vote, ties by digest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from compendia.contract import Claim
from compendia.contract.strict_json import canonical

_NO_CLAIM = ("", None, (), "unknown", "any")


class Vote(NamedTuple):
    """The value that won and everything that was claimed, canonically ordered."""

    value: Any
    winner: Claim | None
    dissent: tuple[Claim, ...]
    resolved_by: Literal["owner", "majority", "digest", "kept_all", "first", "none"]


def vote(claims: Sequence[tuple[str, Any]], owner: str = "") -> Vote:
    """The owner's value if there is one, else the value most organizations claim, ties by digest.

    An empty value is no claim, unless it is the owner's word or nobody claims anything.

    >>> vote([("a", "x"), ("b", "y"), ("c", "y")]).value
    'y'
    >>> vote([("a", "x"), ("b", "y"), ("c", "y")], owner="a").value
    'x'
    >>> vote([("a", "x"), ("b", ""), ("c", "")]).value
    'x'
    """
    owned = [value for org, value in claims if owner and org == owner]
    speaking = [(org, value) for org, value in claims if org == owner or not _empty(value)] or list(claims)
    groups: dict[str, tuple[Any, list[str]]] = {}
    for org, value in speaking:
        groups.setdefault(text_of(value), (value, []))[1].append(org)
    ranked = [groups[text] for text in sorted(groups, key=lambda text: (-len(groups[text][1]), _mark(text)))]
    if owned:
        mark = text_of(owned[0])
        ranked.sort(key=lambda group: text_of(group[0]) != mark)
    listed = [Claim(value=plain(value), supporters=tuple(sorted(orgs))) for value, orgs in ranked]
    tied = len(ranked) > 1 and len(ranked[0][1]) == len(ranked[1][1])
    resolved: Literal["owner", "majority", "digest"] = "owner" if owned else "digest" if tied else "majority"
    return Vote(ranked[0][0], listed[0], tuple(listed[1:]), resolved)


def all_equal(values: Sequence[Any]) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values."""
    first = values[0]
    if all(value is first for value in values):
        return True
    if isinstance(first, str | bool | int):
        return all(type(value) is type(first) and value == first for value in values)
    if isinstance(first, BaseModel):
        return len({value.model_dump_json() for value in values}) == 1
    return len({text_of(value) for value in values}) == 1


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple) and value in _NO_CLAIM)


def plain(value: Any) -> Any:
    """A value as JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value


def text_of(value: Any) -> str:
    """The canonical JSON text by which values are equal or not."""
    return canonical(plain(value))


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
