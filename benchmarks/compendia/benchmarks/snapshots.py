"""The snapshots of a split, by how experience travels: merged, pooled raw, kept at home, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.view import Contribution, Policy, view
from compendia.client.build import build
from compendia.client.experience import Outcome
from compendia.contract import Compendium, Member, Precaution, Scenario, Snapshot, Usage, Window, seal
from compendia.contract.document import check, sorted_compendium
from compendia.contract.strict_json import digest
from compendia.text.encode import Encoder

from .splits import Item, Split

WINDOW = Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z")
"""The one month that all experience of a split is from; nothing depends on which."""


def documentation_snapshot(compendium: Compendium, encoder: str) -> Snapshot:
    """One contribution as a snapshot of its own, as a merge of a single member gives it.

    encoder: a fingerprint.
    """
    member = Member(org=compendium.org, round=1, digest=digest(compendium.model_dump(mode="json")))
    return seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder=encoder,
        members=(member,),
        compendium=compendium.model_copy(update={"org": ""}),
        conflicts=(),
    )


def docs_only(split: Split, encoder: str) -> Snapshot:
    """The catalog without any experience."""
    return documentation_snapshot(split.documentation, encoder)


def federated(split: Split, encoder: Encoder, policy: Policy = "conflict_log") -> Snapshot:
    """What the aggregator serves: each client builds (and masks) its own compendium, and they are merged."""
    return _merged((contribution(split, client) for client in sorted(split.holdings)), encoder, policy)


def centralized(split: Split, encoder: str) -> Snapshot:
    """The raw pooled experience: unmasked, unclustered, without votes; equal requests of a tool are one."""
    worked, failed = (
        Counter((item.tool, " ".join(item.query.split())) for item in items)
        for items in (split.experience, split.failures)
    )
    successes = Counter(item.tool for item in split.experience)
    failures = Counter(item.tool for item in split.failures)
    pooled = split.documentation.model_copy(
        update={
            "window": WINDOW,
            "scenarios": tuple(Scenario(tool=t, text=text, count=n) for (t, text), n in worked.items()),
            "precautions": (
                *split.documentation.precautions,
                *(
                    Precaution(tool=t, text=text, kind="wrong_for", count=n)
                    for (t, text), n in failed.items()
                ),
            ),
            "usage": tuple(
                Usage(tool=tool.id, successes=successes[tool.id], failures=failures[tool.id])
                for tool in split.documentation.tools
            ),
        }
    )
    check(pooled)
    return documentation_snapshot(sorted_compendium(pooled), encoder)


def local_only(split: Split, client: str, encoder: Encoder, *, own_tools: bool = False) -> Snapshot:
    """What one client knows without the others: its own experience, over the whole catalog or, with
    `own_tools`, over the tools that it documents itself (the paper's)."""
    tools = split.holdings[client] if own_tools else frozenset(split.names)
    return _merged([contribution(split, client, tools)], encoder, "conflict_log")


def contribution(
    split: Split, client: str, tools: Collection[str] | None = None, round: int = 1
) -> Contribution:
    """What a client would publish: its experience, and documentation of its own tools or of those given."""
    described = restricted(split.documentation, split.holdings[client] if tools is None else tools)
    own = described.model_copy(update={"org": client})
    made = build(own, outcomes(split, client), window=WINDOW)
    return Contribution(client, round, digest(made.model_dump(mode="json")), made)


def outcomes(split: Split, client: str) -> list[Outcome]:
    """What a client's log holds."""
    return [
        *(_outcome(item, "success") for item in split.experience if item.client == client),
        *(_outcome(item, "failure") for item in split.failures if item.client == client),
    ]


def _outcome(item: Item, outcome: Literal["success", "failure"]) -> Outcome:
    return Outcome(query=item.query, tool=item.tool, outcome=outcome)


def restricted(compendium: Compendium, tools: Collection[str]) -> Compendium:
    """The compendium with what it says about the given tools alone. Schema definitions stay."""
    sections = {
        "tools": tuple(tool for tool in compendium.tools if tool.id in tools),
        "precautions": tuple(record for record in compendium.precautions if record.tool in tools),
        "annex": tuple(record for record in compendium.annex if record.tool in tools),
    }
    return compendium.model_copy(update=sections)


def _merged(contributions: Iterable[Contribution], encoder: Encoder, policy: Policy) -> Snapshot:
    with SerialExecutor() as executor:
        return view(contributions, grants={}, encoder=encoder, executor=executor, policy=policy, round=1)
