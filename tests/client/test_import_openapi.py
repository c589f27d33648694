"""OpenAPI and Swagger documents: names, publishers, parameters, responses, each quirk in a small document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compendia.client.importers import Imported, import_source
from compendia.contract import CompendiaError, Endpoint, ErrorCode, ToolMetadata, document


def described(paths: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Harbour Log", "version": "2"},
        "servers": [{"url": "https://api.harbourlog.io/v2"}],
        "paths": paths,
        **rest,
    }


def imported(tree: dict[str, Any], **how: str) -> Imported:
    return import_source(
        "openapi", json.dumps(tree).encode(), **{"org": "acme", "source_name": "harbour", **how}
    )


def only(tree: dict[str, Any]) -> tuple[ToolMetadata, Endpoint]:
    (tool,) = imported(tree).compendium.tools
    (endpoint,) = tool.endpoints
    return tool, endpoint


def operation(**node: Any) -> dict[str, Any]:
    return {"/ships": {"get": node}}


def returning(schema: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}},
        **rest,
    }


def test_an_operation_is_one_tool_with_one_endpoint() -> None:
    node = {
        "operationId": "listShips",
        "summary": "List ships",
        "description": "All <b>ships</b> in port.",
        "tags": ["Traffic"],
    }
    tool, endpoint = only(described(operation(**node)))
    assert tool.id == "harbourlog.io/harbour_log/list_ships"
    assert (tool.title, tool.description, tool.category) == ("List ships", "All ships in port.", "Traffic")
    assert (endpoint.name, endpoint.title) == ("list_ships", "listShips")
    assert (endpoint.method, endpoint.path, endpoint.effect) == ("GET", "/ships", "read")
    assert tool.provenance[0].origin == "Harbour Log"
    assert tool.provenance[0].version == "2"
    assert len(tool.provenance[0].digest) == 64


def test_two_organizations_meet_in_the_same_ids() -> None:
    tree = described({"/ships": {"get": {}, "post": {"operationId": "addShip"}}})
    mine = imported(tree, org="acme", source_name="mine")
    theirs = imported(tree, org="globex", source_name="theirs")
    assert [t.id for t in mine.compendium.tools] == [t.id for t in theirs.compendium.tools]
    assert mine.compendium.tools == theirs.compendium.tools


def test_adding_an_operation_renames_none() -> None:
    before = imported(described({"/ships": {"get": {}}})).compendium.tools
    after = imported(described({"/ships": {"get": {}, "post": {}}, "/quays": {"get": {}}})).compendium.tools
    assert {t.id for t in before} < {t.id for t in after}


def test_without_operation_id_the_name_is_method_and_path() -> None:
    tool, endpoint = only(described({"/ships/{id}": {"delete": {}}}))
    assert tool.id.endswith("/delete_ships_id")
    assert endpoint.title == "DELETE /ships/{id}"
    assert endpoint.effect == "destructive"


def test_a_repeated_operation_id_loses_nothing_and_order_decides_nothing() -> None:
    paths = {"/ships": {"get": {"operationId": "find"}}, "/quays": {"get": {"operationId": "find"}}}
    forward = imported(described(paths)).compendium.tools
    backward = imported(described(dict(reversed(paths.items())))).compendium.tools
    assert [t.id.rsplit("/", 1)[1] for t in forward] == ["find_get_quays", "find_get_ships"]
    assert [t.id for t in forward] == [t.id for t in backward]


def test_paths_that_differ_only_by_a_slash_stay_apart() -> None:
    tools = imported(described({"/ships": {"get": {}}, "/ships/": {"get": {}}})).compendium.tools
    assert len({t.id for t in tools}) == 2


def test_an_overlong_operation_id_is_cut_to_a_distinct_id() -> None:
    long = "find" * 40
    paths = {"/a": {"get": {"operationId": long + "A"}}, "/b": {"get": {"operationId": long + "B"}}}
    tools = imported(described(paths)).compendium.tools
    assert len({t.id for t in tools}) == 2
    assert {t.endpoints[0].title for t in tools} == {long + "A", long + "B"}


@pytest.mark.parametrize(
    ("rest", "publisher"),
    [
        ({"servers": [{"url": "https://eu.api.harbourlog.co.uk"}]}, "harbourlog.co.uk"),
        ({"servers": [{"url": "https://{region}.harbourlog.io"}]}, "harbourlog.io"),
        (
            {"servers": [{"url": "{base}/v1", "variables": {"base": {"default": "https://x.quay.net"}}}]},
            "quay.net",
        ),
        ({"servers": [{"url": "/v1"}]}, "harbour_log"),
        ({"servers": [{"url": "http://localhost:8080"}, {"url": "https://quay.net"}]}, "quay.net"),
        ({"servers": [{"url": "http://10.0.0.1/v1"}]}, "harbour_log"),
        ({"servers": [{"url": "https://{host}/v1"}]}, "harbour_log"),
        ({"servers": [{"url": "https://api.example.com"}]}, "harbour_log"),
        ({"servers": [{"url": "https://ship-yard.herokuapp.com"}]}, "ship-yard.herokuapp.com"),
        ({"servers": "nonsense"}, "harbour_log"),
    ],
)
def test_the_publisher_is_the_registrable_domain(rest: dict[str, Any], publisher: str) -> None:
    tool, _ = only(described(operation(), **rest))
    assert tool.id.split("/")[0] == publisher


def test_a_publisher_can_be_named() -> None:
    (tool,) = imported(described(operation()), publisher="harbour-board").compendium.tools
    assert tool.id.startswith("harbour-board/harbour_log/")
    with pytest.raises(CompendiaError) as caught:
        imported(described(operation()), publisher="Harbour Board")
    assert caught.value.code is ErrorCode.BAD_ID


def test_deprecated_operations_say_so_and_warn() -> None:
    made = imported(described(operation(summary="List ships", deprecated=True))).compendium
    assert made.tools[0].description == "Deprecated. List ships"
    (precaution,) = made.precautions
    assert (precaution.tool, precaution.kind, precaution.text) == (
        made.tools[0].id,
        "deprecated",
        "List ships",
    )


def test_licences() -> None:
    def stated(**licence: str) -> tuple[str, ...]:
        tree = described(operation(), info={"title": "T", "version": "1", "license": licence})
        return only(tree)[0].licences

    assert stated(name="MIT") == ("MIT",)
    assert stated(name="Something", identifier="Apache-2.0") == ("Apache-2.0",)
    assert stated(name="CC", url="https://creativecommons.org/licenses/by-nc/4.0/") == ("CC-BY-NC-4.0",)
    assert stated(name="Acme: terms & conditions") == ("custom:Acme terms conditions",)
    assert stated() == ()


def test_extensions() -> None:
    schema = {
        "type": "object",
        "properties": {
            "speed": {
                "type": "number",
                "x-unit": "kn",
                "x-semantic-id": "ship:speed",
                "x-aliases": ["velocity"],
                "x-source-type": "measured",
                "x-licence": "CC-BY-4.0",
            },
            "length": {"type": "number", "description": "Length over all (metres)."},
            "draught": {"type": "number", "description": "Draught in fathoms"},
            "note": {"type": "string", "description": "Whatever was said in seconds"},
        },
    }
    tree = described(operation(**returning(schema), **{"x-concept-aliases": {"speed": ["velocity", "pace"]}}))
    made = imported(tree).compendium
    found = {f.path: f for f in made.tools[0].endpoints[0].response_fields}
    speed = found["speed"]
    assert (speed.unit, speed.semantic_id, speed.aliases) == ("kn", "ship:speed", ("velocity",))
    assert (speed.source_type, speed.licences) == ("measured", ("CC-BY-4.0",))
    assert (found["length"].unit, found["draught"].unit, found["note"].unit) == ("m", "", "")
    aliases = [entry.value for entry in made.annex if entry.key == "concept_alias"]
    assert aliases == ["speed=pace", "speed=velocity"]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"tools": [{"name": "a", "inputSchema": {}}]}, "kind `mcp`"),
        ({"hello": 1}, "neither `openapi` nor `swagger`"),
        ({"swagger": "1.2", "paths": {}}, "'1.2'"),
        ({"openapi": "3.0.0", "paths": []}, "`paths`"),
    ],
)
def test_other_sources_are_refused_with_one_message(tree: dict[str, Any], words: str) -> None:
    with pytest.raises(CompendiaError) as caught:
        imported(tree)
    assert caught.value.code is ErrorCode.SOURCE_UNSUPPORTED
    assert len(caught.value.problems) == 1
    assert words in str(caught.value)


def test_what_is_imported_survives_being_written_and_read() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    tree = described(operation(**returning(node)), components={"schemas": {"Node": node}})
    made = imported(tree).compendium
    assert document.loads(document.dumps(made)) == made
