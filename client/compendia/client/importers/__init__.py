"""Importers: tool descriptions of every common kind as a typed compendium.

kinds: `openapi` (OpenAPI 3.x, Swagger 2.0; JSON or YAML), `mcp` (`tools/list` results), `functions` (OpenAI,
Anthropic and similar function lists), `toolbench` (ToolBench `api_list` files).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from compendia.contract import Compendium, ErrorCode, document, error
from compendia.contract.ids import check_part

from . import functions, mcp, openapi, toolbench
from .source import Harvest, Source, parse

SourceKind = Literal["openapi", "mcp", "functions", "toolbench"]
KINDS: tuple[SourceKind, ...] = get_args(SourceKind)
_READERS: dict[SourceKind, Callable[[Source], Harvest]] = {
    "openapi": openapi.read,
    "mcp": mcp.read,
    "functions": functions.read,
    "toolbench": toolbench.read,
}


@dataclass(frozen=True)
class Imported:
    """An imported source. notices: what was changed, guessed or left out, one line each, for a person."""

    compendium: Compendium
    notices: tuple[str, ...]


def import_source(
    kind: SourceKind, data: bytes, *, org: str, source_name: str, publisher: str = ""
) -> Imported:
    """Import the bytes of one source.

    org: the contributor, which no tool's id depends on. source_name: such as the file's stem, used where
    the source names neither publisher nor namespace. publisher: overrides what the source says.

    The result is valid (`document.check`) and the same for the same arguments. Raises CompendiaError with
    what is wrong: SOURCE_UNSUPPORTED (not of this kind), SOURCE_UNREADABLE, INVALID_JSON, DUPLICATE_KEY,
    NOT_A_NUMBER, BAD_TEXT, TOO_LARGE, BAD_ID (org or publisher).
    """
    if kind not in KINDS:
        raise error(
            ErrorCode.SOURCE_UNSUPPORTED, f"unknown kind {kind!r}", fix=f"use one of {', '.join(KINDS)}"
        )
    check_part(org, "org")
    if publisher:
        check_part(publisher, "publisher")
    source = parse(data, name=source_name, publisher=publisher)
    harvest = _READERS[kind](source)
    if not harvest.tools:
        source.notices.add("the source lists no tools")
    compendium = Compendium(
        org=org,
        definitions=tuple(harvest.definitions),
        tools=tuple(harvest.tools),
        precautions=tuple(harvest.precautions),
        annex=tuple(harvest.annex),
    )
    document.check(compendium)
    return Imported(document.sorted_compendium(compendium), source.notices.lines())


__all__ = ["KINDS", "Imported", "SourceKind", "import_source"]
