"""The merge laws as dispatch on the signature: no field is known here by its name.

`merge_claims` makes one record of what several organizations say about one thing. Every law sees a *set* of
claims, one per organization, so it is commutative, associative and idempotent over contributions; a law's
docstring holds the example that a property test quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

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

from .votes import all_equal, plain, text_of, vote

Claims = Sequence[tuple[str, BaseModel]]
"""(organization, its record), one record an organization."""


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
    agreed = all_equal([record for _, record in claims])
    for field in _to_merge(kind, agreed):
        if field.name in values:
            continue
        if field.signature.law is Law.COMPUTED:
            values[field.name] = len(claims)
        elif field.element is not None and field.signature.law is Law.OWNER:
            values[field.name] = _merge_nested(field, claims, context.at(field.name), conflicts)
        else:
            said = [(org, getattr(record, field.name)) for org, record in claims]
            if field.signature.law in _AGREEING and all_equal([value for _, value in said]):
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


def _owner(case: Case) -> Any:
    """The granted publisher's word, else a vote: "p" and "q" are "p" if the first is the owner.

    Dissent is logged, never adopted.
    """
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
    """One organization, one vote, and silence is none: "" and "q" are "q".

    Free text differs by nature: there the vote picks and logs nothing.
    """
    if case.field.signature.role is Role.TEXT:
        return vote(case.said).value
    return _owner(case._replace(context=case.context._replace(owner="")))


def _sum(case: Case) -> int:
    """Disjoint counts add up, as integers, signed after noise: 2 and -3 are -1."""
    return sum(value for _, value in case.said)


def _max(case: Case) -> Any:
    """The largest: 1 and 3 are 3."""
    return max(value for _, value in case.said)


def _min(case: Case) -> Any:
    """The smallest: 1 and 3 are 1."""
    return min(value for _, value in case.said)


def _union(case: Case) -> Any:
    """Every distinct value, sorted: ("b",) and ("a", "b") are ("a", "b")."""
    distinct = {text_of(item): item for _, value in case.said for item in value}
    return tuple(distinct[key] for key in sorted(distinct))


def _keep_all(case: Case) -> Any:
    """Like union: ("b",) and ("a",) are ("a", "b"). A disagreement is flagged; silence is none."""
    stated = {frozenset(map(text_of, value)) for _, value in case.said if value}
    if len(stated) > 1:
        groups: dict[str, tuple[Any, list[str]]] = {}
        for org, value in case.said:
            for item in value:
                groups.setdefault(text_of(item), (item, []))[1].append(org)
        claims = tuple(
            Claim(value=plain(item), supporters=tuple(sorted(orgs)))
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
    """Records inside a record, matched by key. With an owner, only the owner's keys stand, in its order.

    Without one the keys of all, sorted where they do not agree on an order.
    """
    assert field.element is not None
    by_key: dict[tuple[Any, ...], list[tuple[str, BaseModel]]] = {}
    orders: dict[str, tuple[tuple[Any, ...], ...]] = {}
    for org, record in claims:
        children = getattr(record, field.name)
        orders[org] = tuple(record_key(child) for child in children)
        for key, child in zip(orders[org], children, strict=True):
            by_key.setdefault(key, []).append((org, child))
    adopted = orders.get(context.owner) if context.owner else None
    if adopted is None:
        adopted = next(iter(orders.values())) if len(set(orders.values())) == 1 else tuple(sorted(by_key))
    merged = []
    for key in adopted:
        child, conflicts = merge_claims(field.element, by_key[key], _under(context, key))
        merged.append(child)
        log.extend(conflicts)
    log.extend(
        _not_adopted(_under(context, key), by_key[key]) for key in sorted(by_key.keys() - set(adopted))
    )
    return tuple(merged)


def _under(context: Context, key: tuple[Any, ...]) -> Context:
    return context.at(f"[{', '.join(part for part in key if part)}]")


def _not_adopted(context: Context, claims: Claims) -> DefinitionConflict:
    return DefinitionConflict(
        tool=context.tool,
        field=context.path,
        winner=Claim(value=None, supporters=(context.owner,)),
        dissent=tuple(
            sorted(
                (Claim(value=plain(record), supporters=(org,)) for org, record in claims),
                key=lambda claim: claim.supporters,
            )
        ),
        resolved_by="owner",
    )
