"""ToolBench and StableToolBench files: every tool of a category becomes one tool, its APIs the endpoints.

Read are arrays of `{query, api_list, ...}`, bare lists or lines of API entries, and RapidAPI's own tool files
(one object with `tool_name` and `api_list`). One API listed many times counts once; where its listings
differ, their parameters and response fields are joined and the longest description is kept, so that the
order of queries decides nothing. `template_response` and `return_schema` are examples whose leaves name
types (`"int"`, `"list of str with length 4"`); they become response fields.

Ids are `rapidapi/category/tool`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from compendia.contract import (
    Annex,
    Endpoint,
    Parameter,
    Provenance,
    ResponseField,
    ToolMetadata,
    strict_json,
)
from compendia.contract.ids import distinct_slugs

from . import meanings as notes
from .naming import unsupported
from .schema_fields import response_fields
from .schema_parameters import Location, coerced, parameter
from .schema_space import TYPE_NAMES, SchemaSpace
from .source import Harvest, Source
from .texts import clean, clean_name
from .toolbench_response import example_schema

PUBLISHER = "rapidapi"  # the marketplace that all of ToolBench's tools come from
_WANTED = "an array of {query, api_list}, or a list of entries with tool_name and api_name"
_EFFECTS: dict[str, Literal["read", "write", "destructive"]] = {
    "GET": "read", "HEAD": "read", "POST": "write", "PUT": "write", "PATCH": "write", "DELETE": "destructive",
}  # fmt: skip


def read(source: Source) -> Harvest:
    """Import a parsed ToolBench file. Raises SOURCE_UNSUPPORTED if it is none."""
    tools: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = {}
    for index, entry in enumerate(_distinct(_entries(source.tree, {}))):
        place = f"api[{index}]"
        key = tuple(clean_name(entry.get(k), source.notices, place) for k in ("category_name", "tool_name"))
        api = clean_name(entry.get("api_name"), source.notices, place)
        if not key[1] or not api:
            raise unsupported(f"{place} has no tool_name or no api_name", _WANTED, source.tree)
        tools.setdefault((key[0] or "uncategorized", key[1]), {}).setdefault(api, []).append(entry)
    publisher = source.publisher_or(PUBLISHER)
    harvest = Harvest()
    categories = _parts({category for category, _ in tools})
    names = {c: _parts({tool for category, tool in tools if category == c}) for c in categories}
    for (category, tool), apis in tools.items():
        tool_id = f"{publisher}/{categories[category]}/{names[category][tool]}"
        _read_tool(tool_id, category, tool, apis, source, harvest)
    return harvest


def _parts(texts: set[str]) -> dict[str, str]:
    ordered = sorted(texts)
    return dict(zip(ordered, distinct_slugs(ordered), strict=True))


def _entries(node: Any, outer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """API entries under the names of StableToolBench, wherever they stand."""
    if isinstance(node, list):
        for entry in node:
            yield from _entries(entry, outer)
    elif not isinstance(node, dict):
        raise unsupported("an entry is no object", _WANTED, None)
    elif isinstance(node.get("api_list"), list):
        yield from _entries(node["api_list"], {k: v for k, v in node.items() if k != "api_list"})
    else:
        names = {
            "category_name": ("category_name", "category"),
            "tool_name": ("tool_name",),
            "api_name": ("api_name", "name"),
            "api_description": ("api_description", "description"),
            "required": ("required_parameters", "required_params"),
            "optional": ("optional_parameters", "optional_params"),
            "response": ("template_response", "return_schema", "schema"),
            "method": ("method",),
            "tool_description": ("tool_description",),
        }
        found = {
            key: next(
                (
                    at[w]
                    for at in (node, outer)
                    for w in words
                    if w in at and not (at is outer and w == "name")
                ),
                None,
            )
            for key, words in names.items()
        }
        if found["tool_name"] is None or found["api_name"] is None:
            raise unsupported("an entry names no tool_name and api_name", _WANTED, [node])
        extensions = {k: v for k, v in {**outer, **node}.items() if k.startswith("x-")}
        yield {**found, **extensions}


def _distinct(entries: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for entry in entries:
        digest = strict_json.digest(entry)
        if digest not in seen:
            seen.add(digest)
            yield entry


def _read_tool(
    tool_id: str,
    category: str,
    tool: str,
    apis: dict[str, list[dict[str, Any]]],
    source: Source,
    harvest: Harvest,
) -> None:
    notices, prefix = source.notices, tool_id.rsplit("/", 1)[0]
    parts = _parts(set(apis))
    entries = [entry for listed in apis.values() for entry in listed]
    descriptions = {clean(entry.get("tool_description"), notices, tool) for entry in entries}
    harvest.tools.append(
        ToolMetadata(
            id=tool_id,
            title=tool,
            description=max(descriptions, key=lambda text: (len(text), text)),
            category=category,
            endpoints=tuple(
                _endpoint(parts[api], api, listed, f"{tool}: {api}", prefix, source)
                for api, listed in apis.items()
            ),
            licences=tuple(dict.fromkeys(held for entry in entries for held in notes.licences(entry))),
            provenance=(
                Provenance(
                    source_type=notes.source_type(entries[0], notices, tool),
                    origin=clean(tool, notices, tool),
                    digest=source.digest,
                ),
            ),
        )
    )
    aliases: dict[str, Annex] = {}
    for entry in entries:
        for found in notes.concept_aliases(entry, tool_id, notices, tool):
            aliases.setdefault(str(found.value), found)
    harvest.annex += aliases.values()


def _endpoint(
    part: str, api: str, listed: list[dict[str, Any]], place: str, prefix: str, source: Source
) -> Endpoint:
    notices = source.notices
    ordered = sorted(listed, key=lambda e: (-len(str(e.get("api_description"))), strict_json.canonical(e)))
    if len(ordered) > 1:
        notices.add("an API is listed with different definitions; they were joined", place)
    parameters: dict[tuple[str, str], Parameter] = {}
    fields: dict[str, ResponseField] = {}
    for entry in ordered:
        for found in _parameters(entry, source, prefix, place):
            parameters.setdefault((found.name, found.location), found)
        schema = example_schema(entry.get("response"), notices, place)
        if schema:
            space = SchemaSpace(schema, prefix=prefix, notices=notices)
            for made in response_fields(space, schema, place=place):
                fields.setdefault(made.path, made)
    method = str(ordered[0].get("method") or "").upper()
    return Endpoint(
        name=part,
        title=api,
        description=clean(ordered[0].get("api_description"), notices, place),
        method=clean(method, notices, place),
        effect=_EFFECTS.get(method, "unknown"),
        parameters=tuple(parameters.values()),
        response_fields=tuple(fields.values()),
    )


def _parameters(entry: dict[str, Any], source: Source, prefix: str, place: str) -> Iterator[Parameter]:
    for required in (True, False):
        listed = entry.get("required" if required else "optional")
        for node in listed if isinstance(listed, list) else []:
            name = node.get("name") if isinstance(node, dict) else None
            if not isinstance(name, str):
                source.notices.add("a parameter without a name was left out", place)
                continue
            schema, location = _parameter_schema(node), _location(name, entry)
            space = SchemaSpace(schema, prefix=prefix, notices=source.notices)
            found = parameter(space, name, schema, location=location, required=required, place=place)
            if found:
                yield found


def _parameter_schema(node: dict[str, Any]) -> dict[str, Any]:
    """`{name, type, description, default}` as a schema. Defaults are texts, an empty one is none."""
    declared = str(node.get("type") or "")
    words = declared.split("(")[0].strip().lower()
    kind = TYPE_NAMES.get(words, "string" if words in {"time", "binary"} else "")
    schema = {k: v for k, v in node.items() if k in {"description", "enum"} or k.startswith("x-")}
    default = node.get("default")
    if default not in (None, ""):
        value, fits = coerced(default, kind or "any")
        schema["default"] = value if fits else default
    if kind:
        schema["type"] = kind
    if "(" in declared:  # DATE (YYYY-MM-DD), TIME (24-hour HH:MM)
        schema["format"] = "date" if words == "date" else declared.split("(")[1].rstrip(")")
    return schema


def _location(name: str, entry: dict[str, Any]) -> Location:
    """The dataset does not say where a parameter goes; only a path written as the API's name does."""
    api = str(entry.get("api_name"))
    return "path" if f"{{{name}}}" in api and "/" in api else "argument"
