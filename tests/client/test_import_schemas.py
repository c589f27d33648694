"""Schemas flattened and kept: references, recursion, composition, bounds."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from compendia.client.importers import Imported, import_source
from compendia.client.importers.schema_fields import MAX_FIELDS, MAX_LEVELS
from compendia.contract import ResponseField


def imported(schema: dict[str, Any], body: dict[str, Any] | None = None, **schemas: Any) -> Imported:
    """An OpenAPI document with one operation that returns `schema`."""
    node: dict[str, Any] = {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}
    if body is not None:
        node["requestBody"] = {"content": {"application/json": {"schema": body}}}
    tree = {
        "openapi": "3.0.3",
        "info": {"title": "T", "version": "1"},
        "paths": {"/a": {"post": node}},
        "components": {"schemas": schemas},
    }
    return import_source("openapi", json.dumps(tree).encode(), org="acme", source_name="t")


def fields(schema: dict[str, Any], **schemas: Any) -> dict[str, ResponseField]:
    (tool,) = imported(schema, **schemas).compendium.tools
    return {field.path: field for field in tool.endpoints[0].response_fields}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_paths() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "tags": {"type": "array", "description": "Labels", "items": {"type": "string"}},
            "owner": {
                "type": "object",
                "properties": {"user_id": {"type": "string"}, "valid": {"type": "boolean"}},
            },
            "prices": {"type": "object", "additionalProperties": {"type": "number"}},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "x.y": {"type": "string"},
            "free": {"type": "object"},
        },
    }
    found = fields(schema)
    assert set(found) == {
        "id", "tags[]", "owner.user_id", "owner.valid", "prices.*", "grid[][]", '["x.y"]', "free",
    }  # fmt: skip
    assert found["tags[]"].description == "Labels"
    assert {path for path, field in found.items() if field.identifier} == {"id", "owner.user_id"}
    assert found["owner.user_id"].group == "owner"


def test_roots() -> None:
    assert list(fields({"type": "array", "items": {"type": "string"}})) == ["[]"]
    assert list(fields({"type": "array", "items": {"properties": {"x": {}}}})) == ["[].x"]
    assert list(fields({"type": "string"})) == ["$"]
    assert list(fields({"type": "object"})) == ["$"]


def test_direct_recursion_is_folded_and_the_definition_kept() -> None:
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": ref("Node")}},
    }
    result = imported(ref("Node"), Node=node, Unused={"type": "string"}).compendium
    found = {f.path: f for f in result.tools[0].endpoints[0].response_fields}
    assert set(found) == {"name", "parts[]"}
    (definition,) = result.definitions
    assert definition.id == "t/t/node" == found["parts[]"].schema_ref
    assert definition.body["properties"]["parts"]["items"] == {"$ref": "t/t/node"}  # type: ignore[index,call-overload]


def test_mutual_recursion_through_all_of_and_maps() -> None:
    a = {"allOf": [{"properties": {"id": {"type": "string"}}}, {"properties": {"b": ref("B")}}]}
    b = {"type": "object", "additionalProperties": ref("A")}
    result = imported(ref("A"), A=a, B=b).compendium
    found = {f.path: f for f in result.tools[0].endpoints[0].response_fields}
    assert set(found) == {"id", "b.*"}
    assert found["b.*"].schema_ref == "t/t/a"
    assert {d.id for d in result.definitions} == {"t/t/a", "t/t/b"}


def test_a_schema_that_is_itself_ends() -> None:
    assert list(fields(ref("A"), A=ref("A"))) == ["$"]
    assert list(fields(ref("A"), A={"allOf": [ref("A"), {"properties": {"x": {}}}]})) == ["x"]
    assert list(fields(ref("A"), A={"type": "array", "items": ref("A")})) == ["[]"]


def test_a_shared_base_is_no_recursion() -> None:
    base = {"type": "object", "properties": {"id": {"type": "string"}}}
    child = {"allOf": [ref("Base"), {"properties": {"x": {"type": "string"}}}]}
    parent = {"allOf": [ref("Base"), {"properties": {"child": ref("Child")}}]}
    assert set(fields(ref("Parent"), Base=base, Child=child, Parent=parent)) == {"id", "child.id", "child.x"}


def test_one_of_any_of_and_nullable() -> None:
    schema = {
        "properties": {
            "pet": {
                "oneOf": [
                    {"properties": {"bark": {"type": "string"}}},
                    {"properties": {"purr": {"type": "string"}}},
                ]
            },
            "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "size": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
            "word": {"type": "string", "nullable": True, "enum": ["a", None]},
        }
    }
    found = fields(schema)
    assert set(found) == {"pet.bark", "pet.purr", "age", "size", "word"}
    assert (found["age"].type, found["age"].nullable) == ("integer", True)
    assert (found["size"].type, found["word"].nullable) == ("any", True)


def test_discriminated_bases_show_their_variants() -> None:
    base = {
        "type": "object",
        "discriminator": {"propertyName": "kind"},
        "properties": {"kind": {"type": "string"}},
    }
    cat = {"allOf": [ref("Pet"), {"properties": {"lives": {"type": "integer"}}}]}
    assert set(fields(ref("Pet"), Pet=base, Cat=cat)) == {"kind", "lives"}
    mapped = base | {"discriminator": {"propertyName": "kind", "mapping": {"c": "#/components/schemas/Cat"}}}
    assert set(fields(ref("Pet"), Pet=mapped, Cat=cat)) == {"kind", "lives"}
    assert set(fields(ref("Cat"), Pet=base, Cat=cat)) == {"kind", "lives"}


def test_references_to_anything_are_resolved() -> None:
    schema = {"properties": {"a": {"$ref": "#/paths/~1a/post/x-odd~0name%20here"}}}
    tree = {
        "openapi": "3.0.0",
        "info": {"title": "T"},
        "paths": {
            "/a": {
                "post": {
                    "x-odd~name here": {"type": "object", "properties": {"z": {"type": "integer"}}},
                    "responses": {"200": {"content": {"application/json": {"schema": schema}}}},
                }
            }
        },
    }
    made = import_source("openapi", json.dumps(tree).encode(), org="acme", source_name="t").compendium
    assert [f.path for f in made.tools[0].endpoints[0].response_fields] == ["a.z"]


def test_dangling_and_external_references_keep_the_field_and_are_told() -> None:
    schema = {
        "properties": {
            "a": ref("Ghost"),
            "b": {"$ref": "common.yaml#/B"},
            "c": {"$ref": "https://quay.net/c.json"},
        }
    }
    result = imported(schema, body={"properties": {"p": ref("Ghost")}})
    endpoint = result.compendium.tools[0].endpoints[0]
    assert {f.path: f.type for f in endpoint.response_fields} == {"a": "any", "b": "any", "c": "any"}
    assert [(p.name, p.type) for p in endpoint.parameters] == [("p", "any")]
    assert result.compendium.definitions == ()
    told = "\n".join(result.notices)
    assert "Ghost' leads nowhere" in told
    assert "common.yaml#/B' leads to another document" in told
    assert "c.json' leads to another document" in told


def test_dangling_parameter_references_keep_a_parameter() -> None:
    tree = {
        "openapi": "3.0.0",
        "info": {"title": "T"},
        "paths": {
            "/a": {"get": {"parameters": [{"$ref": "#/components/parameters/limit"}]}},
            "/b": {"$ref": "b.yaml"},
        },
    }
    result = import_source("openapi", json.dumps(tree).encode(), org="acme", source_name="t")
    (found,) = result.compendium.tools[0].endpoints[0].parameters
    assert (found.name, found.location, found.type) == ("limit", "query", "any")
    assert any("operations of this path" in notice and "/b" in notice for notice in result.notices)


def test_kept_schemas_reach_only_what_they_need() -> None:
    body = {"properties": {"filter": ref("Filter")}}
    schemas = {
        "Filter": {"properties": {"all": {"type": "array", "items": ref("Filter")}, "by": ref("Key")}},
        "Key": {"type": "string", "enum": ["a"], "example": {"$ref": "no reference"}},
        "Other": {"type": "string"},
    }
    made = imported({"type": "string"}, body=body, **schemas).compendium
    assert {d.id for d in made.definitions} == {"t/t/filter", "t/t/key"}
    (parameter,) = made.tools[0].endpoints[0].parameters
    assert parameter.json_schema == {"$ref": "t/t/filter"}


def test_definitions_that_differ_by_case_stay_apart() -> None:
    schemas = {"Item": {"type": "string"}, "item": {"type": "integer"}}
    body = {"properties": {"a": {"allOf": [ref("Item")]}, "b": {"allOf": [ref("item")]}}}
    made = imported({"type": "string"}, body=body, **schemas).compendium
    assert len({d.id for d in made.definitions}) == 2


def test_values_that_look_like_references_are_left_out() -> None:
    body = {
        "properties": {"a": {"type": "object", "default": {"$ref": "#/nowhere"}, "enum": [{"$ref": "x"}]}}
    }
    (parameter,) = imported({"type": "string"}, body=body).compendium.tools[0].endpoints[0].parameters
    assert (parameter.default, parameter.enum) == (None, ())


def test_depth_and_count_are_bounded_and_nothing_is_lost() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(MAX_LEVELS + 5):
        deep = {"type": "object", "properties": {"a": deep}}
    assert list(fields(deep)) == [".".join("a" * MAX_LEVELS)]
    row = {"type": "object", "properties": {f"f{i}": {"type": "string"} for i in range(100)}}
    wide = {"type": "object", "properties": {f"w{i}": ref("Row") for i in range(20)}}
    found = fields(wide, Row=row)
    assert len(found) <= MAX_FIELDS
    assert {path.split(".")[0] for path in found} == set(wide["properties"])
    assert all(field.schema_ref == "t/t/row" for path, field in found.items() if "." not in path)


def test_too_wide_a_root_is_cut_with_a_notice() -> None:
    result = imported({"properties": {f"f{i}": {"type": "string"} for i in range(MAX_FIELDS + 1)}})
    assert len(result.compendium.tools[0].endpoints[0].response_fields) == MAX_FIELDS
    assert any("side by side" in notice for notice in result.notices)


_KEYS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=3)
_NAMES = st.sampled_from(["A", "B", "C", "Ghost"])


def _schemas() -> st.SearchStrategy[Any]:
    leaf = st.one_of(
        st.sampled_from(
            [{}, {"type": "string"}, {"type": ["integer", "null"]}, {"type": "number", "nullable": True}]
        ),
        st.builds(ref, _NAMES),
    )
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.fixed_dictionaries({"properties": st.dictionaries(_KEYS, inner, max_size=3)}),
            st.fixed_dictionaries({"items": inner}),
            st.fixed_dictionaries({"additionalProperties": inner}),
            st.builds(
                lambda key, parts: {key: parts},
                st.sampled_from(["allOf", "oneOf", "anyOf"]),
                st.lists(inner, min_size=1, max_size=3),
            ),
        ),
        max_leaves=12,
    )


@settings(max_examples=150, deadline=None)
@given(_schemas(), _schemas(), _schemas(), _schemas())
def test_any_schemas_give_a_valid_bounded_compendium(a: Any, b: Any, c: Any, root: Any) -> None:
    schemas = {"A": a, "B": b, "C": {"discriminator": {"propertyName": "k"}, **c}}
    result = imported(root, body=root, **schemas)  # import_source checks the document
    found = [f.path for f in result.compendium.tools[0].endpoints[0].response_fields]
    assert 0 < len(found) <= MAX_FIELDS or root == {}
    assert len(set(found)) == len(found)
    assert imported(root, body=root, **schemas) == result
