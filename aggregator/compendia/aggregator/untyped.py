"""The untyped control (Synapse, section 4): a tool's whole entry is one flat string, put to the vote."""

from __future__ import annotations

from compendia.contract import Record
from compendia.contract.document import record_json
from compendia.contract.signature import record_key, signatures
from compendia.contract.strict_json import canonical, digest

from .merge import MergedTool, ToolClaims


def merge_tool_untyped(said: ToolClaims) -> MergedTool:
    """The entry that most organizations wrote to the letter; ties go to the smaller digest. No log."""
    entries: dict[str, list[tuple[str, Record]]] = {}
    for section, claims in said.claims.items():
        for org, record in claims:
            entries.setdefault(org, []).append((section, record))
    votes: dict[str, list[str]] = {}
    registrars = {org for org, _ in said.claims["tools"]}
    for org in sorted(registrars):
        flat = canonical(
            sorted(canonical([section, record_json(record)]) for section, record in entries[org])
        )
        votes.setdefault(flat, []).append(org)
    winner = min(votes, key=lambda flat: (-len(votes[flat]), digest(flat)))
    result = MergedTool()
    for section, record in sorted(
        entries[votes[winner][0]], key=lambda entry: (entry[0], record_key(entry[1]))
    ):
        computed = {
            f.name: len(votes[winner]) for f in signatures(type(record)) if f.signature.law == "computed"
        }
        result.sections[section].append(record.model_copy(update=computed))
    return result
