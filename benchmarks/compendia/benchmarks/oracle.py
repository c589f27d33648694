"""`oracle`: what is left to win by ordering five candidates, once a right tool is surely among them?

As in the Synapse paper (appendix C): every gold tool of a query is forced into the five, each in place of
the lowest non-gold candidate, and the frozen LLM orders them, here the small local one: beside the retrieval
scores, as the router combines them (`acc@1`), and alone (`llm_alone`). `inserted`: how often it was needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compendia.contract import Candidate, Snapshot

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import Query, stratified
from .evaluation import Evaluation, K, keep, named, open_encoder, read_split, remembering
from .metrics import mean
from .reranking import local_reranker
from .snapshots import centralized, docs_only, federated
from .splits import Split

if TYPE_CHECKING:
    from compendia.router.render import Card
    from compendia.router.route import Router
    from compendia.text.encode import Encoder

SPLIT = "stb-g3"
ARMS = ("federated", "centralized", "docs-only")


@dataclass(frozen=True)
class Forced:
    """The candidates of one query, best first by retrieval, and whether a gold tool had to be put in."""

    query: Query
    candidates: tuple[Candidate, ...]
    inserted: bool


def forced(ranking: Sequence[Candidate], query: Query, names: Mapping[str, str], k: int = K) -> Forced:
    """The first k of a ranking (aliases once) with every gold tool among them, in its order.

    A gold tool that was not ranked at all comes last, with the score of the last.
    """
    ranked: dict[str, Candidate] = {}
    for candidate in ranking:
        ranked.setdefault(names[candidate.tool], candidate)
    first = set(list(ranked)[:k])
    for tool, name in names.items():
        if name in query.gold and name not in ranked:
            ranked[name] = Candidate(tool=tool, score=ranking[-1].score, features={})
    chosen = keep_gold(list(ranked), query.gold, k)
    kept = tuple(candidate for name, candidate in ranked.items() if name in chosen)
    return Forced(query, kept, not chosen <= first)


def keep_gold(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> set[str]:
    """The first k names with all gold ones among them: each missing one takes the place of the lowest other.
    Of more than k gold ones the best k.

    >>> sorted(keep_gold(["a", "b", "c", "d"], {"d"}, 2)), sorted(keep_gold(["a", "b", "c"], {"b"}, 2))
    (['a', 'd'], ['a', 'b'])
    """
    held = [name for name in ranked if name in gold][:k]
    others = [name for name in ranked if name not in gold][: k - len(held)]
    return {*held, *others}


def candidates(session: Session, arm: str) -> tuple[Router, list[Forced], Mapping[str, str]]:
    """The router of an arm and the forced candidates of all queries, made once."""

    def make() -> tuple[Router, list[Forced], Mapping[str, str]]:
        from compendia.router.route import Router

        encoder = open_encoder(session)
        queries = stratified(session.split(SPLIT).queries, session.options.limit)
        memory = session.once("memory", lambda: remembering(encoder, queries))
        split = read_split(session, SPLIT, memory)
        router = Router(snapshot_of(arm, split, memory), memory)
        size = len(split.names)
        found = [
            forced(router.retrieve(query.text, size).candidates, query, split.names)
            for query in session.track(queries, f"{arm}: candidates")
        ]
        return router, found, split.names

    return session.once(f"candidates/{arm}", make)


def snapshot_of(arm: str, split: Split, encoder: Encoder) -> Snapshot:
    """The snapshot of one of ARMS."""
    if arm == "federated":
        return federated(split, encoder)
    return (centralized if arm == "centralized" else docs_only)(split, encoder.fingerprint)


def inserted(arm: str) -> Callable[[Session], Figures]:
    """The part that counts how often a gold tool was not among the five."""

    def measure(session: Session) -> Figures:
        _, found, _ = candidates(session, arm)
        return {f"inserted@{arm}": mean([one.inserted for one in found])}

    return measure


def ordered(arm: str) -> Callable[[Session], Figures]:
    """The part that has the local LLM order the candidates of an arm."""

    def measure(session: Session) -> Figures:
        router, found, names = candidates(session, arm)
        return ordered_by_llm(session, router, found, names, arm, typed_card)

    return measure


def typed_card(router: Router, tool: str) -> Card:
    """The typed card as the local LLM reads it: documentation and typical requests."""
    from compendia.router.render import render_card

    index = router.revision.index
    return render_card(router.revision.tool(tool), typical=index.scenarios.typical(index.row[tool]))


def ordered_by_llm(
    session: Session,
    router: Router,
    found: Sequence[Forced],
    names: Mapping[str, str],
    arm: str,
    card: Callable[[Router, str], Card],
) -> Figures:
    """`acc@1/GROUP@ARM` of the local LLM beside the retrieval scores, and `llm_alone/GROUP@ARM`."""
    from compendia.router.rerank import combine, permutation
    from compendia.router.rerank_fit import fit_rerank

    reranker, index = local_reranker(session), router.revision.index
    weights = fit_rerank(router.revision, router.encoder, reranker)
    together, alone = list[list[str]](), list[list[str]]()
    for one in session.track(found, f"{arm} with the local LLM"):
        cards = [card(router, candidate.tool) for candidate in one.candidates]
        scores = reranker.score(one.query.text.strip(), cards)
        used = [bool(index.experienced.used[index.row[candidate.tool]]) for candidate in one.candidates]
        both = combine([candidate.score for candidate in one.candidates], scores, used, weights)
        for answers, order in ((together, permutation(both)), (alone, permutation(scores))):
            answers.append([names[one.candidates[place].tool] for place in order])
    queries = [one.query for one in found]
    figures: dict[str, float] = {}
    for metric, log, answers in (("acc@1", arm, together), ("llm_alone", f"{arm}_alone", alone)):
        evaluation = keep(session, log, Evaluation(queries, answers))
        figures |= named(session, evaluation, f"{metric}/{{group}}@{arm}", ["acc@1"])
    return figures


ORACLE = Benchmark(
    "oracle",
    "stb-federated with every gold tool forced into the five candidates, which the local LLM orders",
    (
        *(Part((f"inserted@{arm}",), inserted(arm)) for arm in ARMS),
        *(
            Part(
                (f"acc@1/*@{arm}", f"llm_alone/*@{arm}"),
                ordered(arm),
                lambda options: options.llm != "none",
            )
            for arm in ARMS
        ),
    ),
)
