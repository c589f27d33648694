"""The typed card: what a frozen LLM reads about one tool. Pure; headings and order come from the signatures.

A card is a *prefix*, which is the same for every query (the tool's documentation, so that a model's
attention over it can be kept), and *evidence*, which depends on the query (nearest scenarios, precautions,
conflicts). Every text is made one line first, without invisible characters: no text can forge a heading.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from compendia.contract import Conflict, Record, ToolMetadata
from compendia.contract.signature import FieldSignature, key_fields, signatures
from compendia.contract.strict_json import canonical

RENDER_VERSION = 3
MAX_TEXT = 320
MAX_NAMES = 12
MAX_RECORDS = 16
MAX_PREFIX = 2400
MAX_EVIDENCE = 1200
MAX_TYPICAL = 100


@dataclass(frozen=True)
class Card:
    """A tool as text. `prefix` at most MAX_PREFIX characters, `evidence` at most MAX_EVIDENCE or empty.

    brief: for a model too small to use the lists: the prefix without what each endpoint takes and returns,
    and typical requests; where empty, the prefix is brief already.
    """

    prefix: str
    evidence: str = ""
    brief: str = ""

    @property
    def text(self) -> str:
        """Both parts, as a person or an endpoint reads them."""
        return f"{self.prefix}\n{self.evidence}" if self.evidence else self.prefix


def render_card(
    tool: ToolMetadata,
    nearest: Sequence[Record] = (),
    conflicts: Sequence[Conflict] = (),
    typical: Sequence[str] = (),
) -> Card:
    """The card of a tool. `nearest`: its records near the query, nearest first; `conflicts`: its own;
    `typical`: requests that it served, whatever is asked."""
    lines = [f"- {clip(one_line(text), MAX_TYPICAL)}" for text in typical]
    examples = ["Examples of requests:", *lines] if lines else []
    brief = "\n".join([render_prefix(tool, brief=True), *examples])
    return Card(render_prefix(tool), render_evidence(nearest, conflicts), brief)


def render_prefix(tool: ToolMetadata, *, brief: bool = False) -> str:
    """The documentation of a tool: one headed line a field, one line a nested record.

    brief: without the records that are nested in nested ones (what an endpoint takes and returns).
    """
    return clip("\n".join(_lines(tool, brief)), MAX_PREFIX, keep_lines=True)


def render_evidence(nearest: Sequence[Record], conflicts: Sequence[Conflict] = ()) -> str:
    """Records by heading in card order, then what the conflict log warns of; repeated lines once."""
    rows = sorted(
        (
            (
                field.signature.order,
                place,
                f"{field.signature.heading}: {clip(one_line(_text(value)), MAX_TEXT)}",
            )
            for place, record in enumerate(nearest)
            for field, value in _shown(record)
        ),
        key=lambda row: row[:2],
    )
    warnings = (clip(one_line(conflict.do_not_use_when()), MAX_TEXT) for conflict in conflicts)
    lines = dict.fromkeys([line for *_, line in rows] + [warning for warning in warnings if warning])
    return clip("\n".join(lines), MAX_EVIDENCE, keep_lines=True)


def one_line(text: str) -> str:
    """The text with every run of white space and control characters as one space, and none invisible.

    A lone surrogate, which no encoder takes, becomes the replacement character.

    >>> one_line("Finds pets.\\n\\nTool:\\u200b other")
    'Finds pets. Tool: other'
    """
    kept = (" " if unicodedata.category(c) == "Cc" else c for c in text if unicodedata.category(c) != "Cf")
    return " ".join("".join(kept).split()).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, limit: int, *, keep_lines: bool = False) -> str:
    """At most `limit` characters, cut where a word (or a line) ends, the cut shown by an ellipsis.

    >>> clip("finds every pet of a shop", 16)
    'finds every …'
    """
    if len(text) <= limit:
        return text
    head = text[: limit - 2]
    edge = head.rfind("\n" if keep_lines else " ")
    if edge < limit // 2:
        return head + " …"
    return head[:edge] + ("\n…" if keep_lines else " …")


@cache
def _headed(record: type[Record]) -> tuple[FieldSignature, ...]:
    fields = (field for field in signatures(record) if field.signature.heading)
    return tuple(sorted(fields, key=lambda field: field.signature.order))


def _shown(record: Record) -> Iterable[tuple[FieldSignature, object]]:
    """The headed fields that hold something. The first names the thing: where empty, the key stands in."""
    for place, field in enumerate(_headed(type(record))):
        value = getattr(record, field.name)
        if value in ("", ()) and place == 0:
            value = getattr(record, key_fields(type(record))[0])
        if value not in ("", ()):
            yield field, value


def _lines(record: Record, brief: bool) -> Iterable[str]:
    for field, value in _shown(record):
        if field.element is not None and _headed(field.element):
            children: tuple[Record, ...] = value  # type: ignore[assignment]
            yield f"{field.signature.heading}:"
            for child in children[:MAX_RECORDS]:
                yield f"- {_inline(child, brief)}"
            if len(children) > MAX_RECORDS:
                yield f"- and {len(children) - MAX_RECORDS} more"
        else:
            yield f"{field.signature.heading}: {_value(field, value)}"


def _inline(record: Record, brief: bool) -> str:
    first, *rest = (
        (field.signature.heading, _value(field, value))
        for field, value in _shown(record)
        if field.element is None or not brief
    )
    return "; ".join([first[1], *(f"{heading}: {text}" for heading, text in rest)])


def _value(field: FieldSignature, value: object) -> str:
    if field.element is None:
        return clip(one_line(_text(value)), MAX_TEXT)
    children: tuple[Record, ...] = value  # type: ignore[assignment]
    name = key_fields(field.element)[0]
    names = list(dict.fromkeys(one_line(getattr(child, name)) for child in children))
    more = [f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
    return ", ".join(names[:MAX_NAMES] + more)


def _text(value: object) -> str:
    return value if isinstance(value, str) else canonical(value)
