"""Conflicts: disagreement kept as typed knowledge, with who said what and what it means for a router."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from .compendium import Record

Supporters = Annotated[tuple[str, ...], Field(strict=False)]


class Claim(Record):
    """One value that was claimed, and the organizations that claim it (sorted)."""

    value: JsonValue
    supporters: Supporters


class _Conflict(Record):
    tool: str
    field: str
    winner: Claim | None
    dissent: Annotated[tuple[Claim, ...], Field(strict=False)]
    resolved_by: Literal["owner", "majority", "digest", "kept_all", "first", "none"]


class StanceConflict(_Conflict):
    """Some say use the tool for `text`, others say do not. A tie has no winner and keeps both sides.

    The value of a claim is `use` or `do_not`. `reasons` are the dissent's precaution texts and evidence.
    """

    kind: Literal["stance"] = "stance"
    text: str
    reasons: Annotated[tuple[str, ...], Field(strict=False)] = ()

    def do_not_use_when(self) -> str:
        """What the typed card and the plan show, where there is reason for care; else empty."""
        against = [c for c in (self.winner, *self.dissent) if c is not None and c.value == "do_not"]
        if not against:
            return ""
        count = len(against[0].supporters)
        who = f"{count} organization{'s' if count != 1 else ''}"
        because = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"Disputed: {who} said not to use it for: {self.text}{because}"


class DefinitionConflict(_Conflict):
    """Claims about a definition field (description, a parameter's type ...) that were not adopted."""

    kind: Literal["definition"] = "definition"

    def do_not_use_when(self) -> str:
        return ""


class LicenceConflict(_Conflict):
    """Organizations name different licences. All are kept; whoever uses the tool has to clear it."""

    kind: Literal["licence"] = "licence"

    def do_not_use_when(self) -> str:
        return f"Licence disputed for {self.field}: {_listed(self.dissent)}"


class ProvenanceConflict(_Conflict):
    """Organizations name different sources or versions for the same thing. All are kept."""

    kind: Literal["provenance"] = "provenance"

    def do_not_use_when(self) -> str:
        return ""


class EquivocationConflict(_Conflict):
    """One organization sent two digests in one round. `tool` is empty; claims hold the digests."""

    kind: Literal["equivocation"] = "equivocation"
    org: str
    round: int

    def do_not_use_when(self) -> str:
        return ""


Conflict = Annotated[
    StanceConflict | DefinitionConflict | LicenceConflict | ProvenanceConflict | EquivocationConflict,
    Field(discriminator="kind"),
]


def _listed(claims: tuple[Claim, ...]) -> str:
    return "; ".join(f"{', '.join(c.supporters)}: {_shown(c.value)}" for c in claims)


def _shown(value: JsonValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
