"""Experience: what an organization's agents tried, one JSON object a line, read strictly.

    {"query": "Tides at Antwerp tomorrow", "tool": "port.example/harbour/get_tides", "endpoint": "get_tides",
     "arguments": {"port": "Antwerp"}, "outcome": "success", "comment": "", "time": "2026-09-04T10:00:00Z"}

query, tool and outcome are required. `tool` and `endpoint` may be ids or the source's own names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, ValidationError

from compendia.contract import CompendiaError, ErrorCode, Problem, Record, Window, error, strict_json
from compendia.contract.compendium import Name, Text
from compendia.contract.strict_json import check_text
from compendia.contract.times import write_time
from compendia.contract.validate import pydantic_problem

from .importers.texts import Notices, visible

MAX_PROBLEMS = 20


@dataclass(frozen=True)
class Outcome:
    """One request, the tool that was tried, and how it went.

    time: UTC as `2026-09-04T10:00:00Z`, empty where unknown. place: where it was recorded, for messages.
    """

    query: str
    tool: str
    outcome: Literal["success", "failure"]
    endpoint: str = ""
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    comment: str = ""
    time: str = ""
    place: str = "experience"


def _not_blank(text: str) -> str:
    if not visible(text, Notices(), "").strip():
        raise error(ErrorCode.BAD_FIELD, "is empty", fix="say what was asked for, or leave the line out")
    return text


def _utc(text: str) -> str:
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise error(
            ErrorCode.BAD_FIELD,
            f"{text[:40]!r} is not a time with its zone",
            fix="write it as 2026-09-04T10:00:00Z",
        )
    return write_time(moment)


class _Line(Record):
    query: Annotated[Text, AfterValidator(_not_blank)]
    tool: Annotated[Text, AfterValidator(_not_blank)]
    outcome: Literal["success", "failure"]
    endpoint: Text = ""
    arguments: dict[Name, JsonValue] = Field(default_factory=dict)
    comment: Text = ""
    time: Annotated[str, AfterValidator(_utc)] = ""


def read_outcomes(data: bytes, name: str = "experience") -> tuple[Outcome, ...]:
    """Read a JSONL log; empty lines are skipped.

    name: such as the file's name; problems are at `name:LINE.field`. Raises CompendiaError with up to
    MAX_PROBLEMS problems, each with its line, its field and the remedy.
    """
    outcomes: list[Outcome] = []
    problems: list[Problem] = []
    for number, line in enumerate(_text(data, name).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            outcomes.append(_outcome(strict_json.loads(line), place))
        except ValidationError as fault:
            problems += [pydantic_problem(entry, place) for entry in fault.errors(include_url=False)]
        except CompendiaError as fault:
            problems += [
                Problem(p.code, p.message, f"{place}.{p.path}".rstrip(".$"), p.fix) for p in fault.problems
            ]
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        raise CompendiaError(problems[:MAX_PROBLEMS])
    return tuple(outcomes)


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise error(
            ErrorCode.INVALID_JSON, f"byte {fault.start} is not UTF-8", f"{name}:{line}", "save it as UTF-8"
        ) from None


def _outcome(entry: Any, place: str) -> Outcome:
    if not isinstance(entry, dict):
        raise error(ErrorCode.BAD_FIELD, "a line is one JSON object", fix="write one record a line")
    line = _Line.model_validate(entry)
    for value in _strings(line.arguments):
        check_text(value, "arguments")
    return Outcome(**line.model_dump(), place=place)


def _strings(value: JsonValue) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, child in value.items():
            yield key
            yield from _strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from _strings(child)


def window_of(outcomes: Iterable[Outcome]) -> Window:
    """The smallest window that holds all times. Raises USAGE where a time is missing."""
    times = []
    for outcome in outcomes:
        if not outcome.time:
            raise error(
                ErrorCode.USAGE,
                "has no time, so the window cannot be read off the log",
                f"{outcome.place}.time",
                "add the time, or name the window with --from and --to",
            )
        times.append(outcome.time)
    if not times:
        raise error(
            ErrorCode.USAGE,
            "there is no experience to read a window off",
            "window",
            "name the window with --from and --to",
        )
    after = datetime.fromisoformat(max(times)) + timedelta(seconds=1)
    return Window(start=min(times), end=write_time(after))
