"""`rendering`: typed or flat, in the merge and in what the LLM reads; the Synapse paper's crossed experiment.

Two merges of the experience of `stb-federated`, by typed fields or as one text a tool, and two renderings of
each candidate, the typed card or the tool's whole entry as one flat JSON text. The local LLM orders the five
candidates of the merge's own retrieval; the queries are the paper's, G1 and G2 instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from compendia.contract import SECTIONS, Compendium
from compendia.contract.document import record_json
from compendia.contract.strict_json import canonical

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import stratified
from .evaluation import K, open_encoder, read_split, remembering
from .merge_arms import snapshots
from .oracle import Forced, ordered_by_llm, typed_card

if TYPE_CHECKING:
    from compendia.router.render import Card
    from compendia.router.route import Router

SPLIT = "stb-g3"
GROUPS = ("G1_instruction", "G2_instruction")
MERGES = ("typed", "untyped")


def flat_entry(compendium: Compendium, tool: str) -> str:
    """All that is said of a tool as one text, as the untyped merge votes on it."""
    said = (
        canonical([section, record_json(record)])
        for section in SECTIONS
        for record in getattr(compendium, section)
        if getattr(record, "tool", getattr(record, "id", None)) == tool
    )
    return canonical(sorted(said))


def flat_card(router: Router, tool: str) -> Card:
    """The flat entry in the place of the typed card, as much of it as a card may hold."""
    from compendia.router.render import MAX_PREFIX, Card, clip, one_line

    return Card(clip(one_line(flat_entry(router.revision.snapshot.compendium, tool)), MAX_PREFIX))


def candidates(session: Session, merge: str) -> tuple[Router, list[Forced], dict[str, str]]:
    """The router of a merge and its five candidates for each query, made once for both renderings."""

    def make() -> tuple[Router, list[Forced], dict[str, str]]:
        from compendia.router.route import Router

        encoder = open_encoder(session)
        asked = tuple(query for query in session.split(SPLIT).queries if query.group in GROUPS)
        queries = stratified(asked, session.options.limit)
        memory = session.once("memory", lambda: remembering(encoder, queries))
        split = read_split(session, SPLIT, memory)
        made = session.once("snapshots", lambda: snapshots(split, MERGES, memory))
        router = Router(made[merge], memory)
        found = [Forced(query, router.retrieve(query.text, K).candidates, False) for query in queries]
        return router, found, dict(split.names)

    return session.once(f"candidates/{merge}", make)


def measured(merge: str, card: Callable[[Router, str], Card], rendering: str) -> Callable[[Session], Figures]:
    """The part that measures a merge under a rendering."""

    def measure(session: Session) -> Figures:
        router, found, names = candidates(session, merge)
        return ordered_by_llm(session, router, found, names, f"{merge}-{rendering}", card)

    return measure


RENDERING = Benchmark(
    "rendering",
    "typed or untyped merge, shown to the local LLM as typed cards or as flat text (needs --llm local)",
    tuple(
        Part(
            (f"acc@1/*@{merge}-{rendering}", f"llm_alone/*@{merge}-{rendering}"),
            measured(merge, card, rendering),
            lambda options: options.llm != "none",
        )
        for merge in MERGES
        for rendering, card in (("typed", typed_card), ("flat", flat_card))
    ),
)
