"""Whatever stands where in a source: it imports into a valid compendium or fails with a CompendiaError."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from compendia.client.importers import SourceKind, import_source
from compendia.contract import CompendiaError, Compendium, document

_ITEM = {
    "type": "object",
    "required": ["id"],
    "properties": {"id": {"type": "string"}, "next": {"$ref": "#/x"}},
}
SOURCES: dict[SourceKind, Any] = {
    "openapi": {
        "openapi": "3.0.3",
        "info": {
            "title": "T",
            "version": "1",
            "license": {"name": "MIT", "url": "u"},
            "x-concept-aliases": {"a": ["b"]},
        },
        "servers": [{"url": "https://{r}.quay.net", "variables": {"r": {"default": "eu"}}}],
        "security": [{"key": []}],
        "paths": {
            "/a/{id}": {
                "parameters": [
                    {"name": "id", "in": "path", "schema": {"type": "string", "default": "1", "enum": ["1"]}}
                ],
                "post": {
                    "operationId": "a",
                    "tags": ["t"],
                    "deprecated": True,
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}},
                    },
                    "responses": {
                        "200": {
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}
                        }
                    },
                },
            }
        },
        "components": {
            "schemas": {
                "A": {
                    "discriminator": {"propertyName": "k", "mapping": {"b": "#/components/schemas/B"}},
                    **_ITEM,
                },
                "B": {
                    "allOf": [
                        {"$ref": "#/components/schemas/A"},
                        {"oneOf": [_ITEM, {"type": "array", "items": _ITEM}]},
                    ]
                },
            },
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    },
    "mcp": {
        "serverInfo": {"name": "s", "version": "1"},
        "tools": [
            {
                "name": "a",
                "description": "d",
                "inputSchema": _ITEM,
                "outputSchema": _ITEM,
                "annotations": {"title": "A"},
            },
            {"name": "b", "arguments": [{"name": "n", "type": "string", "desc": "d", "required": True}]},
        ],
    },
    "functions": [
        {"type": "function", "function": {"name": "f", "parameters": _ITEM}},
        {"name": "g", "input_schema": _ITEM},
    ],
    "toolbench": [
        {
            "query": "q",
            "api_list": [
                {
                    "category_name": "c",
                    "tool_name": "t",
                    "api_name": "a",
                    "required_parameters": [
                        {"name": "n", "type": "NUMBER", "description": "d", "default": "1"}
                    ],
                    "template_response": {
                        "r": [{"x": "str", "_list_length": 3}],
                        "y": ["list of int with length 2"],
                    },
                }
            ],
        }
    ],
}
JUNK: list[Any] = [
    None,
    True,
    -1,
    1.5,
    "",
    "x",
    "$ref",
    [],
    {},
    [1],
    [None],
    [[]],
    {"a": 1},
    "\u200b",
    {"": {}},
    "a" * 300,
    10**30,
    {"$ref": "#"},
    {"$ref": "#/paths"},
    {"$ref": 5},
    {"type": 5},
    {"type": ["x", None]},
    {"a" * 300: {"type": "string"}},
]


def places(tree: Any) -> list[tuple[Any, Any]]:
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place for key, child in steps for place in [(tree, key), *places(child)]]


@pytest.mark.parametrize("kind", list(SOURCES))
@pytest.mark.parametrize("seed", range(3))
def test_junk_anywhere(kind: SourceKind, seed: int) -> None:
    rng = random.Random(seed)
    whole = 0
    for _ in range(200):
        tree = copy.deepcopy(SOURCES[kind])
        for holder, key in rng.sample(places(tree), rng.randint(1, 3)):
            holder[key] = copy.deepcopy(rng.choice(JUNK))
        made = outcome(kind, tree)
        if isinstance(made, Compendium):
            assert document.loads(document.dumps(made)) == made, tree
            whole += 1
        else:
            assert len(made.problems) == 1, tree
            assert made.code.startswith("SOURCE_"), tree
    assert whole > 100


def outcome(kind: SourceKind, tree: Any) -> Compendium | CompendiaError:
    try:
        return import_source(kind, json.dumps(tree).encode(), org="acme", source_name="s").compendium
    except CompendiaError as fault:
        return fault


@pytest.mark.parametrize("kind", list(SOURCES))
def test_the_unharmed_source_imports(kind: SourceKind) -> None:
    made = import_source(kind, json.dumps(SOURCES[kind]).encode(), org="acme", source_name="s")
    assert made.compendium.tools
