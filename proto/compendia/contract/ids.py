"""Tool ids: `publisher/namespace/name`, lower-case ASCII, the same for everyone who imports the same tool.

The publisher is who *provides* the tool, so two organizations that import one public API meet in one id.
`slug` makes a part from any text without losing distinctness: what it must drop or cut is replaced by a
digest of the whole original, so two long names that differ only at the end do not collide, and adding a
tool never renames another.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from .errors import ErrorCode, error

MAX_PART = 64
_PART = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9_])?")
_SEPARATORS = re.compile(r"[^a-z0-9.]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class ToolId(NamedTuple):
    """The three parts of an id. `str()` joins them."""

    publisher: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.publisher}/{self.namespace}/{self.name}"


@lru_cache(maxsize=65_536)  # a document names each tool in many records
def parse_tool_id(text: str, path: str = "") -> ToolId:
    """Split an id into its parts. Raises BAD_ID: wrong number of parts, homoglyph, case, length."""
    parts = text.split("/")
    if len(parts) != 3:
        raise error(
            ErrorCode.BAD_ID,
            f"{text!r} has {len(parts)} parts, an id has three: publisher/namespace/name",
            path,
        )
    for part in parts:
        check_part(part, path)
    return ToolId(*parts)


def check_tool_id(text: str) -> str:
    """Return the id, or raise BAD_ID."""
    parse_tool_id(text)
    return text


def check_part(part: str, path: str = "") -> str:
    """Return one part of an id, or raise BAD_ID saying which rule it breaks."""
    if not part:
        raise error(ErrorCode.BAD_ID, "a part of the id is empty", path)
    if len(part) > MAX_PART:
        raise error(
            ErrorCode.BAD_ID,
            f"{part[:20]!r}... has {len(part)} characters, at most {MAX_PART} are allowed",
            path,
        )
    for character in part:
        if not character.isascii():
            name = unicodedata.name(character, f"U+{ord(character):04X}")
            raise error(
                ErrorCode.BAD_ID, f"{part!r} holds {name}, which can look like another character", path
            )
    if part != part.lower():
        raise error(
            ErrorCode.BAD_ID,
            f"{part!r} has upper-case letters and would collide with {part.lower()!r}",
            path,
            fix=f"write {part.lower()!r}",
        )
    if not _PART.fullmatch(part):
        raise error(ErrorCode.BAD_ID, f"{part!r} is not a valid part of an id", path)
    return part


def slug(text: str) -> str:
    """A valid id part for any text: same text, same slug; texts that differ visibly keep different slugs.

    >>> slug("getUserProfile"), slug("GET /pets/{id}"), slug("天气")[:2]
    ('get_user_profile', 'get_pets_id', 'x-')
    """
    spaced = _CAMEL.sub("_", unicodedata.normalize("NFKC", text).strip())
    folded = unicodedata.normalize("NFKD", spaced).lower()
    ascii_only = "".join(c for c in folded if not unicodedata.combining(c))
    lossy = not ascii_only.isascii()
    part = _SEPARATORS.sub("_", ascii_only).strip("._-")
    if lossy or not part or len(part) > MAX_PART:
        mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        stem = part[: MAX_PART - 9].strip("._-") or "x"
        part = f"{stem}-{mark}"
    return part


def distinct_slugs(names: list[str]) -> list[str]:
    """Slugs for names that stand side by side in one source; equal slugs of unequal names get a digest.

    The digest depends on the name alone, not on its neighbours' order. Equal names keep equal slugs: the
    caller decides whether that is one thing or an error.
    """
    slugs = [slug(name) for name in names]
    meaning: dict[str, set[str]] = {}
    for name, part in zip(names, slugs, strict=True):
        meaning.setdefault(part, set()).add(name)
    result = []
    for name, part in zip(names, slugs, strict=True):
        if len(meaning[part]) > 1:
            mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            part = f"{part[: MAX_PART - 9].strip('._-')}-{mark}"
        result.append(part)
    return result
