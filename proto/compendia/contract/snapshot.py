"""The snapshot: one revision of the merged compendium, with its members and its conflict log.

A snapshot is a pure view of the canonically sorted contributions: the same contributions give the same
bytes whatever order they came in, in whatever process. The revision is a digest of those bytes.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .compendium import SCHEMA_VERSION, Compendium, Record
from .conflict import Conflict
from .strict_json import digest
from .validate import KnownTools


class Member(Record):
    """A contribution that the snapshot counts: who, in which round, and the digest of the bytes received."""

    org: str
    round: int
    digest: str


class Snapshot(Record):
    """One revision. `encoder` is the fingerprint of the encoder that clustered; `policy` the merge policy."""

    schema_version: int = SCHEMA_VERSION
    revision: str
    parent: str
    round: int
    policy: str
    encoder: str
    members: Annotated[tuple[Member, ...], Field(strict=False)]
    compendium: Compendium
    conflicts: Annotated[tuple[Conflict, ...], Field(strict=False)]

    def known_tools(self) -> KnownTools:
        """What a later contribution may refer to when it pins this revision."""
        return {tool.id: [e.name for e in tool.endpoints] for tool in self.compendium.tools}


def seal(
    *,
    parent: str,
    round: int,
    policy: str,
    encoder: str,
    members: tuple[Member, ...],
    compendium: Compendium,
    conflicts: tuple[Conflict, ...],
) -> Snapshot:
    """Make a snapshot whose revision is `r<round>-<16 hex digits over everything else>`."""
    unsealed = Snapshot(
        revision="",
        parent=parent,
        round=round,
        policy=policy,
        encoder=encoder,
        members=members,
        compendium=compendium,
        conflicts=conflicts,
    )
    mark = digest(unsealed.model_dump(mode="json", exclude={"revision"}))[:16]
    return unsealed.model_copy(update={"revision": f"r{round}-{mark}"})
