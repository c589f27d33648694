"""The schemas of one document: `$ref`s are resolved for reading, and kept (never inlined) for keeping.

Whatever the source's dialect (Swagger 2.0, OpenAPI 3.0 and 3.1, JSON Schema drafts, Python-like types of
function lists), what is kept is JSON Schema 2020-12 whose `$ref`s name `SchemaDefinition` ids.
"""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import unquote

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from compendia.contract import SchemaDefinition
from compendia.contract.ids import MAX_PART, distinct_slugs, slug

from .texts import Notices, clean, words

_CONTAINERS = ("components/schemas", "definitions", "$defs")
_ANNOTATIONS = ("title", "description")
_SCHEMA = words(
    "items additionalProperties propertyNames not if then else contains unevaluatedItems "
    "unevaluatedProperties"
)
_SCHEMA_LISTS = ("prefixItems", "allOf", "anyOf", "oneOf")
_SCHEMA_MAPS = ("properties", "patternProperties", "dependentSchemas")
_PLAIN = words(
    "format pattern minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf "
    "minItems maxItems uniqueItems minContains maxContains minProperties maxProperties dependentRequired "
    "readOnly writeOnly deprecated contentMediaType contentEncoding x-unit x-semantic-id x-aliases"
)
_VALUES = ("enum", "const", "default")
TYPE_NAMES = {
    **{name: name for name in ("string", "number", "integer", "boolean", "array", "object", "null")},
    **dict.fromkeys(("str", "text", "file", "binary", "date", "datetime", "enum", "char"), "string"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("int", "long", "short"), "integer"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("list", "tuple", "set", "arraylist"), "array"),
    **dict.fromkeys(("dict", "map", "hashmap", "hashtable"), "object"),
    **dict.fromkeys(("none", "nonetype"), "null"),
    "any": "",
}
"""Type names that real sources use, lower-case, to JSON Schema's; the empty one means no constraint."""


class SchemaSpace:
    """Resolves the references inside `root` and collects the definitions that kept schemas reach.

    prefix: `publisher/namespace` of definition ids. scope: set where every tool has definitions of its own
    (MCP), to keep `Item` of one tool apart from `Item` of another.
    """

    def __init__(self, root: Any, *, prefix: str, notices: Notices, scope: str = "") -> None:
        self.notices = notices
        self._root = root
        self._prefix = prefix
        self._scope = scope
        registry: Registry[Any] = Registry().with_resource("", DRAFT202012.create_resource(root))
        for schema in _container(root, "components/schemas").values():
            if isinstance(schema, dict) and isinstance(schema.get("$id"), str):
                resource = DRAFT202012.create_resource(schema)
                registry = registry.with_resource(schema["$id"], resource)
        self._resolver = registry.resolver()
        self._targets: dict[str, Any] = {}
        self._parts = _definition_parts(root, scope)
        self._ids: dict[str, str] = {}
        self._children: dict[str, list[str]] | None = None
        self.shapes: dict[str, Any] = {}  # memo of schema_shape, by pointer

    def target(self, ref: str, place: str) -> Any:
        """What a `$ref` names, or an empty schema, with a notice, where it leads nowhere or outside."""
        if ref not in self._targets:
            try:
                found = self._resolver.lookup(ref).contents
            except (
                Unresolvable,
                ValueError,
                LookupError,
                TypeError,
                AttributeError,
            ):  # on the way: no schema
                found = None
            self._targets[ref] = found if isinstance(found, dict | bool) else None
        found = self._targets[ref]
        if found is None:
            self.notices.add(f"$ref {ref[:200]!r} {_why(ref)}; what it names is typed any", place)
            return {}
        return found if isinstance(found, dict) else {}

    def follow(self, node: Any, place: str) -> dict[str, Any]:
        """A parameter, response, body or path item behind its `$ref`s; siblings of a `$ref` override."""
        seen: set[str] = set()
        siblings: dict[str, Any] = {}
        while isinstance(node, dict) and isinstance(node.get("$ref"), str):
            ref = node["$ref"]
            siblings = {k: v for k, v in node.items() if k != "$ref"} | siblings
            if ref in seen:
                self.notices.add(f"$ref {ref[:200]!r} leads back to itself", place)
                return siblings
            seen.add(ref)
            node = self.target(ref, place)
        return {**node, **siblings} if isinstance(node, dict) else siblings

    def definition_id(self, ref: str, place: str) -> str:
        """The id of the definition that a `$ref` names, registered as in use; empty if it leads nowhere."""
        self.target(ref, place)
        if self._targets[ref] is None:
            return ""
        if ref not in self._ids:
            self._ids[ref] = f"{self._prefix}/{self._part(ref)}"
        return self._ids[ref]

    def definitions(self) -> list[SchemaDefinition]:
        """Every definition in use, with those that they use, under distinct ids."""
        made: dict[str, SchemaDefinition] = {}
        done: set[str] = set()
        while pending := [ref for ref in self._ids if ref not in done]:
            for ref in pending:
                done.add(ref)
                body = self.kept(self._targets[ref], ref)
                made.setdefault(self._ids[ref], SchemaDefinition(id=self._ids[ref], body=body))
        return list(made.values())

    def variants(self, ref: str, schema: dict[str, Any]) -> list[str]:
        """The `$ref`s of what may stand where a discriminated base schema is named."""
        discriminator = schema.get("discriminator")
        mapping = discriminator.get("mapping") if isinstance(discriminator, dict) else None
        if isinstance(mapping, dict):
            return sorted({_mapped(value) for value in mapping.values() if isinstance(value, str)} - {ref})
        if self._children is None:
            self._children = _children_by_base(self._root)
        return self._children.get(ref, [])

    def kept(self, schema: Any, place: str) -> Any:
        """The schema as JSON Schema 2020-12, `$ref`s naming definition ids, annotations cleaned."""
        if not isinstance(schema, dict):
            return schema if isinstance(schema, bool) else {}
        result: dict[str, Any] = {}
        if isinstance(ref := schema.get("$ref"), str) and (target := self.definition_id(ref, place)):
            result["$ref"] = target
        for key in _ANNOTATIONS:
            if text := clean(schema.get(key), self.notices, place):
                result[key] = text
        for key in _SCHEMA:
            if isinstance(value := schema.get(key), dict | bool):
                result[key] = self.kept(value, place)
        if isinstance(items := schema.get("items"), list):  # tuples before 2020-12
            result["prefixItems"] = [self.kept(item, place) for item in items]
        for key in _SCHEMA_LISTS:
            if isinstance(value := schema.get(key), list) and value:
                result[key] = [self.kept(part, place) for part in value]
        for key in _SCHEMA_MAPS:
            if isinstance(value := schema.get(key), dict):
                result[key] = {name: self.kept(part, place) for name, part in value.items()}
        result |= {key: schema[key] for key in _PLAIN if key in schema and not names_ref(schema[key])}
        for key in _VALUES:
            if key in schema and not names_ref(schema[key]):
                result[key] = schema[key]
        if isinstance(required := schema.get("required"), list):
            result["required"] = [name for name in required if isinstance(name, str)]
        self._keep_type(schema, result)
        self._keep_discriminator(schema, result, place)
        return _without_draft4_bounds(result)

    def _keep_type(self, schema: dict[str, Any], result: dict[str, Any]) -> None:
        types, nullable = declared_types(schema)
        if nullable and types:
            types = [*types, "null"]
            if isinstance(result.get("enum"), list) and None not in result["enum"]:
                result["enum"] = [*result["enum"], None]
        if types:
            result["type"] = types[0] if len(types) == 1 else types
        elif nullable and "$ref" in result:
            result["anyOf"] = [*result.get("anyOf", []), {"$ref": result.pop("$ref")}, {"type": "null"}]

    def _keep_discriminator(self, schema: dict[str, Any], result: dict[str, Any], place: str) -> None:
        found = schema.get("discriminator")
        if isinstance(found, str):
            result["discriminator"] = {"propertyName": found}
        elif isinstance(found, dict) and isinstance(found.get("propertyName"), str):
            result["discriminator"] = {"propertyName": found["propertyName"]}
            if isinstance(mapping := found.get("mapping"), dict):
                ids = {
                    value: self.definition_id(_mapped(target), place)
                    for value, target in mapping.items()
                    if isinstance(target, str)
                }
                result["discriminator"]["mapping"] = {
                    value: target for value, target in ids.items() if target
                }

    def _part(self, ref: str) -> str:
        pointer = unquote(ref).removeprefix("#").strip("/")
        if pointer in self._parts:
            return self._parts[pointer]
        last = pointer.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~") or "schema"
        mark = hashlib.sha256(ref.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        stem = slug(f"{self._scope}.{last}" if self._scope else last)
        return f"{stem[: MAX_PART - 9].strip('._-')}-{mark}"


def declared_types(schema: dict[str, Any]) -> tuple[list[str], bool]:
    """The JSON types that a schema itself declares (none: no constraint), and whether null is allowed."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    known = [TYPE_NAMES.get(name.strip().lower(), "") for name in names if isinstance(name, str)]
    nullable = "null" in known or schema.get("nullable") is True or schema.get("x-nullable") is True
    types = list(dict.fromkeys(name for name in known if name and name != "null"))
    if "" in known:
        types = []
    if known == ["null"]:
        types = ["null"]
    return types, nullable and types != ["null"]


def names_ref(value: Any) -> bool:
    """Does a value hold a `$ref` as data? It could not be told from a reference."""
    if isinstance(value, dict):
        return isinstance(value.get("$ref"), str) or any(names_ref(child) for child in value.values())
    return isinstance(value, list) and any(names_ref(child) for child in value)


def _container(root: Any, where: str) -> dict[str, Any]:
    for step in where.split("/"):
        root = root.get(step) if isinstance(root, dict) else None
    return root if isinstance(root, dict) else {}


def _definition_parts(root: Any, scope: str) -> dict[str, str]:
    """Pointer to id part of every shared definition; of two containers' equal names the first has it."""
    found: dict[str, str] = {}
    for where in _CONTAINERS:
        for name in _container(root, where):
            found.setdefault(name, f"{where}/{name.replace('~', '~0').replace('/', '~1')}")
    parts = distinct_slugs([f"{scope}.{name}" if scope else name for name in found])
    return dict(zip(found.values(), parts, strict=True))


def _children_by_base(root: Any) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for where in _CONTAINERS:
        for name, schema in sorted(_container(root, where).items()):
            parts = schema.get("allOf") if isinstance(schema, dict) else None
            for part in parts if isinstance(parts, list) else []:
                if isinstance(part, dict) and isinstance(part.get("$ref"), str):
                    children.setdefault(part["$ref"], []).append(f"#/{where}/{name}")
    return children


def _mapped(value: str) -> str:
    """A discriminator's mapping names a `$ref` or, in short, a schema of the components."""
    return value if "#" in value or "/" in value or "." in value else f"#/components/schemas/{value}"


def _why(ref: str) -> str:
    return "leads nowhere" if ref.startswith("#") else "leads to another document, which is not fetched"


def _without_draft4_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """Draft 4 and OpenAPI 3.0 write exclusive bounds as a flag beside the bound."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        flag = schema.get(exclusive)
        if isinstance(flag, bool):
            del schema[exclusive]
            if flag and bound in schema:
                schema[exclusive] = schema.pop(bound)
    return schema
