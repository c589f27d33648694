"""Function lists of the providers and of BFCL and Seal-Tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compendia.client.importers import Imported, import_source
from compendia.contract import CompendiaError, ErrorCode

SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {"n": {"type": "integer", "description": "How many"}},
}
FLAT = {"type": "function", "name": "book.berth", "description": "Book a berth.", "parameters": SCHEMA}
WRAPPED = {"type": "function", "function": {k: v for k, v in FLAT.items() if k != "type"}}
ANTHROPIC = {"name": "book.berth", "description": "Book a berth.", "input_schema": SCHEMA}


def imported(data: Any, **how: str) -> Imported:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return import_source("functions", raw, **{"org": "acme", "source_name": "Quay Tools", **how})


@pytest.mark.parametrize(
    "tree", [[FLAT], [WRAPPED], [ANTHROPIC], {"tools": [WRAPPED]}, {"functions": [FLAT]}, FLAT, WRAPPED]
)
def test_shapes(tree: Any) -> None:
    (tool,) = imported(tree).compendium.tools
    assert tool.id == "quay_tools/quay_tools/book.berth"
    assert (tool.title, tool.description) == ("book.berth", "Book a berth.")
    (parameter,) = tool.endpoints[0].parameters
    assert (parameter.name, parameter.type, parameter.required) == ("n", "integer", True)
    assert imported(tree, publisher="quay.net").compendium.tools[0].id == "quay.net/quay_tools/book.berth"


def test_lines_with_python_like_types() -> None:
    parameters = {
        "type": "dict",
        "required": ["where"],
        "properties": {
            "where": {"type": "tuple", "items": {"type": "float"}},
            "depth": {"type": "float", "default": 2},
            "extra": {"type": "any"},
            "more": {"type": "dict", "properties": {"deep": {"type": "String"}}},
        },
    }
    lines = [
        {"id": "1", "question": [], "function": [{"name": "moor", "parameters": parameters}]},
        {
            "id": "2",
            "question": [],
            "function": [{"name": "moor", "parameters": parameters}, {"name": "cast_off"}],
        },
        {"id": "3", "question": [], "function": []},
    ]
    result = imported("\n".join(json.dumps(line) for line in lines).encode())
    cast_off, moor = result.compendium.tools
    assert cast_off.endpoints[0].parameters == ()
    assert {p.name: p.type for p in moor.endpoints[0].parameters} == {
        "where": "array", "depth": "number", "extra": "any", "more": "object",
    }  # fmt: skip
    more = next(p for p in moor.endpoints[0].parameters if p.name == "more")
    assert more.json_schema == {"type": "object", "properties": {"deep": {"type": "string"}}}


def test_bare_maps_of_parameters_and_responses() -> None:
    tree = {
        "api_name": "berthPlan",
        "api_description": "Plan berths.",
        "field": "Sea/Ports",
        "parameters": {"type": {"type": "str", "description": "Kind"}, "count": {"type": "int"}},
        "required": ["type"],
        "responses": {"plan_id": {"type": "str"}, "ok": {"type": "bool"}},
    }
    (tool,) = imported([tree]).compendium.tools
    endpoint = tool.endpoints[0]
    assert tool.category == "Sea/Ports"
    assert [(p.name, p.type, p.required) for p in endpoint.parameters] == [
        ("type", "string", True),
        ("count", "integer", False),
    ]
    assert [(f.path, f.type, f.identifier) for f in endpoint.response_fields] == [
        ("plan_id", "string", True),
        ("ok", "boolean", False),
    ]


def test_one_name_with_several_definitions_is_kept_several_times() -> None:
    other = ANTHROPIC | {"description": "Book another berth."}
    first = imported([ANTHROPIC, other]).compendium.tools
    assert {t.description for t in first} == {"Book a berth.", "Book another berth."}
    assert [t.id for t in first] == [t.id for t in imported([other, ANTHROPIC]).compendium.tools]


@pytest.mark.parametrize(
    "tree", [{"hello": 1}, ["text"], [{"description": "nameless"}], [{"name": "t", "inputSchema": {}}]]
)
def test_other_sources_are_refused(tree: Any) -> None:
    with pytest.raises(CompendiaError) as caught:
        imported(tree)
    assert caught.value.code is ErrorCode.SOURCE_UNSUPPORTED
