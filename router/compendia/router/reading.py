"""What every index reads of a tool's documentation: its texts and their words, made once a tool.

From one revision to the next most tools stay as they were, and so does what was read of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compendia.contract import Endpoint, ToolMetadata
from compendia.text.tokenize import FUNCTION_WORDS, tokenize

from .documents import endpoint_title, lexical_documents, tool_document, tool_title

READ_CHARACTERS = 20_000
"""How much of a tool's documentation is read for its words."""

ENGLISH = 0.15
"""Share of English function words above which a text counts as English: prose has 0.3 to 0.5, other
languages, in which some of these words occur by chance (Spanish `a`, German `in`), up to about 0.1."""

FOREIGN = 0.1
"""Share of words of other languages above which a text counts as one of them."""
_FREQUENT = """
de la el en una que es y por para del al se mi le les des du et est pour sur une au aux avec qui je vous ma un
der das und ist ein eine zum zur für auf den dem von ich wie lo gli che di è um uma da em não il della meu het
een voor wat
"""
FOREIGN_WORDS = frozenset(_FREQUENT.split()) - FUNCTION_WORDS
"""Words that are common in Spanish, French, German, Italian, Portuguese or Dutch and, unlike `die`, `los` or
`com`, rare in English."""

_WORD = re.compile(r"[^\W\d_]+")

Words = Sequence[str]


@dataclass(frozen=True)
class Reading:
    """A tool's document as a text and as words; words of its title and of each text for word search; distinct
    words, without numbers, of all its documentation (`said`) and of its name with each endpoint's (`names`);
    whether the document is in a foreign language."""

    tool: ToolMetadata
    document: str
    words: Words
    title: Words
    lexical: tuple[Words, ...]
    said: frozenset[str]
    names: tuple[frozenset[str], ...]
    foreign: bool


def read_tools(tools: Iterable[ToolMetadata], known: Mapping[str, Reading] | None = None) -> list[Reading]:
    """The tools read, in their order. known: readings by tool id, of which those of equal tools are kept."""
    kept = known or {}
    return [
        found if (found := kept.get(tool.id)) and (found.tool is tool or found.tool == tool) else _read(tool)
        for tool in tools
    ]


def _read(tool: ToolMetadata) -> Reading:
    document = tool_document(tool)
    return Reading(
        tool,
        document,
        tokenize(document),
        tokenize(tool_title(tool)),
        tuple(tokenize(text) for text in lexical_documents(tool)),
        letters(tokenize(_all_words(tool, document))),
        tuple(letters(tokenize(name)) for name in _names(tool)),
        is_foreign(document),
    )


def letters(words: Iterable[str]) -> frozenset[str]:
    """The distinct words that are no numbers."""
    return frozenset(word for word in words if not word.isdecimal())


def is_english(text: str) -> bool:
    """Whether enough of a text's words are English function words.

    >>> is_english("What is the weather in Oslo?"), is_english("¿Qué tiempo hace en Oslo?"), is_english("天")
    (True, False, False)
    """
    words = _WORD.findall(text.casefold())
    return sum(word in FUNCTION_WORDS for word in words) > ENGLISH * len(words)


def is_foreign(text: str) -> bool:
    """Whether a text is in another language than English. Of few words it takes more than that none of them
    is a function word: descriptions are often without.

    >>> is_foreign("Latest headlines"), is_foreign("¿Qué tiempo hace en Oslo?"), is_foreign("天气")
    (False, True, True)
    """
    words = _WORD.findall(text.casefold())
    strange = sum(word in FOREIGN_WORDS or not word.isascii() for word in words)
    return strange > FOREIGN * len(words) and not is_english(text)


def _names(tool: ToolMetadata) -> Iterable[str]:
    """The tool's name with each endpoint's, or alone."""
    title = tool_title(tool)
    return [f"{title} {endpoint_title(endpoint)}" for endpoint in tool.endpoints] or [title]


def _all_words(tool: ToolMetadata, document: str) -> str:
    taken = (word for endpoint in tool.endpoints for word in _parameter_words(endpoint))
    return " ".join((document, *taken))[:READ_CHARACTERS]


def _parameter_words(endpoint: Endpoint) -> Iterable[str]:
    for parameter in endpoint.parameters:
        yield f"{parameter.name} {parameter.description}"
        yield from (str(value) for value in parameter.enum)
