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
from compendia.contract.signature import record_key, signatures

from .cluster import cluster
from .laws import Claims, Context, merge_claims

Stance = Literal["use", "do_not"]
_STANCES: tuple[tuple[str, Stance], ...] = (("scenarios", "use"), ("precautions", "do_not"))
_MAX_REASONS = 5


@dataclass(frozen=True)
class ToolClaims:
    """Everything said about one tool. claims: by section, (organization, record), sorted by organization.

    texts: the distinct scenario and precaution texts, sorted; vectors: (len(texts), d), L2-normalised.
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
    stance_sections = {section for section, _ in _STANCES}
    for section, claims in said.claims.items():
        if section in stance_sections:
            continue
        for key, group in _by_key(claims):
            where = (
                context
                if section == "tools"
                else context._replace(path=f"{section}[{', '.join(map(str, key[1:]))}]")
            )
            result.add(section, merge_claims(SECTIONS[section], group, where))
    _merge_stances(said, context, result)
    return _with_known_endpoints(result)


def _by_key(claims: Iterable[tuple[str, Record]]) -> list[tuple[tuple[Any, ...], list[tuple[str, Record]]]]:
    groups: dict[tuple[Any, ...], list[tuple[str, Record]]] = {}
    for org, record in claims:
        groups.setdefault(record_key(record), []).append((org, record))
    return sorted(groups.items(), key=lambda item: item[0])


def _merge_stances(said: ToolClaims, context: Context, result: MergedTool) -> None:
    by_text: dict[str, dict[Stance, list[tuple[str, Record]]]] = {}
    for section, stance in _STANCES:
        for org, record in said.claims.get(section, ()):
            assert isinstance(record, Scenario | Precaution)
            by_text.setdefault(record.text, {"use": [], "do_not": []})[stance].append((org, record))
    for group in cluster(said.texts, said.vectors):
        sides: dict[Stance, list[tuple[str, Record]]] = {"use": [], "do_not": []}
        for index in group:
            for stance, claims in by_text[said.texts[index]].items():
                sides[stance].extend(claims)
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
    """The text that most organizations wrote; ties go to the shorter, then the first in order."""
    orgs: dict[str, set[str]] = {}
    for org, record in claims:
        orgs.setdefault(getattr(record, "text"), set()).add(org)  # noqa: B009
    return min(orgs, key=lambda text: (-len(orgs[text]), len(text), text))


def _one_each(kind: type[Record], claims: Iterable[tuple[str, Record]], context: Context) -> Claims:
    """One claim an organization: its own texts of the cluster merged first, so that volume is no vote."""
    mine: dict[str, list[tuple[str, BaseModel]]] = {}
    for org, record in claims:
        mine.setdefault(org, []).append((getattr(record, "text"), record))  # noqa: B009
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
    abstaining = (
        {org for claims in sides.values() for org, _ in claims} - set(votes["use"]) - set(votes["do_not"])
    )
    claims = {
        stance: Claim(value=stance, supporters=tuple(sorted({*votes[stance], *abstaining})))
        for _, stance in _STANCES
    }
    said = {str(getattr(record, "evidence") or getattr(record, "text")) for _, record in sides["do_not"]}  # noqa: B009
    text = _representative([*sides["use"], *sides["do_not"]])
    return StanceConflict(
        tool=context.tool,
        field="scenarios",
        text=text,
        winner=claims[winner] if winner else None,
        dissent=tuple(claims[stance] for _, stance in _STANCES if stance != winner),
        resolved_by="majority" if winner else "none",
        reasons=tuple(sorted(said))[:_MAX_REASONS],
    )


def _with_known_endpoints(result: MergedTool) -> MergedTool:
    """Records that name an endpoint which the merged tool lacks lose the name, or go if it is their key."""
    names = {
        e.name for tool in result.sections["tools"] if isinstance(tool, ToolMetadata) for e in tool.endpoints
    }
    for section, kind in SECTIONS.items():
        reference = next((f for f in signatures(kind) if f.signature.refers_to == "endpoint"), None)
        if reference is None:
            continue
        kept = []
        for record in result.sections[section]:
            if getattr(record, reference.name) in names or not getattr(record, reference.name):
                kept.append(record)
            elif reference.signature.law != "key":
                kept.append(record.model_copy(update={reference.name: ""}))
        result.sections[section] = kept
    return result
