"""Licences: an SPDX expression (SPDX 2.3 annex D, parsed by `license-expression`) or `custom:NAME`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .errors import ErrorCode, error

CUSTOM_PREFIX = "custom:"
_CUSTOM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,79}")


@lru_cache(maxsize=1)
def _spdx() -> Any:
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()


@lru_cache(maxsize=4096)
def check_licence(text: str) -> str:
    """Return the normalized licence string. Raises BAD_LICENCE naming the part that is not SPDX.

    >>> check_licence("mit or apache-2.0"), check_licence("custom:Acme internal use")
    ('MIT OR Apache-2.0', 'custom:Acme internal use')
    """
    if text.startswith(CUSTOM_PREFIX):
        if not _CUSTOM_NAME.fullmatch(text.removeprefix(CUSTOM_PREFIX)):
            raise error(
                ErrorCode.BAD_LICENCE, f"{text!r} needs a name of 1 to 80 plain characters after 'custom:'"
            )
        return text
    from license_expression import ExpressionError, ExpressionParseError

    try:
        parsed = _spdx().parse(text, validate=True, strict=True)
    except (ExpressionError, ExpressionParseError) as fault:
        raise error(ErrorCode.BAD_LICENCE, f"{text!r} is not an SPDX expression: {fault}") from None
    if parsed is None:
        raise error(ErrorCode.BAD_LICENCE, "the licence is empty", fix="leave the field out if it is unknown")
    return str(parsed)
