"""The merge laws as dispatch on the signature: no field is known here by its name.

`merge_claims` makes one record of what several organizations say about one thing. Every law sees a *set* of
claims, one per organization, so it is commutative, associative and idempotent over contributions; a law's
docstring holds the example that a property test quotes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from compendia.contract import (
    Claim,
    Conflict,
    DefinitionConflict,
    LicenceConflict,
    Provenance,
    ProvenanceConflict,
)
from compendia.contract.signature import FieldSignature, Law, Role, record_key, signatures
from compendia.contract.strict_json import canonical

Claims = Sequence[tuple[str, BaseModel]]
"""(organization, its record), one record an organization."""

_NO_CLAIM = ("", None, (), "unknown", "any")


class Context(NamedTuple):
    """Whose word counts (`owner`, or empty for a vote), about which tool, under which path."""

    tool: str
    owner: str = ""
    path: str = ""

    def at(self, step: str) -> Context:
        return self._replace(
            path=f"{self.path}.{step}" if self.path and not step.startswith("[") else self.path + step
        )


class Case(NamedTuple):
    """One field as several organizations fill it: (organization, value), and the log that dissent goes to."""

    field: FieldSignature
    said: list[tuple[str, Any]]
    context: Context
    log: list[Conflict]


class Vote(NamedTuple):
    """The value that won and everything that was claimed, canonically ordered."""

    value: Any
    winner: Claim | None
    dissent: tuple[Claim, ...]
    resolved_by: Literal["owner", "majority", "digest", "kept_all", "first", "none"]


def merge_claims(
    kind: type[BaseModel], claims: Claims, context: Context, fixed: Mapping[str, Any] | None = None
) -> tuple[BaseModel, list[Conflict]]:
    """One record from one or more claims about the same thing, and the conflicts met on the way.

    fixed: values that the caller has settled (the representative text of a cluster).
    """
    claims = sorted(claims, key=lambda claim: claim[0])
    first = claims[0][1]
    conflicts: list[Conflict] = []
    values: dict[str, Any] = dict(fixed or {})
    agreed = _all_equal([record for _, record in claims])
    for field in _to_merge(kind, agreed):
        if field.name in values:
            continue
        if field.signature.law is Law.COMPUTED:
            values[field.name] = len(claims)
        elif field.element is not None and field.signature.law is Law.OWNER:
            values[field.name] = _merge_nested(field, claims, context.at(field.name), conflicts)
        else:
            said = [(org, getattr(record, field.name)) for org, record in claims]
            if field.signature.law in _AGREEING and _all_equal([value for _, value in said]):
                continue
            case = Case(field, said, context.at(field.name), conflicts)
            values[field.name] = _LAWS[field.signature.law](case)
    return first.model_copy(update=values) if values else first, conflicts


_AGREEING = frozenset(Law) - {Law.SUM, Law.COMPUTED}
"""Laws under which equal claims are the answer."""


@cache
def _to_merge(kind: type[BaseModel], agreed: bool) -> tuple[FieldSignature, ...]:
    """The fields that a law has to look at: of equal records those that add up or are computed."""
    return tuple(
        f
        for f in signatures(kind)
        if f.signature.law is not Law.KEY and not (agreed and f.signature.law in _AGREEING)
    )


def _all_equal(values: Sequence[Any]) -> bool:
    """Equal as JSON: 1, 1.0 and true are three values."""
    first = values[0]
    if all(value is first for value in values):
        return True
    if isinstance(first, str | bool | int):
        return all(type(value) is type(first) and value == first for value in values)
    if isinstance(first, BaseModel):
        return len({value.model_dump_json() for value in values}) == 1
    return len({_text(value) for value in values}) == 1


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
        groups.setdefault(_text(value), (value, []))[1].append(org)
    ranked = [groups[text] for text in sorted(groups, key=lambda text: (-len(groups[text][1]), _mark(text)))]
    if owned:
        mark = _text(owned[0])
        ranked.sort(key=lambda group: _text(group[0]) != mark)
    listed = [Claim(value=_plain(value), supporters=tuple(sorted(orgs))) for value, orgs in ranked]
    tied = len(ranked) > 1 and len(ranked[0][1]) == len(ranked[1][1])
    resolved: Literal["owner", "majority", "digest"] = "owner" if owned else "digest" if tied else "majority"
    return Vote(ranked[0][0], listed[0], tuple(listed[1:]), resolved)


def _owner(case: Case) -> Any:
    """The granted publisher's word; without a grant, a vote. Dissent is logged, never adopted."""
    result = vote(case.said, case.context.owner)
    if result.dissent:
        case.log.append(
            DefinitionConflict(
                tool=case.context.tool,
                field=case.context.path,
                winner=result.winner,
                dissent=result.dissent,
                resolved_by=result.resolved_by,
            )
        )
    return result.value


def _majority(case: Case) -> Any:
    """One organization, one vote. Free text differs by nature: there the vote picks and logs nothing."""
    if case.field.signature.role is Role.TEXT:
        return vote(case.said).value
    return _owner(case._replace(context=case.context._replace(owner="")))


def _sum(case: Case) -> int:
    """Disjoint counts add up: 2 and 3 are 5."""
    return sum(value for _, value in case.said)


def _max(case: Case) -> Any:
    """The largest: 1 and 3 are 3."""
    return max(value for _, value in case.said)


def _min(case: Case) -> Any:
    """The smallest: 1 and 3 are 1."""
    return min(value for _, value in case.said)


def _union(case: Case) -> Any:
    """Every distinct value, sorted: ("b",) and ("a", "b") are ("a", "b")."""
    distinct = {_text(item): item for _, value in case.said for item in value}
    return tuple(distinct[key] for key in sorted(distinct))


def _keep_all(case: Case) -> Any:
    """Like union, and a disagreement between those who say something is flagged: no value wins."""
    stated = {frozenset(map(_text, value)) for _, value in case.said if value}
    if len(stated) > 1:
        groups: dict[str, tuple[Any, list[str]]] = {}
        for org, value in case.said:
            for item in value:
                groups.setdefault(_text(item), (item, []))[1].append(org)
        claims = tuple(
            Claim(value=_plain(item), supporters=tuple(sorted(orgs)))
            for _, (item, orgs) in sorted(groups.items())
        )
        flag = ProvenanceConflict if case.field.element is Provenance else LicenceConflict
        case.log.append(
            flag(
                tool=case.context.tool,
                field=case.context.path,
                winner=None,
                dissent=claims,
                resolved_by="kept_all",
            )
        )
    return _union(case)


def _key(case: Case) -> Any:
    """Equal by definition: claims about one thing share its key."""
    return case.said[0][1]


_LAWS: dict[Law, Callable[[Case], Any]] = {
    Law.KEY: _key,
    Law.OWNER: _owner,
    Law.MAJORITY: _majority,
    Law.SUM: _sum,
    Law.UNION: _union,
    Law.KEEP_ALL: _keep_all,
    Law.MAX: _max,
    Law.MIN: _min,
}


def _merge_nested(
    field: FieldSignature, claims: Claims, context: Context, log: list[Conflict]
) -> tuple[BaseModel, ...]:
    """Records inside a record, matched by key. With an owner, only the owner's keys stand."""
    assert field.element is not None
    by_key: dict[tuple[Any, ...], list[tuple[str, BaseModel]]] = {}
    for org, record in claims:
        for child in getattr(record, field.name):
            by_key.setdefault(record_key(child), []).append((org, child))
    owned = {
        record_key(child)
        for org, record in claims
        if org == context.owner
        for child in getattr(record, field.name)
    }
    has_owner = any(org == context.owner for org, _ in claims)
    merged = []
    for key in sorted(by_key):
        where = context.at(f"[{', '.join(part for part in key if part)}]")
        if has_owner and key not in owned:
            log.append(_not_adopted(where, by_key[key]))
            continue
        child, conflicts = merge_claims(field.element, by_key[key], where)
        merged.append(child)
        log.extend(conflicts)
    return tuple(merged)


def _not_adopted(context: Context, claims: Claims) -> DefinitionConflict:
    return DefinitionConflict(
        tool=context.tool,
        field=context.path,
        winner=Claim(value=None, supporters=(context.owner,)),
        dissent=tuple(
            sorted(
                (Claim(value=_plain(record), supporters=(org,)) for org, record in claims),
                key=lambda claim: claim.supporters,
            )
        ),
        resolved_by="owner",
    )


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | tuple) and value in _NO_CLAIM)


def _plain(value: Any) -> Any:
    """A value as JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _text(value: Any) -> str:
    return canonical(_plain(value))


def _mark(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
