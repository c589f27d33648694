"""ToolBench files: one tool with many endpoints, whatever the order of the queries that list them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from compendia.client.importers import Imported, import_source
from compendia.client.importers.texts import Notices
from compendia.client.importers.toolbench_response import example_schema
from compendia.contract import CompendiaError, ErrorCode


def imported(data: Any, **how: str) -> Imported:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return import_source("toolbench", raw, **{"org": "acme", "source_name": "tb", **how})


def api(tool: str, name: str, **rest: Any) -> dict[str, Any]:
    return {
        "category_name": "Sea Travel",
        "tool_name": tool,
        "api_name": name,
        "api_description": f"{name} of {tool}",
        "required_parameters": [],
        "optional_parameters": [],
        "method": "GET",
        **rest,
    }


def query(*apis: dict[str, Any]) -> dict[str, Any]:
    return {"query": "q", "query_id": 1, "relevant APIs": [], "api_list": list(apis)}


def test_apis_of_many_queries_become_endpoints_of_one_tool() -> None:
    tree = [
        query(api("Ferry Times", "Search"), api("Ferry Times", "By id")),
        query(api("Ferry Times", "Search")),
    ]
    (tool,) = imported(tree).compendium.tools
    assert (tool.id, tool.title, tool.category) == (
        "rapidapi/sea_travel/ferry_times",
        "Ferry Times",
        "Sea Travel",
    )
    assert [(e.name, e.title) for e in tool.endpoints] == [("search", "Search"), ("by_id", "By id")]
    assert imported(tree, publisher="mirror").compendium.tools[0].id == "mirror/sea_travel/ferry_times"


def test_parameters_and_their_textual_defaults() -> None:
    required = [
        {"name": "from", "type": "STRING", "description": "Port", "default": "Oslo"},
        {"name": "pax", "type": "NUMBER", "description": "", "default": "2"},
        {"name": "day", "type": "DATE (YYYY-MM-DD)", "description": "", "default": ""},
    ]
    optional = [
        {"name": "cars", "type": "BOOLEAN", "description": "", "default": "false"},
        {"name": "max", "type": "NUMBER", "description": "", "default": "lots"},
    ]
    result = imported([api("F", "S", required_parameters=required, optional_parameters=optional)])
    found = {p.name: p for p in result.compendium.tools[0].endpoints[0].parameters}
    assert {n: (p.type, p.required, p.default) for n, p in found.items()} == {
        "from": ("string", True, "Oslo"),
        "pax": ("number", True, 2),
        "day": ("string", True, None),
        "cars": ("boolean", False, False),
        "max": ("number", False, None),
    }
    assert found["day"].json_schema == {"type": "string", "format": "date"}
    assert len(result.notices) == 1
    assert "max" in result.notices[0]


def test_example_responses_become_fields() -> None:
    example = {
        "results": [{"id": "str", "price": "float", "gone": "NoneType", "_list_length": 19}],
        "tags": ["list of str with length 4"],
        "grid": "list of list with length 2",
        "none": ["empty list"],
        "ok": "bool",
    }
    for key in ("template_response", "return_schema"):
        (tool,) = imported([api("F", "S", **{key: example})]).compendium.tools
        found = {f.path: f for f in tool.endpoints[0].response_fields}
        assert {path: f.type for path, f in found.items()} == {
            "results[].id": "string",
            "results[].price": "number",
            "results[].gone": "any",
            "tags[]": "string",
            "grid[]": "array",
            "none[]": "any",
            "ok": "boolean",
        }
        assert found["results[].gone"].nullable
        assert found["results[].id"].identifier


def test_example_responses_that_were_cut_off_keep_what_is_whole() -> None:
    whole = json.dumps({"a": "str", "b": [{"c": "int", "d": "str"}], "e": "float"})
    full = example_schema(whole, Notices(), "")
    assert set(full["properties"]) == {"a", "b", "e"}
    for end in range(1, len(whole)):
        notices = Notices()
        found = example_schema(whole[:end], notices, "here")
        assert set(found.get("properties", {})) <= {"a", "b", "e"}
        assert notices.lines(), "a cut is always told"
    cut = example_schema(whole[: whole.index('"d"') + 6], Notices(), "")
    assert set(cut["properties"]["b"]["items"]["properties"]) == {"c"}
    assert example_schema("", Notices(), "") == {}
    assert example_schema("no JSON", Notices(), "") == {}


def test_differing_listings_are_joined_in_any_order() -> None:
    variants = [
        api("F", "S", api_description="Short"),
        api("F", "S", api_description="The longest of all"),
        api("F", "S", api_description="Middling", optional_parameters=[{"name": "x", "type": "STRING"}]),
        api("F", "S", api_description="Other", template_response={"y": "int"}),
    ]
    first = imported(variants)
    (endpoint,) = first.compendium.tools[0].endpoints
    assert endpoint.description == "The longest of all"
    assert [p.name for p in endpoint.parameters] == ["x"]
    assert [f.path for f in endpoint.response_fields] == ["y"]
    assert any("joined" in notice for notice in first.notices)
    for seed in range(5):
        shuffled = random.Random(seed).sample(variants, len(variants))
        assert imported(shuffled).compendium.tools[0].endpoints == (endpoint,)


def test_names_that_look_alike_stay_apart() -> None:
    tree = [api("F", "get item"), api("F", "get_item"), api("f", "x"), api("F", "x")]
    made = imported(tree).compendium
    assert len(made.tools) == 2
    assert sum(len(t.endpoints) for t in made.tools) == 4


def test_lines_and_tool_files() -> None:
    line = {"category": "Sea", "tool_name": "Ferry", "api_name": "S", "description": "d", "return_schema": ""}
    lines = "\n".join(json.dumps(line | {"api_name": name}) for name in "ab").encode()
    (tool,) = imported(lines).compendium.tools
    assert (tool.id, len(tool.endpoints)) == ("rapidapi/sea/ferry", 2)
    whole = {
        "tool_name": "Ferry",
        "tool_description": "All ferries.",
        "name": "ferry",
        "api_list": [{"name": "S", "description": "Search", "method": "POST"}],
    }
    (tool,) = imported(whole).compendium.tools
    assert (tool.id, tool.description) == ("rapidapi/uncategorized/ferry", "All ferries.")
    assert (tool.endpoints[0].title, tool.endpoints[0].effect) == ("S", "write")


@pytest.mark.parametrize(
    "tree", [{"openapi": "3.0.0"}, [{"name": "x"}], ["text"], {"api_list": [{"name": "S"}]}]
)
def test_other_sources_are_refused(tree: Any) -> None:
    with pytest.raises(CompendiaError) as caught:
        imported(tree)
    assert caught.value.code is ErrorCode.SOURCE_UNSUPPORTED
