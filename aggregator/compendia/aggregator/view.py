"""The snapshot as a pure view of a set of contributions (DESIGN section 4).

`contribution` reads the set as what each organization says now. Here that is sorted by tool, each tool is
merged on its own (`merge`, or `untyped`) behind an executor, and the parts are sealed as a snapshot.

A tool whose last registration was retracted disappears with everything said about it, and comes back with
it: the leaves are kept.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from compendia.contract import (
    SECTIONS,
    CompendiaError,
    Compendium,
    Conflict,
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
from compendia.contract.references import json_refs
from compendia.contract.signature import record_key, signatures
from compendia.contract.strict_json import canonical
from compendia.text.encode import Encoder

from .contribution import Contribution, Equivocation, counting, fold, statements
from .executor import Executor
from .laws import Context, merge_claims
from .memo import ViewCache, memo_key
from .merge import NO_VECTORS, MergedTool, ToolClaims, merge_tool, stance_texts
from .untyped import merge_tool_untyped

__all__ = ["POLICIES", "Contribution", "Equivocation", "Policy", "ViewCache", "fold", "view"]

Policy = Literal["conflict_log", "round_delayed", "majority", "untyped"]
POLICIES: tuple[str, ...] = get_args(Policy)


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
    cache: ViewCache | None = None,
) -> Snapshot:
    """The snapshot of a set of contributions. Same set, same bytes, whatever order, process or executor.

    grants: publisher to the organization whose definitions count. encoder: embeds scenario and precaution
    texts for clustering; its fingerprint is recorded, its vectors are not. policy: `conflict_log` is ours;
    the others are the paper's ablations: `round_delayed` shows dissent one round later, `majority` drops it,
    `untyped` votes on whole tools as flat text. cache: keep one between calls, and only tools with news are
    merged and encoded. Raises NO_SNAPSHOT when no contribution counts.
    """
    if policy not in POLICIES:
        raise error(ErrorCode.USAGE, f"unknown policy {policy!r}", "--policy", ", ".join(POLICIES))
    leaves, found = counting(contributions, equivocations)
    conflicts: list[Conflict] = list(found)
    cache = cache or ViewCache()
    if not leaves:
        raise error(ErrorCode.NO_SNAPSHOT, "no contribution counts", fix="publish at least one compendium")
    function = merge_tool_untyped if policy == "untyped" else merge_tool
    merged = _merge(leaves, grants, encoder, executor, function, cache)
    if policy == "conflict_log":
        conflicts += merged.conflicts
    elif policy == "round_delayed":
        earlier = [leaf for leaf in leaves if leaf.round < round]
        conflicts += _merge(earlier, grants, encoder, executor, merge_tool, cache).conflicts
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


def _merge(
    counted: Sequence[Contribution],
    grants: Mapping[str, str],
    encoder: Encoder,
    executor: Executor,
    function: Callable[[ToolClaims], MergedTool],
    cache: ViewCache,
) -> MergedTool:
    said, definitions = _gather(counted)
    tools = [_claims_of(tool, said[tool], grants) for tool in sorted(said)]
    keys = [memo_key(claims, function.__name__, encoder.fingerprint) for claims in tools]
    parts = [cache.get(key) for key in keys]
    missing = [place for place, part in enumerate(parts) if part is None]
    todo = [tools[place] for place in missing]
    if function is merge_tool:
        todo = _with_vectors(todo, encoder)
    for place, made in zip(missing, executor.map(function, todo), strict=True):
        cache.put(keys[place], made)
        parts[place] = made
    whole = MergedTool()
    for part in parts:
        assert part is not None
        for section, found in part.sections.items():
            whole.sections[section].extend(found)
        whole.conflicts.extend(part.conflicts)
    _merge_definitions(definitions, grants, whole)
    return whole


def _gather(
    counted: Sequence[Contribution],
) -> tuple[dict[str, dict[str, list[tuple[str, Record]]]], dict[str, list[tuple[str, Record]]]]:
    """What counts, by tool and section, for tools that somebody registers; and schema definitions by id."""
    said: dict[str, dict[str, list[tuple[str, Record]]]] = defaultdict(lambda: defaultdict(list))
    definitions: dict[str, list[tuple[str, Record]]] = defaultdict(list)
    for statement in statements(counted):
        for section, records in statement.sections.items():
            name = _tool_field(SECTIONS[section])
            for record in records:
                if isinstance(record, SchemaDefinition):
                    definitions[record.id].append((statement.org, record))
                else:
                    said[getattr(record, name)][section].append((statement.org, record))
    return {tool: claims for tool, claims in said.items() if claims.get("tools")}, definitions


@functools.cache
def _tool_field(kind: type[Record]) -> str:
    return next((f.name for f in signatures(kind) if f.signature.refers_to == "tool"), "id")


def _claims_of(
    tool: str, claims: Mapping[str, Sequence[tuple[str, Record]]], grants: Mapping[str, str]
) -> ToolClaims:
    grantee = grants.get(parse_tool_id(tool).publisher, "")
    registrars = {org for org, _ in claims["tools"]}
    return ToolClaims(
        tool=tool,
        owner=grantee if grantee in registrars else "",
        claims={section: tuple(claims[section]) for section in SECTIONS if claims.get(section)},
        texts=tuple(sorted(stance_texts(claims))),
        vectors=NO_VECTORS,
    )


def _with_vectors(tools: Sequence[ToolClaims], encoder: Encoder) -> list[ToolClaims]:
    """Every text is embedded once, here; a text that is alone in its tool has nothing to be compared with."""
    texts = sorted({text for claims in tools if len(claims.texts) > 1 for text in claims.texts})
    vectors = encoder.encode_documents(texts)
    row = {text: index for index, text in enumerate(texts)}
    return [
        replace(claims, vectors=vectors[[row[text] for text in claims.texts]])
        if len(claims.texts) > 1
        else claims
        for claims in tools
    ]


def _merge_definitions(
    definitions: Mapping[str, Sequence[tuple[str, Record]]], grants: Mapping[str, str], whole: MergedTool
) -> None:
    """Merge the schema definitions that merged records lead to; the others would only be dead weight."""
    pending = {
        target for found in whole.sections.values() for record in found for _, target in json_refs(record, "")
    }
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
