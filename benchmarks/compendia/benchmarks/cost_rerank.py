"""Reranking by the local LLM: five real cards of StableToolBench queries, and how often a card is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from compendia.text.encode import load_encoder

from .benchmark import Figures, Session
from .large import MEGABYTE
from .metrics import median, quantile
from .stb_docs import read_setting

if TYPE_CHECKING:
    from compendia.router.language_model import LanguageModel
    from compendia.router.render import Card
    from compendia.router.rerank import Scores

TIMED = 40
"""Queries that are timed, once with all cards kept and once with each card alone."""

REPEATS = 2
CACHE_BYTES = 1 << 30
K = 5


def rerank(session: Session) -> Figures:
    """Milliseconds of five cards, how much slower each alone is, hit rate and size of the card cache."""
    from compendia.router.language_model import LanguageModel, model_file
    from compendia.router.likelihood import EMPTY_CARD, LikelihoodReranker
    from compendia.router.route import Router

    class Recorder:
        """A reranker that keeps what it is asked."""

        listwise = False
        fingerprint = "recorder"

        def __init__(self) -> None:
            self.asked: list[tuple[str, Sequence[Card]]] = []

        def score(self, query: str, cards: Sequence[Card]) -> Scores:
            self.asked.append((query, cards))
            return np.zeros(len(cards))

    encoder = load_encoder(session.options.encoder, session.directory / "embeddings.sqlite")
    setting = read_setting(session, encoder)
    recorder = Recorder()
    router = Router(setting.snapshot, encoder, recorder)
    for asked in session.track(setting.queries, "cards"):
        router.retrieve(asked.text, K)
    model = LanguageModel(model_file())
    reranker, single = (LikelihoodReranker(model, cache_bytes=size) for size in (CACHE_BYTES, 0))
    timed = recorder.asked[:: max(1, len(recorder.asked) // TIMED)][:TIMED]
    first, warm, faster = [], [], []
    single.score(*timed[0])  # loads the model
    for query, cards in session.track(timed, "five cards"):
        first.append(_milliseconds(lambda: reranker.score(query, cards)))  # noqa: B023
        kept = [_milliseconds(lambda: reranker.score(query, cards)) for _ in range(REPEATS)]  # noqa: B023
        warm += kept
        alone = [
            _milliseconds(lambda: single.token_log_probabilities(query, [card]))  # noqa: B023
            for card in (EMPTY_CARD, *cards)
        ]
        faster.append(sum(alone) / median(kept))
    hit_rate, megabytes = _replayed(model, [cards for _, cards in recorder.asked])
    session.notes["rerank"] = {
        "fingerprint": reranker.fingerprint,
        "queries_timed": len(timed),
        "queries_replayed": len(recorder.asked),
        "ms_p95": round(quantile(warm, 0.95), 1),
        "ms_p50_with_cards_not_yet_kept": round(median(first), 1),
    }
    return {
        "rerank_ms_p50": median(warm),
        "rerank_speedup": median(faster),
        "card_hit_rate": hit_rate,
        "card_cache_mb": megabytes,
    }


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e3


def _replayed(model: LanguageModel, asked: Sequence[Sequence[Card]]) -> tuple[float, float]:
    """Hit rate of a card cache that starts empty, and the most it held (1e6 bytes).

    Only sizes matter to it, so the tensors that it keeps here have a shape and no content.
    """
    import torch

    from compendia.router.likelihood import MAX_PREFIX_TOKENS, PROMPT, PrefixCache
    from compendia.router.network import Prefix

    one = model.network.prefixes([model.encode(PROMPT, 1)])[0]
    cache, most = PrefixCache(CACHE_BYTES), 0
    for cards in asked:
        for text in sorted({card.brief or card.prefix for card in cards}):
            if cache.get(text) is None:
                tokens = len(model.encode(text, MAX_PREFIX_TOKENS)) + len(model.encode(PROMPT, 64))
                shape = (*one.states.shape[:3], tokens, one.states.shape[4])
                states = torch.empty(shape, dtype=one.states.dtype, device="meta")
                cache.put(text, Prefix(states, one.last))
                most = max(most, cache.size_bytes)
    return cache.hits / (cache.hits + cache.misses), most / MEGABYTE
