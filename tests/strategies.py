"""Hypothesis strategies for whole compendia: every section, every kind of value the contract allows."""

from __future__ import annotations

from hypothesis import strategies as st

from compendia.contract import (
    Annex,
    CallTemplate,
    Compendium,
    Endpoint,
    Parameter,
    Precaution,
    Provenance,
    ResponseField,
    Scenario,
    SchemaDefinition,
    ToolMetadata,
    Usage,
    Window,
)
from compendia.contract.compendium import COUNT_BOUNDS, NOISED_BOUNDS

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
names = texts.filter(bool)
parts = st.from_regex(r"[a-z0-9](?:[a-z0-9._-]{0,20}[a-z0-9_])?", fullmatch=True)
tool_ids = st.builds(lambda *each: "/".join(each), parts, parts, parts)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts.filter(lambda key: key != "$ref"), inner, max_size=3)
    ),
    max_leaves=6,
)
licences = st.sampled_from(
    ["MIT", "Apache-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0", "custom:Own"]
)
licence_sets = st.lists(licences, unique=True, max_size=2).map(tuple)
source_types = st.sampled_from(["calculated", "experimental", "literature", "unknown"])
json_types = st.sampled_from(["string", "number", "integer", "boolean", "array", "object", "null", "any"])


def _unique(
    made: st.SearchStrategy[object], *keys: str, most: int = 3
) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(
        made, max_size=most, unique_by=lambda record: tuple(getattr(record, key) for key in keys)
    ).map(tuple)


provenances = st.builds(Provenance, source_type=source_types, origin=texts, version=texts)


def parameters(references: list[str]) -> st.SearchStrategy[Parameter]:
    """Parameters whose schema may refer to one of the definitions."""
    schema = json_values
    if references:
        schema |= st.sampled_from(references).map(lambda target: {"items": {"$ref": target}})
    return st.builds(
        Parameter,
        name=names,
        location=st.sampled_from(["path", "query", "body", "argument"]),
        type=json_types,
        nullable=st.booleans(),
        required=st.booleans(),
        description=texts,
        enum=st.lists(json_values, max_size=3).map(tuple),
        default=json_values,
        unit=texts,
        aliases=st.lists(names, unique=True, max_size=2).map(tuple),
        json_schema=schema,
    )


def response_fields(references: list[str]) -> st.SearchStrategy[ResponseField]:
    return st.builds(
        ResponseField,
        path=names,
        type=json_types,
        identifier=st.booleans(),
        source_type=source_types,
        schema_ref=st.sampled_from(["", *references]),
        licences=licence_sets,
    )


def endpoints(references: list[str]) -> st.SearchStrategy[Endpoint]:
    return st.builds(
        Endpoint,
        name=parts,
        title=texts,
        method=st.sampled_from(["", "GET", "POST"]),
        effect=st.sampled_from(["read", "write", "destructive", "unknown"]),
        parameters=_unique(parameters(references), "name", "location"),
        response_fields=_unique(response_fields(references), "path"),
    )


@st.composite
def compendia(draw: st.DrawFn, stage: str = "raw") -> Compendium:
    """A valid compendium; `stage` noised has signed counts."""
    definition_ids = draw(st.lists(tool_ids, unique=True, max_size=2))
    ids = draw(st.lists(tool_ids, unique=True, max_size=3))
    tools = tuple(
        ToolMetadata(
            id=id,
            title=draw(texts),
            description=draw(texts),
            endpoints=draw(_unique(endpoints(definition_ids), "name", most=2)),
            licences=draw(licence_sets),
            provenance=draw(_unique(provenances, "source_type", "origin", "version", most=2)),
        )
        for id in ids
    )
    count = st.integers(*(COUNT_BOUNDS if stage == "raw" else NOISED_BOUNDS))
    said: list[tuple[str, str, str]] = []
    if tools:
        about = st.sampled_from(tools).flatmap(
            lambda tool: st.tuples(
                st.just(tool.id), st.sampled_from(["", *(e.name for e in tool.endpoints)]), texts
            )
        )
        said = draw(st.lists(about, max_size=4, unique_by=lambda each: (each[0], each[2])))
    return Compendium(
        org=draw(parts),
        stage=stage,  # type: ignore[arg-type]
        window=Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z"),
        definitions=tuple(SchemaDefinition(id=id, body=draw(json_values)) for id in definition_ids),
        tools=tools,
        usage=tuple(Usage(tool=id, successes=draw(count), failures=draw(count)) for id in ids),
        scenarios=tuple(
            Scenario(tool=tool, endpoint=endpoint, text=text, count=draw(count), licences=draw(licence_sets))
            for tool, endpoint, text in said
        ),
        precautions=tuple(
            Precaution(tool=tool, text=text, evidence=draw(texts), severity=draw(st.sampled_from([1, 2, 3])))
            for tool, _, text in said[:2]
        ),
        templates=tuple(
            CallTemplate(tool=tool, endpoint=endpoint, arguments={"q": text, "n": draw(json_values)})
            for tool, endpoint, text in said
        ),
        annex=tuple(Annex(tool=id, key="x-own", value=draw(json_values)) for id in ids)
        + tuple(Annex(tool=id, key="same_as", value=draw(tool_ids)) for id in ids[:1]),
    )
