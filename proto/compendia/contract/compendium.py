"""The compendium: what one organization publishes, and what a snapshot holds after the merge.

`Compendium = (M, U, P, T, A)`: tools (with shared schema definitions) and their usage, scenarios,
precautions, call templates, annex. Every field carries its `Signature`; a new field is one line here.
Records are frozen and strict: no coercion, no unknown fields.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from .ids import check_part, check_tool_id
from .licence import check_licence
from .signature import Law, Role, Signature
from .strict_json import check_text
from .times import check_time

SCHEMA_VERSION = 1
MAX_TEXT = 16_384
MAX_COUNT = 1_000_000
COUNT_BOUNDS = (0, MAX_COUNT)
NOISED_BOUNDS = (-2 * MAX_COUNT, 2 * MAX_COUNT)


class Record(BaseModel):
    """Base of every record: frozen, strict, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(check_text)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256), AfterValidator(check_text)]
Part = Annotated[str, AfterValidator(check_part)]
ToolName = Annotated[str, AfterValidator(check_tool_id)]
Licence = Annotated[str, StringConstraints(max_length=256), AfterValidator(check_licence)]
Licences = Annotated[tuple[Licence, ...], Field(strict=False)]
Names = Annotated[tuple[Name, ...], Field(strict=False)]
Count = Annotated[int, Field(ge=-(2**53), le=2**53)]  # a merged sum; what one organization may send: _COUNT
Timestamp = Annotated[str, AfterValidator(check_time)]
JsonType = Literal["string", "number", "integer", "boolean", "array", "object", "null", "any"]
SourceType = Literal["calculated", "experimental", "literature", "measured", "curated", "user", "unknown"]

_KEY = Signature(Role.IDENTITY, Law.KEY)
_DOC = Signature(Role.DOCUMENTATION, Law.OWNER)
_COUNT = Signature(Role.STATISTIC, Law.SUM, bounds=COUNT_BOUNDS, wire_bounds=NOISED_BOUNDS)
_LICENCES = Signature(Role.POLICY, Law.KEEP_ALL)
_PROVENANCE = Signature(Role.POLICY, Law.KEEP_ALL)
_SUPPORT = Signature(Role.COMPUTED, Law.COMPUTED)
_TOOL_KEY = Signature(Role.IDENTITY, Law.KEY, refers_to="tool")
_ENDPOINT = Signature(Role.IDENTITY, Law.MAJORITY, refers_to="endpoint")


def _card(heading: str, order: int, role: Role = Role.DOCUMENTATION, law: Law = Law.OWNER) -> Signature:
    return Signature(role, law, heading=heading, order=order)


class Provenance(Record):
    """Where a claim comes from: kind of source, origin (a title or public address), version, digest."""

    source_type: Annotated[SourceType, _KEY] = "unknown"
    origin: Annotated[Text, _KEY] = ""
    version: Annotated[Text, _KEY] = ""
    digest: Annotated[Text, _KEY] = ""


Provenances = Annotated[tuple[Provenance, ...], Field(strict=False)]


class SchemaDefinition(Record):
    """A shared JSON Schema, kept with its `$ref`s (also recursive ones). References name definition ids."""

    id: Annotated[ToolName, _KEY]
    body: Annotated[JsonValue, _DOC]


class Parameter(Record):
    """One argument of an endpoint. `default` null means none; `json_schema` holds what `type` cannot say."""

    name: Annotated[Name, _KEY]
    location: Annotated[Literal["path", "query", "header", "cookie", "body", "form", "argument"], _KEY] = (
        "argument"
    )
    type: Annotated[JsonType, _DOC] = "any"
    nullable: Annotated[bool, _DOC] = False
    required: Annotated[bool, _DOC] = False
    description: Annotated[Text, _DOC] = ""
    enum: Annotated[tuple[JsonValue, ...], Field(strict=False), _DOC] = ()
    default: Annotated[JsonValue, _DOC] = None
    unit: Annotated[Text, _DOC] = ""
    semantic_id: Annotated[Text, _DOC] = ""
    aliases: Annotated[Names, Signature(Role.DOCUMENTATION, Law.UNION)] = ()
    json_schema: Annotated[JsonValue, _DOC] = None


class ResponseField(Record):
    """One field of a response by its dotted path (`data[].name`; `[]` alone is an array root).

    `schema_ref` names the definition at which a recursive schema was left folded.
    """

    path: Annotated[Name, _KEY]
    type: Annotated[JsonType, _DOC] = "any"
    nullable: Annotated[bool, _DOC] = False
    description: Annotated[Text, _DOC] = ""
    unit: Annotated[Text, _DOC] = ""
    semantic_id: Annotated[Text, _DOC] = ""
    aliases: Annotated[Names, Signature(Role.DOCUMENTATION, Law.UNION)] = ()
    identifier: Annotated[bool, _DOC] = False
    group: Annotated[Text, _DOC] = ""
    source_type: Annotated[SourceType, _DOC] = "unknown"
    schema_ref: Annotated[Text, _DOC] = ""
    licences: Annotated[Licences, _LICENCES] = ()


class Endpoint(Record):
    """One thing a tool can do. `title` is the source's own name, as the provider must be called."""

    name: Annotated[Part, _KEY]
    title: Annotated[Text, _card("Endpoint", 30)] = ""
    description: Annotated[Text, _card("Does", 31)] = ""
    method: Annotated[Text, _DOC] = ""
    path: Annotated[Text, _DOC] = ""
    effect: Annotated[Literal["read", "write", "destructive", "unknown"], _DOC] = "unknown"
    parameters: Annotated[tuple[Parameter, ...], Field(strict=False), _card("Takes", 32)] = ()
    response_fields: Annotated[tuple[ResponseField, ...], Field(strict=False), _card("Returns", 33)] = ()


class ToolMetadata(Record):
    """M: a tool as its publisher documents it."""

    id: Annotated[ToolName, _KEY]
    title: Annotated[Text, _card("Tool", 10)] = ""
    description: Annotated[Text, _card("Description", 20)] = ""
    category: Annotated[Text, _card("Category", 11)] = ""
    endpoints: Annotated[tuple[Endpoint, ...], Field(strict=False), _card("Endpoints", 30)] = ()
    licences: Annotated[Licences, _LICENCES] = ()
    provenance: Annotated[Provenances, _PROVENANCE] = ()


class Usage(Record):
    """Successes and failures of the compendium's window: disjoint counts, never a rate."""

    tool: Annotated[ToolName, _TOOL_KEY]
    successes: Annotated[Count, _COUNT] = 0
    failures: Annotated[Count, _COUNT] = 0
    support: Annotated[int | None, _SUPPORT] = None


class Scenario(Record):
    """U: a masked request for which the tool worked, `count` times here."""

    tool: Annotated[ToolName, _TOOL_KEY]
    text: Annotated[Text, Signature(Role.TEXT, Law.KEY, heading="Worked for", order=40)]
    endpoint: Annotated[str, _ENDPOINT] = ""
    count: Annotated[Count, _COUNT] = 1
    support: Annotated[int | None, _SUPPORT] = None
    licences: Annotated[Licences, _LICENCES] = ()


class Precaution(Record):
    """P: a masked request for which the tool should *not* be used, and why."""

    tool: Annotated[ToolName, _TOOL_KEY]
    text: Annotated[Text, Signature(Role.TEXT, Law.KEY, heading="Do not use for", order=50)]
    kind: Annotated[
        Literal["wrong_for", "deprecated", "unsafe", "limited", "unreliable"],
        Signature(Role.IDENTITY, Law.MAJORITY),
    ] = "wrong_for"
    evidence: Annotated[Text, Signature(Role.TEXT, Law.MAJORITY)] = ""
    endpoint: Annotated[str, _ENDPOINT] = ""
    severity: Annotated[Literal[1, 2, 3], Signature(Role.STATISTIC, Law.MAX, bounds=(1, 3))] = 1
    count: Annotated[Count, _COUNT] = 1
    support: Annotated[int | None, _SUPPORT] = None
    licences: Annotated[Licences, _LICENCES] = ()


class CallTemplate(Record):
    """T: an argument skeleton that worked; values are placeholders such as `<NUMBER>`, or enum words."""

    tool: Annotated[ToolName, _TOOL_KEY]
    endpoint: Annotated[str, Signature(Role.IDENTITY, Law.KEY, refers_to="endpoint")]
    arguments: Annotated[dict[Name, JsonValue], Signature(Role.TEXT, Law.KEY, heading="Call", order=60)]
    count: Annotated[Count, _COUNT] = 1
    support: Annotated[int | None, _SUPPORT] = None


class Annex(Record):
    """A: one typed fact about a tool: region, cost, rate limit, alias of a concept, `same_as` a mirror."""

    tool: Annotated[ToolName, _TOOL_KEY]
    key: Annotated[Part, _KEY]
    value: Annotated[JsonValue, _KEY]
    support: Annotated[int | None, _SUPPORT] = None
    licences: Annotated[Licences, _LICENCES] = ()


ANNEX_TYPES: dict[str, type | tuple[type, ...]] = {
    "region": str,
    "cost_per_call": (int, float),
    "currency": str,
    "rate_limit_per_minute": int,
    "concept_alias": str,  # "concept=alias"
    "same_as": str,  # a tool id
    "language": str,
    "authentication": str,
}
"""Types of the known annex keys. A key of your own starts with `x-` and may hold any JSON value."""


class Window(Record):
    """The half-open interval [start, end) of UTC time that the statistics count; windows never overlap."""

    start: Timestamp
    end: Timestamp


class Compendium(Record):
    """One organization's contribution, or (inside a snapshot, `org` empty) the merge of many.

    stage: `raw` numbers obey the raw bounds; `noised` ones are signed and obey the wire bounds.
    pinned: revision of the snapshot whose tools may be referred to as well; empty for none.
    """

    schema_version: int = SCHEMA_VERSION
    org: str = ""
    stage: Literal["raw", "noised"] = "raw"
    pinned: str = ""
    window: Window | None = None
    definitions: Annotated[tuple[SchemaDefinition, ...], Field(strict=False)] = ()
    tools: Annotated[tuple[ToolMetadata, ...], Field(strict=False)] = ()
    usage: Annotated[tuple[Usage, ...], Field(strict=False)] = ()
    scenarios: Annotated[tuple[Scenario, ...], Field(strict=False)] = ()
    precautions: Annotated[tuple[Precaution, ...], Field(strict=False)] = ()
    templates: Annotated[tuple[CallTemplate, ...], Field(strict=False)] = ()
    annex: Annotated[tuple[Annex, ...], Field(strict=False)] = ()


SECTIONS: dict[str, type[Record]] = {
    "definitions": SchemaDefinition,
    "tools": ToolMetadata,
    "usage": Usage,
    "scenarios": Scenario,
    "precautions": Precaution,
    "templates": CallTemplate,
    "annex": Annex,
}
"""The compendium's tuple fields and their record types, in document order."""

HEADER_FIELDS = tuple(name for name in Compendium.model_fields if name not in SECTIONS)
