"""Times as the contract writes them: RFC 3339 in UTC, whole seconds, so that they sort as texts."""

from __future__ import annotations

from datetime import UTC, datetime

from .errors import ErrorCode, error

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def check_time(text: str) -> str:
    """Return the time, or raise BAD_FIELD if it is not one that exists, written `2026-09-04T10:00:00Z`."""
    try:
        moment = datetime.strptime(text, TIME_FORMAT)
    except ValueError:
        moment = None
    if moment is None or write_time(moment.replace(tzinfo=UTC)) != text:
        raise error(ErrorCode.BAD_FIELD, f"{text[:40]!r} is no time in UTC", fix="write 2026-09-04T10:00:00Z")
    return text


def write_time(moment: datetime) -> str:
    """A moment (with its zone) as the contract writes it, parts of a second dropped.

    >>> write_time(datetime.fromisoformat("2026-09-04T12:00:00+02:00"))
    '2026-09-04T10:00:00Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
