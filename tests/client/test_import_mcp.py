"""MCP `tools/list` results in every shape they come in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compendia.client.importers import Imported, import_source
from compendia.contract import CompendiaError, ErrorCode, ToolMetadata

TIDE = {
    "name": "getTide",
    "description": "Tide at a place.",
    "inputSchema": {"type": "object", "required": ["place"], "properties": {"place": {"type": "string"}}},
}


def imported(tree: Any, **how: str) -> Imported:
    return import_source("mcp", json.dumps(tree).encode(), **{"org": "acme", "source_name": "tides", **how})


def tools(tree: Any, **how: str) -> tuple[ToolMetadata, ...]:
    return imported(tree, **how).compendium.tools


@pytest.mark.parametrize(
    "tree",
    [
        {"tools": [TIDE]},
        [TIDE],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TIDE]}},
        [{"jsonrpc": "2.0", "id": 1, "result": {"tools": [TIDE]}}],
    ],
)
def test_shapes_of_one_server(tree: Any) -> None:
    (tool,) = tools(tree)
    assert (tool.id, tool.title) == ("tides/tides/get_tide", "getTide")
    (endpoint,) = tool.endpoints
    assert (endpoint.name, endpoint.title) == ("get_tide", "getTide")
    (place,) = endpoint.parameters
    assert (place.name, place.location, place.type, place.required) == ("place", "argument", "string", True)


def test_the_server_names_publisher_and_namespace_whoever_contributes() -> None:
    info = {"name": "tide-server", "organization": "Harbour Board", "version": "1.4", "title": "Tides"}
    tree = [
        {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": info, "capabilities": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TIDE], "nextCursor": "p2"}},
        {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "list_places"}]}},
    ]
    found = tools(tree)
    assert [t.id for t in found] == [
        "harbour_board/tide_server/get_tide",
        "harbour_board/tide_server/list_places",
    ]
    assert (found[0].provenance[0].origin, found[0].provenance[0].version) == ("Tides", "1.4")
    assert found == tools(tree, org="globex", source_name="other")
    assert tools(tree, publisher="port")[0].id == "port/tide_server/get_tide"


def test_an_unfinished_list_is_told() -> None:
    assert "nextCursor" in imported({"tools": [TIDE], "nextCursor": "more"}).notices[0]


def test_lists_of_servers() -> None:
    def server(name: str, **rest: Any) -> dict[str, Any]:
        listed = {"server_name": name, "version": "0.1", "tools": [{"name": "search"}]}
        return {"name": name.title(), "category": "Sea", "tools": {name: listed}, **rest}

    tree = [server("charts"), server("wrecks", organization="Harbour Board"), server("empty")]
    tree[2]["tools"]["empty"]["tools"] = []
    found = tools(tree)
    assert [t.id for t in found] == ["charts/charts/search", "harbour_board/wrecks/search"]
    assert found[0].category == "Sea"


def test_arguments_as_a_list_or_none_at_all() -> None:
    listed = [
        {"name": "place", "type": "string", "desc": "Where", "required": True},
        {"name": "n", "type": "number"},
    ]
    found = {
        t.title: t.endpoints[0].parameters for t in tools([{"name": "a", "arguments": listed}, {"name": "b"}])
    }
    assert [(p.name, p.type, p.required, p.description) for p in found["a"]] == [
        ("place", "string", True, "Where"),
        ("n", "number", False, ""),
    ]
    assert found["b"] == ()


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"destructiveHint": True}, "destructive"),
        ({"destructiveHint": False}, "write"),
        ({"readOnlyHint": False}, "destructive"),
        (None, "unknown"),
    ],
)
def test_hints(hints: Any, effect: str) -> None:
    (tool,) = tools([{"name": "a", "annotations": hints}])
    assert tool.endpoints[0].effect == effect


def test_output_schemas_are_response_fields_and_definitions_stay_per_tool() -> None:
    def tool(name: str, kind: str) -> dict[str, Any]:
        schema = {
            "type": "object",
            "$defs": {"Node": {"properties": {"v": {"type": kind}, "next": {"$ref": "#/$defs/Node"}}}},
            "properties": {"root": {"$ref": "#/$defs/Node"}},
        }
        return {"name": name, "inputSchema": schema, "outputSchema": schema}

    made = imported([tool("a", "string"), tool("b", "integer")]).compendium
    assert [f.path for f in made.tools[0].endpoints[0].response_fields] == ["root.v", "root.next"]
    assert {d.id: d.body["properties"]["v"]["type"] for d in made.definitions} == {  # type: ignore[index,call-overload]
        "tides/tides/a.input.node": "string",
        "tides/tides/a.output.node": "string",
        "tides/tides/b.input.node": "integer",
        "tides/tides/b.output.node": "integer",
    }


def test_a_schema_that_refers_to_its_own_root() -> None:
    schema = {
        "type": "object",
        "properties": {"child": {"$ref": "#"}, "kind": {"$ref": "#/properties/child"}},
    }
    made = imported([{"name": "a", "inputSchema": schema}]).compendium
    assert [p.name for p in made.tools[0].endpoints[0].parameters] == ["child", "kind"]
    assert len(made.definitions) == 2


def test_two_tools_of_one_name_are_both_kept() -> None:
    other = TIDE | {"description": "Another tide."}
    result = imported([TIDE, other, TIDE])
    assert len({t.id for t in result.compendium.tools}) == 2
    assert {t.description for t in result.compendium.tools} == {"Tide at a place.", "Another tide."}
    assert {t.title for t in result.compendium.tools} == {"getTide"}
    assert imported([other, TIDE]).compendium.tools[0].id == result.compendium.tools[0].id
    assert any("different definitions" in n for n in result.notices)
    assert any("counts once" in n for n in result.notices)


def test_names_of_one_slug_are_both_kept() -> None:
    assert len({t.id for t in tools([{"name": "get_tide"}, {"name": "getTide"}, {"name": "获取"}])}) == 3


def test_an_empty_list_is_no_error() -> None:
    for tree in ([], {"tools": []}):
        result = imported(tree)
        assert result.compendium.tools == ()
        assert result.notices == ("the source lists no tools",)


def test_extensions() -> None:
    tree = {"tools": [TIDE | {"x-licence": "CC-BY-4.0"}], "x-concept-aliases": {"tide": "sea level"}}
    made = imported(tree).compendium
    assert made.tools[0].licences == ("CC-BY-4.0",)
    assert [(a.key, a.value) for a in made.annex] == [("concept_alias", "tide=sea level")]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"openapi": "3.0.0", "paths": {}}, "kind `openapi`"),
        ([{"name": "f", "parameters": {}}], "kind `functions`"),
        ([{"query": "q", "api_list": []}], "kind `toolbench`"),
        ([{"description": "nameless"}], "no name"),
        (
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}},
            "Method not found",
        ),
    ],
)
def test_other_sources_are_refused_with_one_message(tree: Any, words: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        imported(tree)
    assert caught.value.code is ErrorCode.SOURCE_UNSUPPORTED
    assert words in str(caught.value)
