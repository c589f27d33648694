"""What a document holds, in few words: for a person, and as JSON for a program."""

from __future__ import annotations

from typing import Any

from compendia.contract import ERRORS, SECTIONS, CompendiaError, Compendium, Snapshot


def counts(compendium: Compendium) -> dict[str, int]:
    """Number of records by section, in document order."""
    return {section: len(getattr(compendium, section)) for section in SECTIONS}


def described(document: Compendium | Snapshot) -> str:
    """Such as "54 tools, 108 annex"."""
    compendium = document.compendium if isinstance(document, Snapshot) else document
    words = (f"{count} {section}" for section, count in counts(compendium).items() if count)
    return ", ".join(words) or "empty"


def summary(document: Compendium | Snapshot) -> dict[str, Any]:
    """Who and which, and the number of records by section."""
    if isinstance(document, Snapshot):
        orgs = sorted({member.org for member in document.members})
        frame = {"revision": document.revision, "round": document.round, "organizations": orgs}
        return {**frame, "conflicts": len(document.conflicts), **counts(document.compendium)}
    return {"org": document.org, **counts(document)}


def problems(fault: CompendiaError) -> list[dict[str, str]]:
    """Every problem of an error, with its remedy."""
    return [
        {"code": p.code, "path": p.path, "message": p.message, "fix": p.fix or ERRORS[p.code].fix}
        for p in fault.problems
    ]
