"""Build: imported tools and an organization's experience become the compendium that it publishes.

Successes become scenarios and call templates, failures become precautions, both become counts; a request that
went both ways keeps both sides. Texts are masked here, before anything leaves the organization.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from compendia.contract import (
    SECTIONS,
    CallTemplate,
    CompendiaError,
    Compendium,
    ErrorCode,
    Precaution,
    Problem,
    Record,
    Scenario,
    Usage,
    Window,
    document,
    error,
)
from compendia.contract.compendium import MAX_TEXT
from compendia.contract.signature import record_key
from compendia.contract.strict_json import canonical
from compendia.contract.validate import KnownTools
from compendia.text.mask import mask

from .experience import MAX_PROBLEMS, Outcome
from .importers.texts import Notices, visible
from .resolve import Resolver
from .skeleton import skeleton

PrecautionKind = Literal["wrong_for", "deprecated", "unsafe", "limited", "unreliable"]

_WORDS: dict[PrecautionKind, str] = {
    "unsafe": "unsafe danger destruct delet data.loss overwr irreversib security leak without.asking charged",
    "deprecated": "deprecat sunset discontinu retired obsolete end.of.life no.longer replaced.by",
    "limited": "limit rate.?limit quota too.many paywall free.tier only.for only.covers only.supports",
    "unreliable": r"unreliab time[ds]?.?out slow unavailab 5\d\d\b server.error flaky intermittent down\b",
}
_KINDS = {k: re.compile(rf"\b(?:{'|'.join(words.split())})", re.IGNORECASE) for k, words in _WORDS.items()}
"""English words of a comment that tell the kind of a precaution, the gravest first. Other comments, and other
languages, give `wrong_for`: the request and the comment are kept either way."""

_SEVERITY: dict[PrecautionKind, Literal[1, 2, 3]] = {"unsafe": 3, "deprecated": 2}


@dataclass
class _Requests:
    """What is known of one (tool, masked text): counts by endpoint, and what was said."""

    endpoints: Counter[str] = field(default_factory=Counter)
    comments: Counter[str] = field(default_factory=Counter)


@dataclass
class _Tally:
    successes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    worked: dict[tuple[str, str], _Requests] = field(default_factory=dict)
    failed: dict[tuple[str, str], _Requests] = field(default_factory=dict)
    calls: dict[tuple[str, str, str], CallTemplate] = field(default_factory=dict)
    call_counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)


def build(
    imported: Compendium,
    experience: Iterable[Outcome],
    *,
    window: Window,
    known: KnownTools | None = None,
    pinned: str = "",
) -> Compendium:
    """The raw compendium of one organization for one window, in canonical order.

    known, pinned: tools of a snapshot and its revision; they may be named besides the imported ones. Every
    tool that may be named gets its usage row, zeros too: an absent row would tell which tools are used.

    Raises CompendiaError with every problem found: UNKNOWN_TOOL and UNKNOWN_ENDPOINT (with near matches),
    OUT_OF_RANGE (a time outside the window), USAGE (`imported` holds experience already, known without
    pinned), and whatever `document.check` refuses.
    """
    if imported.usage or imported.scenarios or imported.templates:
        raise error(
            ErrorCode.USAGE, "the compendium holds experience already", "usage", "build from imported sources"
        )
    if bool(known) != bool(pinned):
        raise error(
            ErrorCode.USAGE,
            "tools of a snapshot need the revision they are from, and the other way round",
            "pinned",
            "give the snapshot, or neither",
        )
    resolver = Resolver(imported.tools, known or {})
    tally = _count(experience, resolver, window)
    made = imported.model_copy(
        update={
            "window": window,
            "pinned": pinned,
            "usage": tuple(
                Usage(tool=tool, successes=tally.successes[tool], failures=tally.failures[tool])
                for tool in resolver.ids()
            ),
            "scenarios": tuple(_scenarios(tally)),
            "precautions": _with_own(imported.precautions, _precautions(tally)),
            "templates": tuple(
                call.model_copy(update={"count": tally.call_counts[key]}) for key, call in tally.calls.items()
            ),
        }
    )
    document.check(made, known)
    return document.sorted_compendium(made)


def combine(sources: Sequence[Compendium]) -> Compendium:
    """Several imports of one organization as one. Equal records count once.

    Raises USAGE (no source, or of different organizations), DUPLICATE_ENTRY (two sources describe one thing
    differently).
    """
    orgs = sorted({source.org for source in sources})
    if len(orgs) != 1:
        raise error(
            ErrorCode.USAGE,
            f"the sources are of {len(orgs)} organizations: {', '.join(orgs)}"
            if orgs
            else "there is no source",
            "org",
            "build from imports made with the same --org",
        )
    sections: dict[str, tuple[Record, ...]] = {}
    problems: list[Problem] = []
    for name in SECTIONS:
        kept: dict[tuple[object, ...], Record] = {}
        for record in (record for source in sources for record in getattr(source, name)):
            key = record_key(record)
            if kept.setdefault(key, record) != record:
                problems.append(
                    Problem(
                        ErrorCode.DUPLICATE_ENTRY,
                        f"two sources describe {' '.join(map(str, key))[:120]!r} differently",
                        name,
                        "import one of the two, or give them different publishers with --publisher",
                    )
                )
        sections[name] = tuple(kept.values())
    if problems:
        raise CompendiaError(problems[:MAX_PROBLEMS])
    return sources[0].model_copy(update=sections)


def _count(experience: Iterable[Outcome], resolver: Resolver, window: Window) -> _Tally:
    tally, problems = _Tally(), list[Problem]()
    for outcome in experience:
        try:
            _add(tally, outcome, resolver, window)
        except CompendiaError as fault:
            problems += fault.problems
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise CompendiaError(problems)
    return tally


def _add(tally: _Tally, outcome: Outcome, resolver: Resolver, window: Window) -> None:
    tool = resolver.tool(outcome.tool, outcome.place)
    endpoint = resolver.endpoint(tool, outcome.endpoint, outcome.place)
    if outcome.time and not window.start <= outcome.time < window.end:
        raise error(
            ErrorCode.OUT_OF_RANGE,
            f"{outcome.time} lies outside the window {window.start} to {window.end}",
            f"{outcome.place}.time",
            "leave it out, or widen the window",
        )
    worked = outcome.outcome == "success"
    (tally.successes if worked else tally.failures)[tool] += 1
    key = (tool, masked_text(outcome.query))
    requests = (tally.worked if worked else tally.failed).setdefault(key, _Requests())
    requests.endpoints[endpoint] += 1
    if outcome.comment.strip():
        requests.comments[outcome.comment] += 1
    if worked and endpoint and outcome.arguments:
        arguments = skeleton(outcome.arguments, resolver.documentation(tool, endpoint))
        call = (tool, endpoint, canonical(arguments))
        tally.calls.setdefault(call, CallTemplate(tool=tool, endpoint=endpoint, arguments=arguments))
        tally.call_counts[call] += 1


def _scenarios(tally: _Tally) -> Iterable[Scenario]:
    for (tool, text), requests in tally.worked.items():
        yield Scenario(
            tool=tool, text=text, endpoint=_foremost(requests.endpoints), count=requests.endpoints.total()
        )


def _precautions(tally: _Tally) -> Iterable[Precaution]:
    for (tool, text), requests in tally.failed.items():
        comment = _foremost(requests.comments)
        kind = _kind(requests.comments)
        yield Precaution(
            tool=tool,
            text=text,
            kind=kind,
            evidence=masked_text(comment) if comment else "",
            endpoint=_foremost(requests.endpoints),
            severity=_SEVERITY.get(kind, 1),
            count=requests.endpoints.total(),
        )


def _with_own(imported: Sequence[Precaution], own: Iterable[Precaution]) -> tuple[Precaution, ...]:
    """Precautions of the source and of experience; where both say one thing, the source's words count."""
    kept = {record_key(precaution): precaution for precaution in own}
    return tuple((kept | {record_key(precaution): precaution for precaution in imported}).values())


def _kind(comments: Iterable[str]) -> PrecautionKind:
    for kind, words in _KINDS.items():
        if any(words.search(comment) for comment in comments):
            return kind
    return "wrong_for"


def _foremost(counts: Counter[str]) -> str:
    """The most frequent; of equals, the first in the alphabet, so that the order of a log does not matter."""
    return min(counts, key=lambda value: (-counts[value], value), default="")


def masked_text(text: str) -> str:
    """A text as it may leave the organization: masked, on one line, without invisible characters, cut to
    what a compendium holds (masking can lengthen it)."""
    masked = mask(" ".join(visible(text, Notices(), "").split()))
    if len(masked) <= MAX_TEXT:
        return masked
    return re.sub(r"<[A-Z]*$", "", masked[: MAX_TEXT - 1]).rstrip() + "…"
