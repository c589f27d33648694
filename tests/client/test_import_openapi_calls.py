"""What OpenAPI and Swagger operations take and return: locations, bodies, defaults, versions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compendia.client.importers import Imported, import_source
from compendia.contract import Endpoint, Parameter, ToolMetadata


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


def parameters(tree: dict[str, Any]) -> dict[tuple[str, str], Parameter]:
    return {(p.name, p.location): p for p in only(tree)[1].parameters}


def test_swagger_2() -> None:
    tree = {
        "swagger": "2.0",
        "info": {"title": "Quay", "version": "1", "license": {"name": "Apache 2.0"}},
        "host": "api.quay.net:443",
        "basePath": "/v1",
        "schemes": ["http", "https"],
        "securityDefinitions": {"key": {"type": "apiKey", "name": "X-Key", "in": "header"}},
        "security": [{"key": []}],
        "paths": {
            "/berths/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "type": "integer"}],
                "put": {
                    "parameters": [
                        {"name": "payload", "in": "body", "schema": {"$ref": "#/definitions/Berth"}},
                        {"name": "id", "in": "query", "type": "string", "enum": ["a", "b"]},
                        {"name": "photo", "in": "formData", "type": "file"},
                    ],
                    "responses": {
                        "200": {"schema": {"type": "array", "items": {"$ref": "#/definitions/Berth"}}}
                    },
                },
            }
        },
        "definitions": {
            "Berth": {
                "type": "object",
                "required": ["depth"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True},
                    "depth": {"type": "number", "x-unit": "m", "minimum": 0, "exclusiveMinimum": True},
                    "owner": {"type": "string", "x-nullable": True},
                },
            }
        },
    }
    made = imported(tree).compendium
    (tool,) = made.tools
    found = {(p.name, p.location): p for p in tool.endpoints[0].parameters}
    assert set(found) == {
        ("id", "path"),
        ("id", "query"),
        ("photo", "form"),
        ("depth", "body"),
        ("owner", "body"),
    }
    assert found["id", "query"].enum == ("a", "b")
    assert found["photo", "form"].type == "string"
    depth = found["depth", "body"]
    assert (depth.required, depth.unit) == (True, "m")
    assert depth.json_schema == {"type": "number", "exclusiveMinimum": 0}
    assert found["owner", "body"].nullable
    assert [f.path for f in tool.endpoints[0].response_fields] == ["[].id", "[].depth", "[].owner"]
    assert tool.licences == ("Apache-2.0",)
    annex = {entry.key: entry.value for entry in made.annex}
    assert annex == {"x-server": "https://api.quay.net:443/v1", "authentication": "apiKey"}


def test_openapi_3_1_types_lists_const_and_webhooks() -> None:
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": ["string", "null"]},
            "speed": {"type": ["integer", "number"]},
            "either": {"type": ["string", "integer"]},
            "kind": {"const": "ship"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}]},
            "again": {"$ref": "#/components/schemas/Name", "description": "Said beside the reference."},
        },
    }
    tree = described(
        operation(**returning(schema)),
        components={"schemas": {"Name": {"type": "string", "description": "Said there."}}},
        webhooks={"arrived": {"post": {}}},
    ) | {"openapi": "3.1.0"}
    result = imported(tree)
    found = {f.path: f for f in result.compendium.tools[0].endpoints[0].response_fields}
    assert (found["name"].type, found["name"].nullable) == ("string", True)
    assert found["speed"].type == "number"
    assert found["either"].type == "any"
    assert found["kind"].type == "string"
    assert found["pair[]"].type == "string"
    assert found["again"].description == "Said beside the reference."
    assert any("1 webhooks" in notice for notice in result.notices)


def test_cookie_and_header_parameters_and_overriding() -> None:
    tree = described(
        {
            "/ships": {
                "parameters": [
                    {
                        "name": "lang",
                        "in": "header",
                        "schema": {"type": "string"},
                        "description": "of the path",
                    },
                    {"$ref": "#/components/parameters/Limit"},
                ],
                "get": {
                    "parameters": [
                        {"name": "session", "in": "cookie", "required": True, "schema": {"type": "string"}},
                        {
                            "name": "lang",
                            "in": "header",
                            "schema": {"type": "string"},
                            "description": "of the op",
                        },
                        {
                            "name": "where",
                            "in": "query",
                            "content": {"application/json": {"schema": {"type": "object"}}},
                        },
                    ]
                },
            }
        },
        components={
            "parameters": {
                "Limit": {"name": "limit", "in": "query", "schema": {"type": "integer", "default": "20"}}
            }
        },
    )
    found = parameters(tree)
    assert set(found) == {("session", "cookie"), ("lang", "header"), ("where", "query"), ("limit", "query")}
    assert found["session", "cookie"].required
    assert found["lang", "header"].description == "of the op"
    assert found["where", "query"].type == "object"
    assert found["limit", "query"].default == 20


def test_an_undeclared_path_variable_becomes_a_parameter() -> None:
    tree = described({"/search?term={term}": {"get": {}}})
    assert parameters(tree)["term", "path"].required
    assert any("not declared" in notice for notice in imported(tree).notices)


def test_defaults_of_the_wrong_type() -> None:
    def listed(default: Any, kind: str) -> tuple[Any, tuple[str, ...]]:
        node = {"parameters": [{"name": "n", "in": "query", "schema": {"type": kind, "default": default}}]}
        result = imported(described(operation(**node)))
        return result.compendium.tools[0].endpoints[0].parameters[0].default, result.notices

    assert listed(5, "integer") == (5, ())
    assert listed("many", "integer")[0] is None
    assert "left out" in listed("many", "integer")[1][0]
    assert listed("true", "boolean")[0] is True
    assert listed(True, "integer")[0] is None


def body_of(schema: Any, *, media: str = "application/json", **body: Any) -> dict[str, Any]:
    content = {media: {"schema": schema}}
    return described({"/ships": {"post": {"requestBody": {"content": content, **body}}}})


def test_body_properties_become_parameters() -> None:
    schema = {"type": "object", "required": ["name", "ghost"], "properties": {"name": {"type": "string"}}}
    tree = body_of(schema, required=True)
    assert parameters(tree)["name", "body"].required
    assert any("ghost" in notice for notice in imported(tree).notices)
    assert not parameters(body_of(schema, required=False))["name", "body"].required


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "array", "items": {"type": "string"}}, "array"),
        ({"type": "string", "format": "binary"}, "string"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "object"),
        ({}, "any"),
    ],
)
def test_other_bodies_are_one_parameter(schema: dict[str, Any], kind: str) -> None:
    ((key, body),) = parameters(body_of(schema)).items()
    assert key == ("body", "body")
    assert body.type == kind


def test_form_bodies_and_alternatives() -> None:
    one = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    two = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string"}, "c": {"type": "integer"}},
    }
    found = parameters(body_of({"oneOf": [one, two]}, media="multipart/form-data"))
    assert {key: p.required for key, p in found.items()} == {
        ("a", "form"): True,
        ("b", "form"): False,
        ("c", "form"): False,
    }
