"""Which response fields to keep: deterministic, from the declared fields alone, so valid by construction.

Identifiers always; fields whose concept the request names, through names, aliases and semantic ids; then the
groups of those fields as a recall net. Where the request names no concept, every declared field: leaving out
what was meant costs more than keeping what was not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compendia.contract import Endpoint, PlannedField, ResponseField
from compendia.text.tokenize import tokenize

SOURCE_WORDS = {
    "calculated": "calculated",
    "computed": "calculated",
    "predicted": "calculated",
    "experimental": "experimental",
    "experimentally": "experimental",
    "measured": "measured",
    "literature": "literature",
    "published": "literature",
    "curated": "curated",
}
"""Words of a request to the source type of a field that they ask for."""


def project(endpoint: Endpoint, text: str, aliases: Sequence[str] = ()) -> tuple[PlannedField, ...]:
    """The fields of an endpoint to keep for a request, in declared order, each with the rule that chose it.

    aliases: `concept=alias` entries of the tool.
    """
    said = _said(text, aliases)
    fields = _of_source(endpoint.response_fields, said)
    named = {field.path for field in fields if _names(field, said)}
    # A structure that is named brings what is in it.
    named |= {f.path for f in fields for path in named if f.path.startswith((f"{path}.", f"{path}["))}
    groups = {field.group for field in fields if field.path in named and field.group}
    groups |= {f.group for f in fields if f.group and frozenset(tokenize(f.group)) <= said}
    chosen = [(field, _why(field, named, groups)) for field in fields]
    if not named and not groups:
        chosen = [(field, why or "all") for field, why in chosen]
    return tuple(_planned(field, why) for field, why in chosen if why)


def source_types(text: str) -> frozenset[str]:
    """Source types that a request asks for by name."""
    return frozenset(SOURCE_WORDS[word] for word in tokenize(text) if word in SOURCE_WORDS)


def _said(text: str, aliases: Sequence[str]) -> frozenset[str]:
    """The words of the request, with those of every concept that an alias in it stands for."""
    words = frozenset(tokenize(text))
    extra: set[str] = set()
    for entry in aliases:
        concept, _, alias = entry.partition("=")
        stands = frozenset(tokenize(alias))
        if stands and stands <= words:
            extra.update(tokenize(concept))
    return words | extra


def _of_source(fields: Iterable[ResponseField], said: frozenset[str]) -> list[ResponseField]:
    """Without the fields of another source than the one asked for; identifiers and unknown sources stay."""
    wanted = {SOURCE_WORDS[word] for word in said if word in SOURCE_WORDS}
    kept = list(fields)
    if wanted & {field.source_type for field in kept}:
        return [f for f in kept if f.identifier or f.source_type in wanted or f.source_type == "unknown"]
    return kept


def _names(field: ResponseField, said: frozenset[str]) -> bool:
    """Whether all words of the field's own name, of an alias, or of its semantic id are said."""
    leaf = field.path.rpartition(".")[2]
    concept = field.semantic_id.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
    for name in (leaf, concept, *field.aliases):
        words = frozenset(tokenize(name))
        if words and words <= said:
            return True
    return False


def _why(field: ResponseField, named: set[str], groups: set[str]) -> str:
    if field.identifier:
        return "identifier"
    if field.path in named:
        return "concept"
    return "group" if field.group in groups and field.group else ""


def _planned(field: ResponseField, why: str) -> PlannedField:
    return PlannedField.model_validate(
        {
            "path": field.path,
            "type": field.type,
            "why": why,
            "unit": field.unit,
            "semantic_id": field.semantic_id,
            "source_type": field.source_type,
            "licences": field.licences,
        }
    )
