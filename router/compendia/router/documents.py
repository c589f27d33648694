"""Which text of a tool is searched, for meaning and for words.

Measured on ToolBench G3 (1,500 training queries, 240 tools): one dense text per tool costs a sixth of the
encoding of one per endpoint and finds as much; words are found best per endpoint, under the tool's title.
"""

from __future__ import annotations

from compendia.contract import Endpoint, ToolMetadata


def tool_document(tool: ToolMetadata) -> str:
    """The tool as one text for the encoder: title, category, description, then its endpoints.

    What an only endpoint repeats of its tool stands once.

    >>> tool_document(ToolMetadata(id="a/b/c", title="Weather", category="Data", description="Forecasts"))
    'Weather. Data. Forecasts'
    """
    repeated = (tool_title(tool), tool.description) if len(tool.endpoints) == 1 else ()
    said = (
        [text for text in (endpoint_title(e), e.description) if text not in repeated] for e in tool.endpoints
    )
    endpoints = (": ".join(text for text in texts if text) for texts in said)
    return " ".join(part for part in (_heading(tool), tool.description, *endpoints) if part)


def endpoint_document(tool: ToolMetadata, endpoint: Endpoint) -> str:
    """One endpoint under its tool's heading: what word search looks through."""
    does = "" if endpoint.description == tool.description else endpoint.description
    return " ".join(
        part for part in (_heading(tool), tool.description, endpoint_title(endpoint), does) if part
    )


def lexical_documents(tool: ToolMetadata) -> tuple[str, ...]:
    """The texts of a tool for word search: one per endpoint, or the tool's own where it has none."""
    return tuple(endpoint_document(tool, e) for e in tool.endpoints) or (tool_document(tool),)


def endpoint_title(endpoint: Endpoint) -> str:
    """The source's own name of an endpoint, or its id part where the source gave none."""
    return endpoint.title or endpoint.name


def tool_title(tool: ToolMetadata) -> str:
    """What a person calls the tool: its title, or the last part of its id."""
    return tool.title or tool.id.rpartition("/")[2]


def _heading(tool: ToolMetadata) -> str:
    return ". ".join(part for part in (tool_title(tool), tool.category) if part) + "."
