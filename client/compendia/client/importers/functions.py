"""Function lists: every function becomes one tool with one endpoint.

Read are OpenAI's `{"type": "function", "function": {...}}` and the flat form, Anthropic's `input_schema`,
lists inside `tools` or `functions`, lines of JSON that hold one function or a `function` list each (BFCL,
also with Python-like types: dict, float, tuple), and `api_name` entries whose parameters are a bare map
(Seal-Tools). One name with several definitions is kept several times, apart by a digest.

Ids are `publisher/namespace/name`: publisher and namespace are the source's name, `--publisher` overrides
the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from compendia.contract import Endpoint, Provenance, ToolMetadata
from compendia.contract.ids import slug

from . import meanings as notes
from .naming import distinct_definitions, unsupported
from .schema_fields import response_fields
from .schema_parameters import properties_as_parameters
from .schema_space import SchemaSpace
from .source import Harvest, Source
from .texts import clean, clean_name

_WANTED = "a list of functions with `name` and `parameters` (or `input_schema`)"


def read(source: Source) -> Harvest:
    """Import a parsed function list. Raises SOURCE_UNSUPPORTED if it is none."""
    prefix = f"{source.publisher_or('')}/{slug(source.name)}"
    named = []
    for index, function in enumerate(_functions(source.tree)):
        name = clean_name(
            function.get("name", function.get("api_name")), source.notices, f"functions[{index}]"
        )
        if not name:
            raise unsupported(f"functions[{index}] has no name", _WANTED, source.tree)
        named.append((name, function))
    harvest = Harvest()
    for part, name, function in distinct_definitions(named, source.notices, "a function"):
        _read_function(f"{prefix}/{part}", name, function, source, harvest)
    return harvest


def _functions(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        listed = next((tree[key] for key in ("tools", "functions", "function") if key in tree), [tree])
        tree = listed if isinstance(listed, list) else [tree]
    for entry in tree:
        inner = entry.get("function", entry) if isinstance(entry, dict) else None
        if isinstance(inner, list):
            yield from _functions(inner)
        elif isinstance(inner, dict) and _is_function(inner):
            yield inner
        else:
            raise unsupported("an entry is no function", _WANTED, tree)


def _is_function(node: dict[str, Any]) -> bool:
    name = node.get("name", node.get("api_name"))
    foreign = "inputSchema" in node or "arguments" in node or "tool_name" in node
    return isinstance(name, str) and not foreign


def _read_function(
    tool_id: str, name: str, function: dict[str, Any], source: Source, harvest: Harvest
) -> None:
    notices = source.notices
    prefix, part = tool_id.rsplit("/", 1)
    takes = _object_schema(function, function.get("parameters", function.get("input_schema")), "required")
    gives = _object_schema(function, function.get("responses", function.get("output_schema")), "")
    inputs = SchemaSpace(takes, prefix=prefix, notices=notices, scope=f"{part}.input")
    outputs = SchemaSpace(gives, prefix=prefix, notices=notices, scope=f"{part}.output")
    harvest.tools.append(
        ToolMetadata(
            id=tool_id,
            title=name,
            description=clean(function.get("description", function.get("api_description")), notices, name),
            category=clean(function.get("field"), notices, name),
            endpoints=(
                Endpoint(
                    name=part,
                    title=name,
                    parameters=tuple(
                        properties_as_parameters(
                            inputs, takes, location="argument", required=True, place=name
                        )
                    ),
                    response_fields=response_fields(outputs, gives, place=name) if gives else (),
                ),
            ),
            licences=notes.licences(function),
            provenance=(
                Provenance(
                    source_type=notes.source_type(function, notices, name),
                    origin=clean(source.name, notices, name),
                    digest=source.digest,
                ),
            ),
        )
    )
    harvest.annex += notes.concept_aliases(function, tool_id, notices, name)
    harvest.definitions += [*inputs.definitions(), *outputs.definitions()]


def _object_schema(function: dict[str, Any], schema: Any, required: str) -> dict[str, Any]:
    """The schema, or a bare map of names to schemas as the object schema it means."""
    if not isinstance(schema, dict) or not schema:
        return {}
    described = {"type", "properties", "$ref", "oneOf", "anyOf", "allOf", "$defs"} & schema.keys()
    if any(not isinstance(value, dict) for value in schema.values()) or (
        described and not isinstance(schema.get("type"), dict)
    ):
        return schema
    names = function.get(required) if required else None
    return {"type": "object", "properties": schema, "required": names if isinstance(names, list) else []}
