"""Query likelihood with a frozen local model: the score of a card is how likely the query is after it.

log P(query | card) ranks well where asking the same small model to pick a letter does not (FACTS section 4;
Ponte & Croft, SIGIR 1998; Sachan et al., EMNLP 2022, for language models that were never trained to rank).
The attention over a card's prefix is computed once and kept, so a query costs only its own tokens per card.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .render import RENDER_VERSION, Card
from .rerank import Scores, check_scores

if TYPE_CHECKING:
    import torch

    from .language_model import LanguageModel

PROMPT = "\nUser request:"
MAX_PREFIX_TOKENS = 640
MAX_EVIDENCE_TOKENS = 384
MAX_QUERY_TOKENS = 256


@dataclass(frozen=True)
class PrefixAttention:
    """Keys and values of a prefix: (layers, 2, heads, tokens, head size)."""

    states: torch.Tensor

    @property
    def tokens(self) -> int:
        return int(self.states.shape[3])

    @property
    def size_bytes(self) -> int:
        return self.states.numel() * self.states.element_size()


class PrefixCache:
    """Attention states by prefix text, the least recently used dropped beyond `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[str, PrefixAttention] = OrderedDict()
        self.size_bytes = 0

    def get(self, prefix: str) -> PrefixAttention | None:
        """The states of a prefix, which then counts as used last; None where they are not kept."""
        found = self._kept.get(prefix)
        if found is not None:
            self._kept.move_to_end(prefix)
        return found

    def put(self, prefix: str, states: PrefixAttention) -> None:
        """Keep the states, unless they alone are over the limit."""
        if prefix in self._kept or states.size_bytes > self._limit_bytes:
            return
        self._kept[prefix] = states
        self.size_bytes += states.size_bytes
        while self.size_bytes > self._limit_bytes:
            _, dropped = self._kept.popitem(last=False)
            self.size_bytes -= dropped.size_bytes

    def __len__(self) -> int:
        return len(self._kept)


class LikelihoodReranker:
    """Scores log P(query | card) / sqrt(query tokens), batched over the cards, in nats.

    model: from `language_model`. cache_bytes: bound on the kept attention states (23 KB a token in
    bfloat16, 46 KB in float32). Threads may share it: they take turns, as torch uses every core for each.
    """

    def __init__(self, model: LanguageModel, *, prompt: str = PROMPT, cache_bytes: int = 1 << 30) -> None:
        self._model = model
        self._prompt = prompt
        self._turn = Lock()
        self.prefixes = PrefixCache(cache_bytes)

    @property
    def fingerprint(self) -> str:
        """Digest of weights, precision, prompt and card version."""
        settings = f"{self._model.fingerprint} {RENDER_VERSION} {self._prompt}"
        return "likelihood-" + hashlib.sha256(settings.encode()).hexdigest()[:16]

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One score per card. A query beyond MAX_QUERY_TOKENS is judged by its beginning."""
        found = self.token_log_probabilities(query, cards)
        return check_scores(np.array([normalised(row) for row in found], np.float64), len(cards))

    def token_log_probabilities(self, query: str, cards: Sequence[Card]) -> list[NDArray[np.float64]]:
        """log P of each query token after each card, in nats; one array of (query tokens,) per card."""
        tokens = self._model.encode(" " + query.strip(), MAX_QUERY_TOKENS)
        if not cards or not tokens:
            return [np.zeros(0) for _ in cards]
        # One order whatever order they came in, so that rounding cannot depend on the neighbours' places.
        distinct = sorted(set(cards), key=lambda card: (card.prefix, card.evidence))
        with self._turn:
            rows = self._batch(tokens, distinct)
        by_card = dict(zip(distinct, rows, strict=True))
        return [by_card[card] for card in cards]

    def _batch(self, query: list[int], cards: Sequence[Card]) -> NDArray[np.float64]:
        """Shape (cards, query tokens). Prefixes are padded on the left, what follows them on the right."""
        import torch
        from transformers import DynamicCache

        prefixes = [self._prefix(card.prefix) for card in cards]
        leads = [self._lead(card) for card in cards]
        held = max(prefix.tokens for prefix in prefixes)
        width = max(map(len, leads)) + len(query)
        first = prefixes[0].states
        states = first.new_zeros((*first.shape[:2], len(cards), first.shape[2], held, first.shape[4]))
        inputs = torch.zeros((len(cards), width), dtype=torch.long)
        mask = torch.zeros((len(cards), held + width), dtype=torch.long)
        for row, (prefix, lead) in enumerate(zip(prefixes, leads, strict=True)):
            states[:, :, row, :, held - prefix.tokens :] = prefix.states
            inputs[row, : len(lead) + len(query)] = torch.tensor(lead + query)
            mask[row, held - prefix.tokens : held + len(lead) + len(query)] = 1
        starts = torch.tensor([prefix.tokens for prefix in prefixes])
        with torch.inference_mode():
            hidden = self._model.model.model(
                input_ids=inputs,
                attention_mask=mask,
                position_ids=starts[:, None] + torch.arange(width)[None, :],
                cache=DynamicCache(tuple(layer) for layer in states),
            ).last_hidden_state
            # The state before a token predicts it: one place to the left.
            places = torch.tensor([len(lead) - 1 for lead in leads])[:, None] + torch.arange(len(query))
            before = hidden.gather(1, places[..., None].expand(-1, -1, hidden.shape[-1]))
            logits = self._model.model.lm_head(before).float()
            wanted = torch.tensor(query).expand(len(cards), -1)[..., None]
            found = logits.gather(2, wanted)[..., 0] - logits.logsumexp(dim=2)
        scores: NDArray[np.float64] = found.double().numpy()
        return scores

    def _prefix(self, prefix: str) -> PrefixAttention:
        import torch

        kept = self.prefixes.get(prefix)
        if kept is None:
            tokens = self._model.encode(prefix, MAX_PREFIX_TOKENS) or self._model.encode("\n", 1)
            with torch.inference_mode():
                cache = self._model.model.model(input_ids=torch.tensor([tokens]), use_cache=True).cache
                pairs = [torch.stack((layer.keys[0], layer.values[0])) for layer in cache.layers]
            kept = PrefixAttention(torch.stack(pairs))
            self.prefixes.put(prefix, kept)
        return kept

    def _lead(self, card: Card) -> list[int]:
        evidence = f"\n{card.evidence}" if card.evidence else ""
        return self._model.encode(evidence, MAX_EVIDENCE_TOKENS) + self._model.encode(self._prompt, 64)


def normalised(log_probabilities: NDArray[np.float64]) -> float:
    """Sum over the square root of the length: in a sum long queries shout, in a mean they whisper."""
    return float(log_probabilities.sum() / max(len(log_probabilities), 1) ** 0.5)


def load_likelihood_reranker(*, threads: int = 0, cache_bytes: int = 1 << 30) -> LikelihoodReranker:
    """The default local reranker. Raises MODEL_MISSING with the command that installs the model."""
    from .language_model import LanguageModel, model_file

    return LikelihoodReranker(LanguageModel(model_file(), threads=threads), cache_bytes=cache_bytes)
