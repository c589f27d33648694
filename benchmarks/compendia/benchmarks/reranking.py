"""The router with the small local LLM, paired with its own retrieval over the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compendia.contract import Snapshot

from .benchmark import Session
from .datasets import Query
from .evaluation import RESAMPLES, Evaluation, K, ask
from .metrics import Interval, paired_bootstrap

if TYPE_CHECKING:
    from compendia.router.score_cache import CachedReranker
    from compendia.text.encode import Encoder


@dataclass(frozen=True)
class Reranked:
    """The same queries before and after the LLM ordered the first K."""

    before: Evaluation
    after: Evaluation

    def gain(self, seed: int) -> Interval:
        """The paired gain in acc@1, with its interval."""
        return paired_bootstrap(self.after.first(), self.before.first(), seed=seed, resamples=RESAMPLES)


def with_local_llm(
    session: Session,
    log: str,
    snapshot: Snapshot,
    encoder: Encoder,
    names: Mapping[str, str],
    queries: Sequence[Query],
) -> Reranked:
    """Ask both routers for K candidates, as when a plan is made, and keep their answers in a log.

    The LLM's scores are kept by (model, card, query): a run that was stopped goes on where it was.
    """
    from compendia.router.route import Router

    reranker = local_reranker(session)
    own, reranked = Router(snapshot, encoder), Router(snapshot, encoder, reranker)
    before, after = [], []
    with session.log(log) as lines:
        for query in session.track(queries, f"{log} with the local LLM"):
            before.append(ask(own, names, query, K))
            after.append(ask(reranked, names, query, K))
            lines.write(
                query=query.id,
                group=query.group,
                gold=sorted(query.gold),
                retrieved=before[-1],
                found=after[-1],
            )
    session.notes["reranker"] = {"fingerprint": reranker.fingerprint, "cards_scored_now": reranker.scored}
    return Reranked(Evaluation(queries, before), Evaluation(queries, after))


def local_reranker(session: Session) -> CachedReranker:
    """The small local LLM, loaded once a run; its scores are kept on disk."""

    def load() -> CachedReranker:
        from compendia.router.likelihood import load_likelihood_reranker
        from compendia.router.score_cache import CachedReranker

        return CachedReranker(load_likelihood_reranker(), session.caches / "scores.sqlite")

    return session.once("reranker", load)
