"""Names in an experience log to the tools and endpoints they mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from compendia.contract import CompendiaError, Endpoint, ErrorCode, ToolMetadata, error
from compendia.contract.validate import KnownTools

_SHOWN = 5


class Resolver:
    """Finds tools by id, or by a name or title that only one tool has; endpoints by name or title.

    known: tools of the pinned snapshot (id to endpoint names), which have no titles here.
    """

    def __init__(self, tools: Iterable[ToolMetadata], known: KnownTools) -> None:
        self._tools = {tool.id: tool for tool in tools}
        self._endpoints: dict[str, tuple[str, ...]] = {id: tuple(names) for id, names in known.items()}
        self._endpoints |= {tool.id: tuple(e.name for e in tool.endpoints) for tool in self._tools.values()}
        self._ids: dict[str, set[str]] = {}
        for id in self._endpoints:
            _publisher, namespace, name = id.split("/")
            titles = [self._tools[id].title] if id in self._tools else []
            for called in (name, f"{namespace}/{name}", *titles):
                self._ids.setdefault(_folded(called), set()).add(id)

    def tool(self, name: str, place: str) -> str:
        """The id meant. Raises UNKNOWN_TOOL with what comes near, or with all that share the name."""
        if name in self._endpoints:
            return name
        found = sorted(self._ids.get(_folded(name), ()))
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(found[:_SHOWN]) + (" ..." if len(found) > _SHOWN else "")
            raise error(
                ErrorCode.UNKNOWN_TOOL,
                f"{name!r} could be {len(found)} tools",
                f"{place}.tool",
                f"write the id: {shown}",
            )
        raise _unknown(
            ErrorCode.UNKNOWN_TOOL, f"no tool is called {name!r}", f"{place}.tool", name, self._called()
        )

    def endpoint(self, tool: str, name: str, place: str) -> str:
        """The endpoint's name; empty is the only one there is, or none. Raises UNKNOWN_ENDPOINT."""
        names = self._endpoints[tool]
        if not name:
            return names[0] if len(names) == 1 else ""
        if name in names:
            return name
        found = {called: e.name for e in self._documented(tool) for called in (_folded(e.title),)}
        found |= {_folded(each): each for each in names}
        if _folded(name) in found:
            return found[_folded(name)]
        raise _unknown(
            ErrorCode.UNKNOWN_ENDPOINT,
            f"{tool} has no endpoint {name!r}",
            f"{place}.endpoint",
            name,
            {each: each for each in names},
        )

    def documentation(self, tool: str, endpoint: str) -> Endpoint | None:
        """The endpoint as documented; None for a tool of the pinned snapshot."""
        return next((e for e in self._documented(tool) if e.name == endpoint), None)

    def ids(self) -> Iterable[str]:
        """Every tool that may be named."""
        return self._endpoints

    def _documented(self, tool: str) -> tuple[Endpoint, ...]:
        return self._tools[tool].endpoints if tool in self._tools else ()

    def _called(self) -> Mapping[str, str]:
        """Everything a tool may be called, with the id meant."""
        return {called: sorted(ids)[0] for called, ids in self._ids.items()} | {
            id: id for id in self._endpoints
        }


def _folded(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


def _unknown(
    code: ErrorCode, message: str, path: str, name: str, choices: Mapping[str, str]
) -> CompendiaError:
    near = [choices[match] for match in get_close_matches(_folded(name), choices, n=3, cutoff=0.5)]
    near += [choices[match] for match in get_close_matches(name, choices, n=3, cutoff=0.5)]
    fix = f"did you mean {' or '.join(dict.fromkeys(near))}" if near else ""
    return error(code, message, path, fix)
