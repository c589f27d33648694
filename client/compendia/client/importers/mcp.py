"""MCP `tools/list` results: every tool becomes one tool with one endpoint.

Read are `{"tools": [...]}`, the same inside a JSON-RPC answer, several answers in an array (pages, also with
the answer to `initialize`, whose `serverInfo` names the server), a bare array of tools, and an array of
servers that each list theirs. A tool's arguments stand in `inputSchema`, or in `arguments` as a list of
`{name, type, desc, required}`; a tool with neither takes none.

Ids are `publisher/server/tool`: the publisher is the server's organization, else the server itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from compendia.contract import Endpoint, ErrorCode, Provenance, ToolMetadata, error
from compendia.contract.ids import slug

from . import meanings as notes
from .naming import distinct_definitions, unsupported
from .schema_fields import response_fields
from .schema_parameters import properties_as_parameters
from .schema_space import SchemaSpace
from .source import Harvest, Source
from .texts import clean, clean_name

_WANTED = 'the result of `tools/list`: {"tools": [...]}, or an array of tools'


@dataclass(frozen=True)
class Server:
    """One server and the tools it lists. `node` may hold extensions that count for all of them."""

    name: str
    tools: list[Any]
    organization: str = ""
    title: str = ""
    version: str = ""
    category: str = ""
    node: dict[str, Any] | None = None


def read(source: Source) -> Harvest:
    """Import a parsed `tools/list` result. Raises SOURCE_UNSUPPORTED if it is none."""
    harvest = Harvest()
    together: dict[str, list[Server]] = {}
    for server in _servers(source):
        publisher = source.publisher_or(server.organization or server.name)
        together.setdefault(f"{publisher}/{slug(server.name)}", []).append(server)
    for prefix, servers in together.items():
        # Servers of one publisher and name are one namespace: their tools are told apart together.
        entries = [(server, tool) for server in servers for tool in server.tools]
        _read_server(prefix, entries, source, harvest)
    return harvest


def _read_server(prefix: str, entries: list[tuple[Server, Any]], source: Source, harvest: Harvest) -> None:
    named: list[tuple[str, Any]] = []
    origins: dict[int, Server] = {}
    for index, (server, tool) in enumerate(entries):
        place = f"{server.name} tools[{index}]"
        name = clean_name(tool.get("name"), source.notices, place) if isinstance(tool, dict) else ""
        if not name:
            source.notices.add("a tool without a usable name was left out", place)
            continue
        named.append((name, tool))
        origins[id(tool)] = server
    for part, name, tool in distinct_definitions(named, source.notices, "a tool"):
        _read_tool(f"{prefix}/{part}", name, tool, origins[id(tool)], source, harvest)


def _read_tool(
    tool_id: str, name: str, tool: dict[str, Any], server: Server, source: Source, harvest: Harvest
) -> None:
    notices, (prefix, part) = source.notices, tool_id.rsplit("/", 1)
    title = _object(tool.get("annotations")).get("title") or tool.get("title")
    takes = _space(source, tool.get("inputSchema"), prefix, f"{part}.input")
    gives = _space(source, tool.get("outputSchema"), prefix, f"{part}.output")
    inputs = _arguments(tool, source, name)
    endpoint = Endpoint(
        name=part,
        title=name,
        effect=_effect(tool),
        parameters=tuple(
            properties_as_parameters(takes, inputs, location="argument", required=True, place=name)
        ),
        response_fields=response_fields(gives, tool["outputSchema"], place=name)
        if isinstance(tool.get("outputSchema"), dict)
        else (),
    )
    node = server.node or {}
    harvest.tools.append(
        ToolMetadata(
            id=tool_id,
            title=clean(title, notices, name) or name,
            description=clean(tool.get("description"), notices, name),
            category=clean(server.category, notices, name),
            endpoints=(endpoint,),
            licences=notes.licences(tool) or notes.licences(node),
            provenance=(
                Provenance(
                    source_type=notes.source_type({**node, **tool}, notices, name),
                    origin=clean(server.title or server.name, notices, server.name),
                    version=clean(server.version, notices, server.name),
                    digest=source.digest,
                ),
            ),
        )
    )
    aliases = [
        *notes.concept_aliases(tool, tool_id, notices, name),
        *notes.concept_aliases(node, tool_id, notices, server.name),
    ]
    harvest.annex += {str(entry.value): entry for entry in aliases}.values()
    harvest.definitions += [*takes.definitions(), *gives.definitions()]


def _space(source: Source, schema: Any, prefix: str, scope: str) -> SchemaSpace:
    return SchemaSpace(schema, prefix=prefix, notices=source.notices, scope=scope)


def _arguments(tool: dict[str, Any], source: Source, name: str) -> dict[str, Any]:
    """The tool's arguments as an object schema."""
    if isinstance(schema := tool.get("inputSchema"), dict):
        return schema
    arguments = tool.get("arguments")
    if not isinstance(arguments, list):
        return {}
    properties: dict[str, Any] = {}
    for entry in arguments:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            source.notices.add("an argument without a name was left out", name)
            continue
        described = {k: v for k, v in entry.items() if k not in {"name", "desc", "required"}}
        properties[entry["name"]] = {"description": entry.get("desc"), **described}
    required = [
        e["name"] for e in arguments if isinstance(e, dict) and e.get("required") is True and "name" in e
    ]
    return {"type": "object", "properties": properties, "required": required}


def _effect(tool: dict[str, Any]) -> Literal["read", "write", "destructive", "unknown"]:
    """From the hints of the MCP specification (schema.ts, ToolAnnotations) and their defaults."""
    hints = _object(tool.get("annotations"))
    if hints.get("readOnlyHint") is True:
        return "read"
    if hints.get("destructiveHint") is True:
        return "destructive"
    if hints.get("destructiveHint") is False:
        return "write"
    return "destructive" if hints.get("readOnlyHint") is False else "unknown"


def _servers(source: Source) -> Iterator[Server]:
    tree = source.tree
    if isinstance(tree, list) and any(isinstance(e, dict) and isinstance(e.get("tools"), dict) for e in tree):
        for entry in tree:
            yield from _listed_servers(_object(entry))
        return
    pages = _pages(tree)
    if pages is None:
        if not isinstance(tree, list):
            raise unsupported("this lists no MCP tools", _WANTED, tree)
        if any(not isinstance(e, dict) or not isinstance(e.get("name"), str) for e in tree):
            raise unsupported("an entry of the array is no MCP tool: it has no name", _WANTED, tree)
        if any("parameters" in e or "input_schema" in e for e in tree):
            raise unsupported("the entries of the array are functions, not MCP tools", _WANTED, tree)
        yield Server(source.name, tree)
        return
    node = {key: value for page in pages for key, value in page.items()}
    info = _object(node.get("serverInfo"))
    if pages[-1].get("nextCursor"):
        source.notices.add("the list goes on: its last page names a nextCursor; fetch the other pages too")
    yield Server(
        name=_text(info.get("name")) or source.name,
        tools=[tool for page in pages for tool in _list(page.get("tools"))],
        organization=_text(info.get("organization")) or _text(node.get("organization")),
        title=_text(info.get("title")),
        version=_text(info.get("version")),
        category=_text(node.get("category")),
        node=node,
    )


def _pages(tree: Any) -> list[dict[str, Any]] | None:
    """The results that one or several answers hold; None if these are no answers."""
    answers = tree if isinstance(tree, list) and tree else [tree]
    pages = []
    for answer in answers:
        if not isinstance(answer, dict):
            return None
        if "jsonrpc" in answer and isinstance(fault := answer.get("error"), dict):
            raise error(
                ErrorCode.SOURCE_UNSUPPORTED,
                f"the server answered with an error: {str(fault.get('message'))[:200]}",
                fix="list the tools again",
            )
        result = _object(answer.get("result")) or answer
        if not isinstance(result.get("tools"), list) and "serverInfo" not in result:
            return None
        pages.append({"serverInfo": answer["serverInfo"], **result} if "serverInfo" in answer else result)
    return pages if any(isinstance(page.get("tools"), list) for page in pages) else None


def _listed_servers(entry: dict[str, Any]) -> Iterator[Server]:
    """The servers of one entry of a list of servers: `{name, organization?, tools: {server: {tools}}}`."""
    for key, listed in _object(entry.get("tools")).items():
        tools = _object(listed).get("tools")
        yield Server(
            name=_text(_object(listed).get("server_name")) or key,
            tools=_list(tools),
            organization=_text(entry.get("organization")),
            title=_text(entry.get("name")),
            version=_text(_object(listed).get("version")),
            category=_text(entry.get("category")),
            node=entry,
        )


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []


def _object(node: Any) -> dict[str, Any]:
    return node if isinstance(node, dict) else {}
