"""The snapshot as a pure view of a set of contributions (DESIGN section 4).

Merging is set union of leaves keyed by (org, round, digest); a tree of aggregators that forwards its members'
leaves gives the same bytes as one aggregator. The view sorts the leaves and derives everything from them.

Statistics are disjoint windows and add up over rounds; everything else that an organization says is replaced
by its newest round, so leaving something out retracts it. A tool whose last registration was retracted
disappears with everything said about it, and comes back with it: the leaves are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from compendia.contract import (
    SECTIONS,
    Claim,
    CompendiaError,
    Compendium,
    Conflict,
    EquivocationConflict,
    ErrorCode,
    Member,
    Record,
    SchemaDefinition,
    Snapshot,
    Window,
    error,
    seal,
)
from compendia.contract.ids import parse_tool_id
from compendia.contract.signature import Law, Role, record_key, signatures
from compendia.contract.strict_json import canonical
from compendia.contract.validate import json_refs
from compendia.text.encode import Encoder

from .executor import Executor
from .laws import Context, merge_claims
from .merge import MergedTool, ToolClaims, merge_tool
from .untyped import merge_tool_untyped

Policy = Literal["conflict_log", "round_delayed", "majority", "untyped"]
POLICIES: tuple[str, ...] = get_args(Policy)


@dataclass(frozen=True)
class Contribution:
    """A leaf: what one organization sent in one round. digest: SHA-256 (hex) over its bytes as received."""

    org: str
    round: int
    digest: str
    compendium: Compendium

    @property
    def key(self) -> tuple[str, int, str]:
        return (self.org, self.round, self.digest)


@dataclass(frozen=True)
class Equivocation:
    """A second digest that one aggregator refused: the first (`kept`) counts."""

    org: str
    round: int
    kept: str
    refused: str


def view(
    contributions: Iterable[Contribution],
    *,
    grants: Mapping[str, str],
    encoder: Encoder,
    executor: Executor,
    policy: Policy = "conflict_log",
    parent: str = "",
    round: int,
    equivocations: Iterable[Equivocation] = (),
) -> Snapshot:
    """The snapshot of a set of contributions. Same set, same bytes, whatever order, process or executor.

    grants: publisher to the organization whose definitions count. encoder: embeds scenario and precaution
    texts for clustering; its fingerprint is recorded, its vectors are not. policy: `conflict_log` is ours;
    the others are the paper's ablations: `round_delayed` shows dissent one round later, `majority` drops it,
    `untyped` votes on whole tools as flat text. Raises NO_SNAPSHOT when no contribution counts.
    """
    if policy not in POLICIES:
        raise error(ErrorCode.USAGE, f"unknown policy {policy!r}", "--policy", ", ".join(POLICIES))
    leaves, conflicts = _counting({leaf.key: leaf for leaf in contributions}, equivocations)
    if not leaves:
        raise error(ErrorCode.NO_SNAPSHOT, "no contribution counts", fix="publish at least one compendium")
    merged = _merge(
        leaves, grants, encoder, executor, merge_tool_untyped if policy == "untyped" else merge_tool
    )
    if policy == "conflict_log":
        conflicts += merged.conflicts
    elif policy == "round_delayed":
        earlier = [leaf for leaf in leaves if leaf.round < round]
        conflicts += _merge(earlier, grants, encoder, executor, merge_tool).conflicts if earlier else []
    return seal(
        parent=parent,
        round=round,
        policy=policy,
        encoder=encoder.fingerprint,
        members=tuple(Member(org=leaf.org, round=leaf.round, digest=leaf.digest) for leaf in leaves),
        compendium=_assemble(merged, leaves),
        conflicts=tuple(
            sorted(conflicts, key=lambda c: (c.kind, c.tool, c.field, canonical(c.model_dump(mode="json"))))
        ),
    )


def fold(contributions: Iterable[Contribution]) -> list[Contribution]:
    """The same leaves with superseded ones reduced to what still counts: their statistics.

    `view(fold(leaves))` equals `view(leaves)`.
    """
    leaves = sorted(contributions, key=lambda leaf: leaf.key)
    newest = _newest(leaves)
    dropped = {section: () for section, kind in SECTIONS.items() if not accumulates(kind)}
    return [
        leaf
        if leaf.round == newest[leaf.org]
        else Contribution(leaf.org, leaf.round, leaf.digest, leaf.compendium.model_copy(update=dropped))
        for leaf in leaves
    ]


def accumulates(kind: type[Record]) -> bool:
    """True for a record of statistics alone: keys and sums, no text. Its windows add up over rounds."""
    fields = [f.signature for f in signatures(kind)]
    return any(s.law is Law.SUM for s in fields) and all(
        s.law in (Law.KEY, Law.SUM, Law.COMPUTED) and s.role is not Role.TEXT for s in fields
    )


def _counting(
    leaves: Mapping[tuple[str, int, str], Contribution], equivocations: Iterable[Equivocation]
) -> tuple[list[Contribution], list[Conflict]]:
    """The leaves that count, sorted, and the evidence against those that do not.

    Where two edges accepted different bytes from one organization in one round, neither counts.
    """
    digests: dict[tuple[str, int], set[str]] = defaultdict(set)
    for org, number, mark in leaves:
        digests[org, number].add(mark)
    conflicts: list[Conflict] = []
    for refused in sorted(set(equivocations), key=lambda e: (e.org, e.round, e.kept, e.refused)):
        if len(digests[refused.org, refused.round]) > 1:
            continue
        conflicts.append(
            _equivocation(
                refused.org,
                refused.round,
                Claim(value=refused.kept, supporters=(refused.org,)),
                [refused.refused],
            )
        )
    for (org, number), marks in sorted(digests.items()):
        if len(marks) > 1:
            conflicts.append(_equivocation(org, number, None, sorted(marks)))
    counting = [leaf for key, leaf in sorted(leaves.items()) if len(digests[key[0], key[1]]) == 1]
    return counting, conflicts


def _equivocation(org: str, number: int, winner: Claim | None, others: Sequence[str]) -> EquivocationConflict:
    return EquivocationConflict(
        tool="",
        field="digest",
        winner=winner,
        dissent=tuple(Claim(value=mark, supporters=(org,)) for mark in others),
        resolved_by="first" if winner else "none",
        org=org,
        round=number,
    )


def _newest(leaves: Iterable[Contribution]) -> dict[str, int]:
    newest: dict[str, int] = {}
    for leaf in leaves:
        newest[leaf.org] = max(leaf.round, newest.get(leaf.org, leaf.round))
    return newest


def _merge(
    leaves: Sequence[Contribution],
    grants: Mapping[str, str],
    encoder: Encoder,
    executor: Executor,
    function: Callable[[ToolClaims], MergedTool],
) -> MergedTool:
    said, definitions = _gather(leaves)
    texts = sorted({text for claims in said.values() for text in _texts(claims)})
    vectors = encoder.encode_documents(texts)
    row = {text: index for index, text in enumerate(texts)}
    whole = MergedTool()
    for part in executor.map(
        function, [_claims_of(tool, said[tool], grants, vectors, row) for tool in sorted(said)]
    ):
        for section, found in part.sections.items():
            whole.sections[section].extend(found)
        whole.conflicts.extend(part.conflicts)
    _merge_definitions(definitions, grants, whole)
    return whole


def _gather(
    leaves: Sequence[Contribution],
) -> tuple[dict[str, dict[str, list[tuple[str, Record]]]], dict[str, list[tuple[str, Record]]]]:
    """What counts, by tool and section, for tools that somebody registers; and schema definitions by id."""
    newest = _newest(leaves)
    said: dict[str, dict[str, list[tuple[str, Record]]]] = defaultdict(lambda: defaultdict(list))
    definitions: dict[str, list[tuple[str, Record]]] = defaultdict(list)
    for leaf in leaves:
        for section, kind in SECTIONS.items():
            if leaf.round != newest[leaf.org] and not accumulates(kind):
                continue
            for record in getattr(leaf.compendium, section):
                if isinstance(record, SchemaDefinition):
                    definitions[record.id].append((leaf.org, record))
                else:
                    said[_tool_of(record)][section].append((leaf.org, record))
    return {tool: claims for tool, claims in said.items() if claims.get("tools")}, definitions


def _tool_of(record: Record) -> str:
    reference = next((f.name for f in signatures(type(record)) if f.signature.refers_to == "tool"), "id")
    return str(getattr(record, reference))


def _texts(claims: Mapping[str, Sequence[tuple[str, Record]]]) -> set[str]:
    return {
        record.text  # type: ignore[attr-defined]
        for section in ("scenarios", "precautions")
        for _, record in claims.get(section, ())
    }


def _claims_of(
    tool: str,
    claims: Mapping[str, Sequence[tuple[str, Record]]],
    grants: Mapping[str, str],
    vectors: NDArray[np.float32],
    row: Mapping[str, int],
) -> ToolClaims:
    grantee = grants.get(parse_tool_id(tool).publisher, "")
    registrars = {org for org, _ in claims["tools"]}
    texts = tuple(sorted(_texts(claims)))
    return ToolClaims(
        tool=tool,
        owner=grantee if grantee in registrars else "",
        claims={section: _one_per_org(claims[section]) for section in SECTIONS if claims.get(section)},
        texts=texts,
        vectors=vectors[[row[text] for text in texts]],
    )


def _one_per_org(claims: Sequence[tuple[str, Record]]) -> tuple[tuple[str, Record], ...]:
    """An organization's windows of several rounds added into one claim: support counts organizations."""
    mine: dict[tuple[str, Any], list[Record]] = defaultdict(list)
    for org, record in claims:
        mine[org, record_key(record)].append(record)
    added = []
    for (org, _), found in sorted(mine.items(), key=lambda item: item[0]):
        if len(found) == 1:
            added.append((org, found[0]))
        else:
            total, _ = merge_claims(type(found[0]), [(str(i), r) for i, r in enumerate(found)], Context(""))
            assert isinstance(total, Record)
            added.append((org, total))
    return tuple(added)


def _merge_definitions(
    definitions: Mapping[str, Sequence[tuple[str, Record]]], grants: Mapping[str, str], whole: MergedTool
) -> None:
    """Merge the schema definitions that the merged tools lead to; the others would only be dead weight."""
    pending = {target for tool in whole.sections["tools"] for _, target in json_refs(tool, "")}
    merged: dict[str, Record] = {}
    while pending:
        name = pending.pop()
        if name in merged:
            continue
        if name not in definitions:
            raise CompendiaError(error(ErrorCode.UNRESOLVED_REF, f"$ref {name!r} leads nowhere").problems)
        publisher = parse_tool_id(name).publisher
        registrars = {org for org, _ in definitions[name]}
        owner = grants.get(publisher, "")
        record, conflicts = merge_claims(
            SchemaDefinition, definitions[name], Context(name, owner if owner in registrars else "")
        )
        assert isinstance(record, SchemaDefinition)
        merged[name] = record
        whole.conflicts.extend(conflicts)
        pending |= {target for _, target in json_refs(record, "")}
    whole.sections["definitions"] = [merged[name] for name in sorted(merged)]


def _assemble(merged: MergedTool, leaves: Sequence[Contribution]) -> Compendium:
    windows = [leaf.compendium.window for leaf in leaves if leaf.compendium.window]
    span = Window(start=min(w.start for w in windows), end=max(w.end for w in windows)) if windows else None
    noised = any(leaf.compendium.stage == "noised" for leaf in leaves)
    sections = {name: tuple(sorted(found, key=record_key)) for name, found in merged.sections.items()}
    return Compendium(stage="noised" if noised else "raw", window=span).model_copy(update=sections)
