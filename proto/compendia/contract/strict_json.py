"""JSON as RFC 8259 has it: what Python's `json` lets through is refused here, with the place named.

Refused: NaN and infinities (also as overflow, `1e400`), duplicate keys, lone surrogates, bytes that are not
UTF-8, nesting beyond the parser's depth. `canonical` writes the one form that digests are taken over.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from .errors import ErrorCode, error

_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)|[\ud800-\udfff]")
"""What a lone surrogate or a NUL looks like in the text; only then are the parsed strings walked."""

MOST_DIGITS = 64
"""Of a whole number."""


class _Refused:
    """Stands in the parsed tree where something was wrong, so that a walk can tell the path."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        self.code, self.message = code, message


def loads(data: bytes | str) -> Any:
    """Parse one JSON text.

    Raises CompendiaError: INVALID_JSON, DUPLICATE_KEY, NOT_A_NUMBER or BAD_TEXT, with the path.
    """
    if isinstance(data, bytes):
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
        except UnicodeDecodeError as fault:
            raise error(
                ErrorCode.INVALID_JSON, f"byte {fault.start} is not UTF-8", fix="save it as UTF-8"
            ) from None
    else:
        text = data
    try:
        tree = _STRICT.decode(text)
    except (ValueError, RecursionError):
        return _read_with_care(text)  # which says what is wrong, and where
    if "\\u" in text or not (text.isascii() or isinstance(data, bytes)):
        _check_strings(tree, text)
    return tree


def _once_each(items: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(items)
    if len(result) < len(items):
        raise ValueError
    return result


def _whole(token: str) -> int:
    if len(token) > MOST_DIGITS:
        raise ValueError
    return int(token)


def _finite(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise ValueError
    return value


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once_each, parse_int=_whole, parse_float=_finite, parse_constant=_finite
)


def _read_with_care(text: str) -> Any:
    """Parse with a mark in the place of what is refused, so that a walk can tell where it stands."""
    refused: list[_Refused] = []

    def refuse(code: ErrorCode, message: str) -> _Refused:
        refused.append(_Refused(code, message))
        return refused[-1]

    def constant(token: str) -> _Refused:
        return refuse(ErrorCode.NOT_A_NUMBER, f"{token} is not a JSON number")

    def number(token: str) -> Any:
        value = float(token)
        return (
            value
            if math.isfinite(value)
            else refuse(ErrorCode.NOT_A_NUMBER, f"{token} overflows to infinity")
        )

    def whole(token: str) -> Any:
        if len(token) > MOST_DIGITS:
            return refuse(ErrorCode.NOT_A_NUMBER, f"a whole number of {len(token)} digits is too long")
        return int(token)

    def pairs(items: list[tuple[str, Any]]) -> Any:
        result = dict(items)
        if len(result) < len(items):
            names = [key for key, _ in items]
            twice = next(name for name in names if names.count(name) > 1)
            return refuse(ErrorCode.DUPLICATE_KEY, f"the key {twice!r} stands twice")
        return result

    try:
        tree = json.loads(
            text, parse_constant=constant, parse_float=number, parse_int=whole, object_pairs_hook=pairs
        )
    except json.JSONDecodeError as fault:
        raise error(
            ErrorCode.INVALID_JSON, f"{fault.msg} at line {fault.lineno}, column {fault.colno}"
        ) from None
    except RecursionError:
        raise error(ErrorCode.INVALID_JSON, "nested too deeply", fix="flatten the document") from None
    if refused:
        _raise_first(tree, refused[0])
    _check_strings(tree, text)
    return tree


def _check_strings(tree: Any, text: str) -> None:
    if _SUSPECT.search(text):
        for path, value in _strings(tree, ""):
            check_text(value, path)


def check_text(text: str, path: str = "") -> str:
    """Return `text`, or raise BAD_TEXT if it holds a lone surrogate or a NUL (neither can be stored)."""
    if "\x00" in text:
        raise error(ErrorCode.BAD_TEXT, "the text holds a NUL character", path)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as fault:
        found = f"U+{ord(text[fault.start]):04X}"
        raise error(ErrorCode.BAD_TEXT, f"the text holds a lone surrogate {found}", path) from None
    return text


def canonical(value: Any) -> str:
    """The one text of a JSON value: keys sorted, no spaces, UTF-8 kept. Raises ValueError on NaN.

    >>> canonical({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return _CANONICAL.encode(value)


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 (hex) over the canonical text of a JSON value."""
    return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()


def _raise_first(tree: Any, fallback: _Refused) -> NoReturn:
    for path, found in _refusals(tree, ""):
        raise error(found.code, found.message, path)
    # The place was inside an object that was itself refused.
    raise error(fallback.code, fallback.message)


def _refusals(node: Any, path: str) -> Iterator[tuple[str, _Refused]]:
    if isinstance(node, _Refused):
        yield path or "$", node
    for step, child in _children(node):
        yield from _refusals(child, _join(path, step))


def _strings(node: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield path or "$", node
    for step, child in _children(node):
        if isinstance(step, str):
            yield _join(path, "(key)"), step
        yield from _strings(child, _join(path, step))


def _children(node: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)


def _join(path: str, step: str | int) -> str:
    if isinstance(step, int):
        return f"{path}[{step}]"
    return f"{path}.{step}" if path else step
