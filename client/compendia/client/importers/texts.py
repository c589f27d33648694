"""Descriptions made fit to read: markup, invisible characters, broken encodings and over-long texts.

What could hide an instruction or loses words is reported in `Notices`; tidying of blanks and markup is not.
"""

from __future__ import annotations

import html
import re
import unicodedata

from compendia.contract.compendium import MAX_TEXT

MAX_NAME = 256
_SHOWN_PLACES = 3
_BLOCK_TAGS = (
    "p br div ul ol li h1 h2 h3 h4 h5 h6 table thead tbody tr td th dl dt dd hr pre blockquote section"
)
_INLINE_TAGS = "a abbr b big code em font i img kbd s small span strike strong sub sup tt u"
_BLOCK = re.compile(rf"</?(?:{'|'.join(_BLOCK_TAGS.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_INLINE = re.compile(rf"</?(?:{'|'.join(_INLINE_TAGS.split())})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b[^>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
_NON_ASCII = re.compile(r"[^\x00-\x7f]{2,}")
_SUSPECT = re.compile(r"[^\t\n\r\x20-\x7e]")
_JOINERS = "\u200c\u200d"  # legitimate inside Persian, Indic scripts and emoji


def words(text: str) -> tuple[str, ...]:
    """The words of a text; long constant lists are written so."""
    return tuple(text.split())


class Notices:
    """What an import changed, guessed or left out: equal messages are told once, with their places."""

    def __init__(self) -> None:
        self._places: dict[str, dict[str, None]] = {}

    def add(self, message: str, place: str = "") -> None:
        self._places.setdefault(message, {}).setdefault(place)

    def lines(self) -> tuple[str, ...]:
        """One line a message: `message (place, place, place and 12 more)`."""
        return tuple(_line(message, [p for p in places if p]) for message, places in self._places.items())


def clean(text: object, notices: Notices, place: str) -> str:
    """A description as plain text of at most MAX_TEXT characters; anything but a string is nothing.

    HTML tags go (`List<String>` and `<id>` stay: only known tags count), entities are resolved, text that
    was encoded as UTF-8 twice is mended, control and invisible characters are taken out.
    """
    if not isinstance(text, str) or not text:
        return ""
    if "<" in text:
        text = _INLINE.sub("", _BLOCK.sub("\n", _HIDDEN.sub(" ", text)))
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    text = visible(_mended(text, notices, place), notices, place)
    text = re.sub(r"[^\S\n]+", " ", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = re.sub(r" ?\n ?", "\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    if len(text) > MAX_TEXT:
        notices.add(f"a description is over {MAX_TEXT} characters and was cut", place)
        text = text[: MAX_TEXT - 1].rsplit(None, 1)[0] + "…"
        text = text[: MAX_TEXT - 1] + "…" if len(text) > MAX_TEXT else text
    return text


def visible(text: str, notices: Notices, place: str) -> str:
    """The text without control characters and characters that nobody sees (zero-width, bidi overrides)."""
    if not _SUSPECT.search(text):
        return text
    kept = [c for i, c in enumerate(text) if not _invisible(text, i)]
    if len(kept) < len(text):
        notices.add("control or zero-width characters were taken out", place)
    return "".join(kept)


def clean_name(text: object, notices: Notices, place: str) -> str:
    """A name as its provider spells it, without invisible characters and outer blanks; empty if unusable."""
    if not isinstance(text, str):
        return ""
    name = visible(text, notices, place).strip()
    if len(name) > MAX_NAME:
        notices.add(f"a name is over {MAX_NAME} characters and was left out", place)
        return ""
    return name


def first_line(text: str, limit: int = 120) -> str:
    """The first line of a text if it is short enough for a title, else nothing."""
    line = text.split("\n", 1)[0].strip()
    return line if len(line) <= limit else ""


def _invisible(text: str, index: int) -> bool:
    character = text[index]
    if character in "\n\t\r":
        return False
    if character in _JOINERS:
        before, after = text[index - 1 : index], text[index + 1 : index + 2]
        return not (before and after and not before.isascii() and not after.isascii())
    return (
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} or character in "\u2028\u2029\u3164\u115f"
    )


def _mended(text: str, notices: Notices, place: str) -> str:
    """Undo UTF-8 that was read as Windows-1252 and saved again, up to three times over."""
    if text.isascii():
        return text
    mended = text
    for _ in range(3):
        again = _NON_ASCII.sub(_decoded, mended)
        if again == mended:
            break
        mended = again
    if mended != text:
        notices.add("text that was encoded as UTF-8 twice was mended", place)
    return mended


def _decoded(found: re.Match[str]) -> str:
    try:
        return b"".join(_cp1252(character) for character in found[0]).decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return found[0]


def _cp1252(character: str) -> bytes:
    # Windows-1252 leaves five bytes undefined; browsers read them as Latin-1 control characters.
    try:
        return character.encode("cp1252")
    except UnicodeEncodeError:
        return character.encode("latin-1")


def _line(message: str, places: list[str]) -> str:
    if not places:
        return message
    shown = ", ".join(places[:_SHOWN_PLACES])
    more = len(places) - _SHOWN_PLACES
    return f"{message} ({shown}{f' and {more} more' if more > 0 else ''})"
