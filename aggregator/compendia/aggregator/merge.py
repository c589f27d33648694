"""What all organizations say about one tool, merged: a pure function of its claims, run by an `Executor`.

Definitions follow the laws of their signatures. Scenarios and precautions cluster together, so that "use it
for x" and "do not" meet; within a cluster each organization has one vote on the stance, from its own counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from compendia.contract import (
    SECTIONS,
    Claim,
    Conflict,
    Precaution,
    Record,
    Scenario,
    StanceConflict,
    ToolMetadata,
)
from compendia.contract.signature import Law, record_key, signatures
from compendia.contract.strict_json import digest

from .cluster import cluster
from .laws import Claims, Context, merge_claims

NO_VECTORS: NDArray[np.float32] = np.zeros((1, 1), dtype=np.float32)

Stance = Literal["use", "do_not"]
_STANCES: tuple[tuple[str, Stance], ...] = (("scenarios", "use"), ("precautions", "do_not"))
_MAX_REASONS = 5


@dataclass(frozen=True)
class ToolClaims:
    """Everything said about one tool. claims: by section, (organization, record), sorted by organization.

    texts: the distinct scenario and precaution texts, sorted; vectors: (len(texts), d), L2-normalised, or
    NO_VECTORS where there are not two texts to compare.
    owner: the organization that may define the tool; empty when nobody was granted its publisher or the
    grantee says nothing about it.
    """

    tool: str
    owner: str
    claims: Mapping[str, tuple[tuple[str, Record], ...]]
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


@dataclass
class MergedTool:
    """The tool's share of a snapshot, by section, and its conflicts."""

    sections: dict[str, list[Record]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    conflicts: list[Conflict] = field(default_factory=list)

    def add(self, section: str, merged: tuple[BaseModel, list[Conflict]]) -> None:
        record, conflicts = merged
        assert isinstance(record, Record)
        self.sections[section].append(record)
        self.conflicts.extend(conflicts)


def merge_tool(said: ToolClaims) -> MergedTool:
    """Merge one tool. Same claims, same result, whatever the process."""
    result = MergedTool()
    context = Context(said.tool, said.owner)
    result.add("tools", merge_claims(SECTIONS["tools"], said.claims["tools"], context))
    claims = _callable_claims(said.claims, result.sections["tools"])
    apart = {"tools", *(section for section, _ in _STANCES)}
    for section in (name for name in claims if name not in apart):
        for key, group in _by_key(claims[section]):
            where = context._replace(path=f"{section}[{', '.join(map(str, key[1:]))}]")
            result.add(section, merge_claims(SECTIONS[section], group, where))
    _merge_stances(said.texts, said.vectors, claims, context, result)
    return result


def stance_texts(claims: Mapping[str, Iterable[tuple[str, Record]]]) -> set[str]:
    """The texts that cluster together: of scenarios and precautions alike."""
    return {_text(record) for section, _ in _STANCES for _, record in claims.get(section, ())}


def _text(record: Record) -> str:
    assert isinstance(record, Scenario | Precaution)
    return record.text


def _callable_claims(
    said: Mapping[str, Sequence[tuple[str, Record]]], tools: Sequence[Record]
) -> dict[str, Sequence[tuple[str, Record]]]:
    """The claims, without endpoints that the merged tool lacks: those names lose their vote.

    A claim whose key is such an endpoint (a call template) goes as a whole: it cannot be called.
    """
    names = {"", *(e.name for tool in tools if isinstance(tool, ToolMetadata) for e in tool.endpoints)}
    kept: dict[str, Sequence[tuple[str, Record]]] = dict(said)
    for section, claims in said.items():
        for reference in signatures(SECTIONS[section]):
            if reference.signature.refers_to != "endpoint":
                continue
            name = reference.name
            if reference.signature.law is Law.KEY:
                kept[section] = [(org, record) for org, record in claims if getattr(record, name) in names]
            else:
                kept[section] = [
                    (org, record if getattr(record, name) in names else record.model_copy(update={name: ""}))
                    for org, record in claims
                ]
    return kept


def _by_key(claims: Iterable[tuple[str, Record]]) -> list[tuple[tuple[Any, ...], list[tuple[str, Record]]]]:
    groups: dict[tuple[Any, ...], list[tuple[str, Record]]] = {}
    for org, record in claims:
        groups.setdefault(record_key(record), []).append((org, record))
    return sorted(groups.items(), key=lambda item: item[0])


def _merge_stances(
    texts: Sequence[str],
    vectors: NDArray[np.float32],
    claims: Mapping[str, Iterable[tuple[str, Record]]],
    context: Context,
    result: MergedTool,
) -> None:
    by_text: dict[str, dict[Stance, list[tuple[str, Record]]]] = {}
    for section, stance in _STANCES:
        for org, record in claims.get(section, ()):
            by_text.setdefault(_text(record), {"use": [], "do_not": []})[stance].append((org, record))
    for group in cluster(texts, vectors):
        sides: dict[Stance, list[tuple[str, Record]]] = {"use": [], "do_not": []}
        for index in group:
            for stance, found in by_text[texts[index]].items():
                sides[stance].extend(found)
        _merge_cluster(sides, context, result)


def _merge_cluster(
    sides: Mapping[Stance, Sequence[tuple[str, Record]]], context: Context, result: MergedTool
) -> None:
    votes = _stances(sides)
    winner = _winner(votes)
    for section, stance in _STANCES:
        if sides[stance] and winner in (stance, None):
            kind = SECTIONS[section]
            claims = _one_each(kind, sides[stance], context)
            text = _representative(sides[stance])
            where = context._replace(path=f"{section}[{text}]")
            result.add(section, merge_claims(kind, claims, where, fixed={"text": text}))
    if sides["use"] and sides["do_not"]:
        result.conflicts.append(_stance_conflict(sides, votes, winner, context))


def _stances(sides: Mapping[Stance, Sequence[tuple[str, Record]]]) -> dict[Stance, tuple[str, ...]]:
    """Each organization's stance from its own counts; equal counts on both sides support neither."""
    counts: dict[str, dict[Stance, int]] = {}
    for stance, claims in sides.items():
        for org, record in claims:
            mine = counts.setdefault(org, {})
            mine[stance] = mine.get(stance, 0) + getattr(record, "count")  # noqa: B009 (both types have it)
    found: dict[Stance, list[str]] = {"use": [], "do_not": []}
    for org, mine in counts.items():
        if len(mine) == 1:
            found[next(iter(mine))].append(org)
        elif mine["use"] != mine["do_not"]:
            found["use" if mine["use"] > mine["do_not"] else "do_not"].append(org)
    return {stance: tuple(sorted(orgs)) for stance, orgs in found.items()}


def _winner(votes: Mapping[Stance, tuple[str, ...]]) -> Stance | None:
    use, do_not = len(votes["use"]), len(votes["do_not"])
    return None if use == do_not else "use" if use > do_not else "do_not"


def _representative(claims: Iterable[tuple[str, Record]]) -> str:
    """The text that most organizations wrote; ties break by digest."""
    orgs: dict[str, set[str]] = {}
    for org, record in claims:
        orgs.setdefault(_text(record), set()).add(org)
    if len(orgs) == 1:
        return next(iter(orgs))
    return min(orgs, key=lambda text: (-len(orgs[text]), digest(text)))


def _one_each(kind: type[Record], claims: Iterable[tuple[str, Record]], context: Context) -> Claims:
    """One claim an organization: its own texts of the cluster merged first, so that volume is no vote."""
    mine: dict[str, list[tuple[str, BaseModel]]] = {}
    for org, record in claims:
        mine.setdefault(org, []).append((_text(record), record))
    return [
        (org, own[0][1] if len(own) == 1 else merge_claims(kind, own, context)[0])
        for org, own in sorted(mine.items())
    ]


def _stance_conflict(
    sides: Mapping[Stance, Sequence[tuple[str, Record]]],
    votes: Mapping[Stance, tuple[str, ...]],
    winner: Stance | None,
    context: Context,
) -> StanceConflict:
    supporters = _supporters(sides, votes)
    claims = {stance: Claim(value=stance, supporters=supporters[stance]) for _, stance in _STANCES}
    text = _representative([*sides["use"], *sides["do_not"]])
    return StanceConflict(
        tool=context.tool,
        field="scenarios",
        text=text,
        winner=claims[winner] if winner else None,
        dissent=tuple(claims[stance] for _, stance in _STANCES if stance != winner),
        resolved_by="majority" if winner else "none",
        reasons=_reasons(_one_each(Precaution, sides["do_not"], context), text),
    )


def _supporters(
    sides: Mapping[Stance, Sequence[tuple[str, Record]]], votes: Mapping[Stance, tuple[str, ...]]
) -> dict[Stance, tuple[str, ...]]:
    """Who says what: the votes, and on both sides those who abstain because they say both equally often.

    A side without a vote is still said by whoever published it, against its own majority.
    """
    said: dict[Stance, set[str]] = {stance: {org for org, _ in claims} for stance, claims in sides.items()}
    abstaining = (said["use"] & said["do_not"]) - {*votes["use"], *votes["do_not"]}
    return {stance: tuple(sorted({*votes[stance], *abstaining} or said[stance])) for _, stance in _STANCES}


def _reasons(claims: Claims, text: str) -> tuple[str, ...]:
    """What speaks against it in other words than `text`: most organizations first, bounded for the card."""
    orgs: dict[str, int] = {}
    for _, record in claims:
        assert isinstance(record, Precaution)
        for reason in {record.text, record.evidence} - {text, ""}:
            orgs[reason] = orgs.get(reason, 0) + 1
    return tuple(sorted(orgs, key=lambda reason: (-orgs[reason], reason))[:_MAX_REASONS])
