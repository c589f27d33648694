"""The state that is merged: a set of contributions, and what of each of them counts.

Merging is set union of leaves keyed by (org, round, digest): commutative, associative and idempotent by
construction. An edge that feeds another edge forwards its leaves and its evidence, so a tree of aggregators
gives the bytes of one. Everything here reads a set of leaves, in whatever order it comes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from compendia.contract import SECTIONS, Claim, Compendium, EquivocationConflict, Record
from compendia.contract.signature import Law, key_fields, record_key, signatures


@dataclass(frozen=True)
class Contribution:
    """A leaf: what one organization sent in one round. digest: SHA-256 (hex) over its bytes as received.

    folded: reduced to its statistics by `fold`.
    """

    org: str
    round: int
    digest: str
    compendium: Compendium
    folded: bool = False

    @property
    def key(self) -> tuple[str, int, str]:
        return (self.org, self.round, self.digest)


@dataclass(frozen=True)
class Equivocation:
    """Evidence of one edge: it kept one digest of an organization in a round, and refused another."""

    org: str
    round: int
    kept: str
    refused: str


@dataclass(frozen=True)
class Statement:
    """What one organization says now: section to records, one a key, statistics added up over its windows."""

    org: str
    sections: Mapping[str, tuple[Record, ...]]


def union(*sets: Iterable[Contribution]) -> list[Contribution]:
    """The union of sets of leaves, sorted. Of a whole leaf and its folded twin the whole one stays."""
    found: dict[tuple[str, int, str], Contribution] = {}
    for leaf in (leaf for leaves in sets for leaf in leaves):
        known = found.get(leaf.key)
        if known is None or (known.folded and not leaf.folded):
            found[leaf.key] = leaf
    return [found[key] for key in sorted(found)]


def counting(
    leaves: Iterable[Contribution], equivocations: Iterable[Equivocation] = ()
) -> tuple[list[Contribution], list[EquivocationConflict]]:
    """The leaves that count, sorted, and a conflict for everyone who sent two digests in one round.

    Where two edges kept different digests, neither counts. Where one edge kept the first and refused the
    second, the first counts.
    """
    members = union(leaves)
    kept: dict[tuple[str, int], set[str]] = defaultdict(set)
    refused: dict[tuple[str, int], set[str]] = defaultdict(set)
    for leaf in members:
        kept[leaf.org, leaf.round].add(leaf.digest)
    for evidence in equivocations:
        kept[evidence.org, evidence.round].add(evidence.kept)
        refused[evidence.org, evidence.round].add(evidence.refused)
    conflicts = []
    for (org, round), digests in sorted(kept.items()):
        others = sorted((digests | refused[org, round]) - (digests if len(digests) == 1 else set()))
        if others:
            conflicts.append(_equivocation(org, round, min(digests) if len(digests) == 1 else "", others))
    return [leaf for leaf in members if len(kept[leaf.org, leaf.round]) == 1], conflicts


def statements(counted: Iterable[Contribution]) -> list[Statement]:
    """What each organization says now, from the leaves that count; sorted by organization.

    Its newest round replaces everything it said before, so that leaving something out retracts it, but for
    statistics: they add up over its windows. One window counts once, as it was sent last (it may have reached
    two edges in different rounds); uploads without a window cannot be told apart and share one.
    """
    return [Statement(org, _now(sent)) for org, sent in _by_org(counted).items()]


def fold(leaves: Iterable[Contribution]) -> list[Contribution]:
    """The same set, superseded leaves reduced to the statistics that still count: a checkpoint.

    `view(fold(leaves)) == view(leaves)`, also when leaves of later rounds join. Fold settled rounds only: if
    a superseding leaf later turns out to equivocate, what the superseded one said is needed again.
    """
    members = union(leaves)
    counted, _ = counting(members)
    reduced = {}
    for sent in _by_org(counted).values():
        windows = {leaf.key for leaf in _one_a_window(sent)}
        for old in sent[:-1]:
            reduced[old.key] = replace(
                old, compendium=_statistics(old.compendium, old.key in windows), folded=True
            )
    return [reduced.get(leaf.key, leaf) for leaf in members]


@cache
def sum_fields(kind: type[Record]) -> tuple[str, ...]:
    """Names of the fields that add up."""
    return tuple(f.name for f in signatures(kind) if f.signature.law is Law.SUM)


@cache
def accumulates(kind: type[Record]) -> bool:
    """True for a record that is its numbers, such as usage: its key only refers, so nothing is retracted."""
    keys = key_fields(kind)
    return bool(sum_fields(kind)) and all(
        f.signature.refers_to is not None for f in signatures(kind) if f.name in keys
    )


def _by_org(counted: Iterable[Contribution]) -> dict[str, list[Contribution]]:
    by_org: dict[str, list[Contribution]] = defaultdict(list)
    for leaf in sorted(counted, key=lambda leaf: leaf.key):
        by_org[leaf.org].append(leaf)
    return by_org


def _one_a_window(sent: Sequence[Contribution]) -> list[Contribution]:
    """Of leaves sorted by round the last of each window, sorted by round; the newest leaf is its last."""
    last = {leaf.compendium.window: leaf for leaf in sent}
    return sorted(last.values(), key=lambda leaf: leaf.round)


def _now(sent: Sequence[Contribution]) -> dict[str, tuple[Record, ...]]:
    newest = sent[-1].compendium
    older = [leaf.compendium for leaf in _one_a_window(sent)[:-1]]
    return {
        name: _added_up(name, kind, newest, older)
        if older and sum_fields(kind)
        else tuple(getattr(newest, name))
        for name, kind in SECTIONS.items()
    }


def _added_up(
    name: str, kind: type[Record], newest: Compendium, older: Iterable[Compendium]
) -> tuple[Record, ...]:
    totals: dict[tuple[Any, ...], Record] = {record_key(record): record for record in getattr(newest, name)}
    for compendium in older:
        for record in getattr(compendium, name):
            key = record_key(record)
            known = totals.get(key)
            if known is not None:
                added = {f: getattr(known, f) + getattr(record, f) for f in sum_fields(kind)}
                totals[key] = known.model_copy(update=added)
            elif accumulates(kind):
                totals[key] = record
    return tuple(totals.values())


def _statistics(compendium: Compendium, counts: bool) -> Compendium:
    """Keys and sums alone, and not even those if the window counts no more."""
    kept = {
        name: tuple(
            kind.model_validate({f: getattr(record, f) for f in (*key_fields(kind), *sum_fields(kind))})
            for record in (getattr(compendium, name) if counts and sum_fields(kind) else ())
        )
        for name, kind in SECTIONS.items()
    }
    return compendium.model_copy(update=kept)


def _equivocation(org: str, round: int, winner: str, others: Iterable[str]) -> EquivocationConflict:
    return EquivocationConflict(
        tool="",
        field="digest",
        winner=Claim(value=winner, supporters=(org,)) if winner else None,
        dissent=tuple(Claim(value=digest, supporters=(org,)) for digest in others),
        resolved_by="first" if winner else "none",
        org=org,
        round=round,
    )
