"""OpenAPI 3.x and Swagger 2.0: every operation becomes one tool with one endpoint.

Ids are `publisher/namespace/name`: the registrable domain of the server (without one, the title), the API's
title, and the operationId or, without one, method and path; a repeated operationId gets method and path too.
A deprecated operation says so at the start of its description and brings a `deprecated` precaution, so that
the router prefers its successor and `explain` can say why. The server's address and the kind of
authentication become annex entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from compendia.contract import Annex, Endpoint, Precaution, Provenance, ToolMetadata
from compendia.contract.ids import slug

from . import meanings as notes
from .naming import distinct_names, unsupported
from .openapi_calls import operation_parameters, operation_response
from .origin import registrable_host, stated_licence
from .schema_space import SchemaSpace
from .source import Harvest, Source
from .texts import clean, clean_name, first_line

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_EFFECTS: dict[str, Literal["read", "write", "destructive"]] = {
    **dict.fromkeys(("get", "options", "head", "trace", "query"), "read"),
    **dict.fromkeys(("put", "post", "patch"), "write"),
    "delete": "destructive",
}  # RFC 9110 section 9.2.1: what is not safe may change something


@dataclass(frozen=True)
class Operation:
    """One operation with what its path item adds. `label` (`GET /pets/{id}`) is unique in the document."""

    path: str
    method: str
    node: dict[str, Any]
    item: dict[str, Any]

    @property
    def label(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def given_name(self) -> str:
        name = self.node.get("operationId")
        return name.strip() if isinstance(name, str) else ""


def read(source: Source) -> Harvest:
    """Import a parsed OpenAPI document. Raises SOURCE_UNSUPPORTED if it is none."""
    document = _checked(source)
    info = _object(document.get("info"))
    title = clean_name(info.get("title"), source.notices, "info.title") or source.name
    publisher = source.publisher_or(_publisher(document, info) or title)
    space = SchemaSpace(document, prefix=f"{publisher}/{slug(title)}", notices=source.notices)
    operations = list(_operations(document, space))
    names = distinct_names(
        [operation.given_name or operation.label for operation in operations],
        [f"{operation.given_name} {operation.label}" for operation in operations],
    )
    provenance = Provenance(
        source_type=notes.source_type(info, source.notices, "info"),
        origin=clean(title, source.notices, "info.title"),
        version=clean(str(info.get("version", "")), source.notices, "info.version"),
        digest=source.digest,
    )
    licences = notes.licences(info) or stated_licence(info.get("license"))
    harvest = Harvest()
    for name, operation in zip(names, operations, strict=True):
        tool = _tool(space, f"{publisher}/{slug(title)}/{name}", operation, title).model_copy(
            update={"licences": notes.licences(operation.node) or licences, "provenance": (provenance,)}
        )
        harvest.tools.append(tool)
        harvest.precautions += _precautions(operation, tool)
        harvest.annex += _annex(document, operation, tool.id, source)
    harvest.definitions = space.definitions()
    return harvest


def _checked(source: Source) -> dict[str, Any]:
    tree = source.tree
    version = str(tree.get("openapi", tree.get("swagger", ""))) if isinstance(tree, dict) else ""
    if not version:
        raise unsupported(
            "this is not an OpenAPI document: it has neither `openapi` nor `swagger`",
            "an OpenAPI 3.x or Swagger 2.0 document",
            tree,
        )
    if not (version.startswith("3.") or version in {"2.0", "2", "3"}):
        raise unsupported(
            f"OpenAPI version {version[:20]!r} is not supported", "OpenAPI 3.x or Swagger 2.0", None
        )
    if "paths" in tree and not isinstance(tree["paths"], dict):
        raise unsupported("`paths` is not an object of paths", "a valid OpenAPI document", None)
    if webhooks := _object(tree.get("webhooks")):
        source.notices.add(f"{len(webhooks)} webhooks are calls to you, not tools, and were left out")
    return dict(tree)


def _operations(document: dict[str, Any], space: SchemaSpace) -> Iterator[Operation]:
    for path, node in _object(document.get("paths")).items():
        if path.startswith("x-"):
            continue
        item = space.follow(node, path)
        if set(_object(node)) == {"$ref"} and not item:
            space.notices.add("the operations of this path are not in the document and were left out", path)
        for method in METHODS:
            if isinstance(operation := item.get(method), dict):
                yield Operation(path, method, operation, item)


def _tool(space: SchemaSpace, tool_id: str, operation: Operation, title: str) -> ToolMetadata:
    notices, node, place = space.notices, operation.node, operation.label
    summary = clean(node.get("summary") or operation.item.get("summary"), notices, place)
    description = clean(node.get("description") or operation.item.get("description"), notices, place)
    tags = [tag for tag in (clean(t, notices, place) for t in _list(node.get("tags"))) if tag]
    called = clean_name(operation.given_name, notices, place) or operation.label
    words = description or summary
    if node.get("deprecated") is True:
        words = f"Deprecated. {words}".strip()
    endpoint = Endpoint(
        name=tool_id.rsplit("/", 1)[1],
        title=clean(called, notices, place),
        method=operation.method.upper(),
        path=clean(operation.path, notices, place),
        effect=_EFFECTS[operation.method],
        parameters=operation_parameters(space, operation.path, operation.item, node, place),
        response_fields=operation_response(space, node, tags[0] if tags else "", place),
    )
    return ToolMetadata(
        id=tool_id,
        title=first_line(summary) or endpoint.title,
        description=clean(words, notices, place),
        category=tags[0] if tags else title,
        endpoints=(endpoint,),
    )


def _precautions(operation: Operation, tool: ToolMetadata) -> list[Precaution]:
    if operation.node.get("deprecated") is not True:
        return []
    evidence = "its publisher marks it as deprecated"
    return [Precaution(tool=tool.id, text=tool.title, kind="deprecated", evidence=evidence)]


def _annex(document: dict[str, Any], operation: Operation, tool: str, source: Source) -> list[Annex]:
    found = []
    servers = [*_servers(operation.node), *_servers(operation.item), *_servers(document)]
    if servers:
        found.append(Annex(tool=tool, key="x-server", value=clean(servers[0], source.notices, "servers")))
    kinds = _authentication(document, operation.node)
    if kinds:
        found.append(Annex(tool=tool, key="authentication", value=" or ".join(kinds)))
    aliases = [
        entry
        for node in (document, _object(document.get("info")), operation.node)
        for entry in notes.concept_aliases(node, tool, source.notices, operation.label)
    ]
    return found + list({entry.value: entry for entry in aliases if isinstance(entry.value, str)}.values())


def _authentication(document: dict[str, Any], node: dict[str, Any]) -> list[str]:
    """The kinds of authentication of which an operation needs one: `apiKey`, `http bearer`, `oauth2`."""
    schemes = _object(document.get("securityDefinitions")) or _object(
        _object(document.get("components")).get("securitySchemes")
    )
    needed = _list(node["security"] if "security" in node else document.get("security"))
    kinds = []
    for name in (name for entry in needed for name in _object(entry)):
        scheme = _object(schemes.get(name))
        if isinstance(kind := scheme.get("type"), str):
            detail = scheme.get("scheme") if kind == "http" else ""
            kinds.append(f"{kind} {detail}".strip() if isinstance(detail, str) else kind)
    return list(dict.fromkeys(kinds))


def _publisher(document: dict[str, Any], info: dict[str, Any]) -> str:
    """The registrable domain of the first server that has one, also of paths and operations."""
    nodes = [document]
    for item in _object(document.get("paths")).values():
        nodes += [_object(item), *(_object(_object(item).get(method)) for method in METHODS)]
    addresses = [address for node in nodes for address in _servers(node)]
    provider = info.get("x-providerName")  # APIs.guru's own note of the host
    hosts = (
        registrable_host(address) for address in [*addresses, provider if isinstance(provider, str) else ""]
    )
    return next((host for host in hosts if host), "")


def _servers(node: dict[str, Any]) -> list[str]:
    """Addresses of a node's servers, template variables filled with their defaults."""
    if isinstance(host := node.get("host"), str) and host:
        schemes = [s for s in _list(node.get("schemes")) if isinstance(s, str)]
        scheme = "https" if "https" in schemes or not schemes else schemes[0]
        base = node.get("basePath")
        return [f"{scheme}://{host}{base if isinstance(base, str) and base != '/' else ''}"]
    addresses = []
    for server in (_object(s) for s in _list(node.get("servers"))):
        address = server.get("url")
        if isinstance(address, str):
            for name, variable in _object(server.get("variables")).items():
                if isinstance(default := _object(variable).get("default"), str) and default:
                    address = address.replace(f"{{{name}}}", default)
            addresses.append(address)
    return addresses


def _object(node: Any) -> dict[str, Any]:
    return node if isinstance(node, dict) else {}


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []
