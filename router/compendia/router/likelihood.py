"""Query likelihood with a frozen local model: how much a card makes the query likelier, token by token.

log P(query | card) ranks well where asking the same small model to pick a letter does not (FACTS section 4;
Ponte & Croft, SIGIR 1998; Sachan et al., EMNLP 2022). Most tokens of a query are as likely under any card and
only add noise, so a token counts by its *lift*, log P(token | card) - log P(token | empty card), in full
where it is positive and by a quarter where it is not; the sum is divided by the root of their number. Weighed
as fitted on snapshots (`rerank_fit`), that took 200 + 150 training requests of MetaTool for used and for
unused tools from 0.79 and 0.51 to 0.81 and 0.59, and 110 + 80 of ToolBench G3 from 0.89 and 0.69 to 0.93 and
0.74; with all lifts in full, 0.83 and 0.60, and 0.91 and 0.71.

The model reads a card's brief documentation and typical requests that the tool served. What warns of a tool
is evidence for the ranker: read by the model, a precaution like the query would make that query likelier, and
count for the tool that it warns of.
The attention over a card is computed once and kept, and all cards are read in one pass, so a query costs its
own tokens per card and nothing else.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .render import RENDER_VERSION, Card, one_line
from .rerank import Scores, check_scores

if TYPE_CHECKING:
    from .language_model import LanguageModel
    from .network import Prefix

PROMPT = "\nUser request:"
MAX_PREFIX_TOKENS = 640
MAX_PROMPT_TOKENS = 64
MAX_QUERY_TOKENS = 256
MAX_QUERY = 16_384

UNLIKELIER = 0.25
"""What it counts that a card makes a token unlikelier, beside one that it makes likelier."""

EMPTY_CARD = Card(
    "Tool: Example\nCategory: Other\nDescription: A tool.\nEndpoints:\n- Get; Does: Gets the data."
)
"""A card that says nothing: what a query's tokens are worth under any tool at all."""


class PrefixCache:
    """What was read of prefixes, by their text, the least recently used dropped beyond `limit_bytes`.

    hits, misses: how often a prefix was there, or not, when it was asked for.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[str, Prefix] = OrderedDict()
        self.size_bytes = self.hits = self.misses = 0

    def get(self, prefix: str) -> Prefix | None:
        """What is kept of a prefix, which then counts as used last; None where nothing is."""
        found = self._kept.get(prefix)
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        self._kept.move_to_end(prefix)
        return found

    def put(self, prefix: str, states: Prefix) -> None:
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
    """Scores how far each card lifts the query above an empty card, batched over the cards, in nats.

    model: from `language_model`. cache_bytes: bound on what is kept of cards (23 KB a token, 46 KB in
    float32). Threads may share it: they take turns, as torch uses every core for each.
    """

    listwise = False

    def __init__(self, model: LanguageModel, *, prompt: str = PROMPT, cache_bytes: int = 1 << 30) -> None:
        self._model = model
        self._prompt = prompt
        self._turn = Lock()
        self.prefixes = PrefixCache(cache_bytes)

    @property
    def fingerprint(self) -> str:
        """Digest of weights, precision, prompt, card version and the empty card."""
        settings = f"lift/2 {self._model.fingerprint} {RENDER_VERSION} {self._prompt} {EMPTY_CARD.text}"
        return "likelihood-" + hashlib.sha256(settings.encode()).hexdigest()[:16]

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One score per card. A query beyond MAX_QUERY_TOKENS is judged by its beginning."""
        empty, *found = self.token_log_probabilities(query, [EMPTY_CARD, *cards])
        return check_scores(np.array([lifted(row, empty) for row in found], np.float64), len(cards))

    def token_log_probabilities(self, query: str, cards: Sequence[Card]) -> list[NDArray[np.float64]]:
        """log P of each query token after each card, in nats; one array of (query tokens,) per card."""
        tokens = self._model.encode(" " + one_line(query[:MAX_QUERY]), MAX_QUERY_TOKENS)
        if not cards or not tokens:
            return [np.zeros(0) for _ in cards]
        # One order whatever order they came in, so that rounding cannot depend on the neighbours' places.
        distinct = sorted({_read(card) for card in cards})
        with self._turn:
            rows = self._pass(tokens, distinct)
        by_text = dict(zip(distinct, rows, strict=True))
        return [by_text[_read(card)] for card in cards]

    def _pass(self, query: list[int], texts: Sequence[str]) -> NDArray[np.float64]:
        """Shape (texts, query tokens): a token is told by what was read before it."""
        import torch

        network = self._model.network
        prefixes = self._prefixes(texts)
        before = [prefix.last[None] for prefix in prefixes]
        if len(query) > 1:
            read = network.outputs([query[:-1]] * len(texts), prefixes)
            before = [torch.cat(pair) for pair in zip(before, read, strict=True)]
        found = network.log_probabilities(torch.cat(before), query * len(texts))
        scores: NDArray[np.float64] = found.view(len(texts), len(query)).double().numpy()
        return scores

    def _prefixes(self, texts: Sequence[str]) -> list[Prefix]:
        """Each card and the prompt after it, those that are not kept read in one pass."""
        found = {text: self.prefixes.get(text) for text in texts}
        missing = [text for text, kept in found.items() if kept is None]
        if missing:
            prompt = self._model.encode(self._prompt, MAX_PROMPT_TOKENS)
            made = self._model.network.prefixes(
                [self._model.encode(text, MAX_PREFIX_TOKENS) + prompt for text in missing]
            )
            for text, prefix in zip(missing, made, strict=True):
                self.prefixes.put(text, prefix)
            found |= dict(zip(missing, made, strict=True))
        return [prefix for prefix in found.values() if prefix is not None]


def _read(card: Card) -> str:
    return card.brief or card.prefix


def lifted(given: NDArray[np.float64], empty: NDArray[np.float64]) -> float:
    """The lifts of a query's tokens together, in nats; both arrays are (query tokens,).

    >>> lifted(np.array([-1.0, -2.0, -9.0, -1.0]), np.array([-4.0, -6.0, -1.0, -1.0]))
    2.5
    """
    lifts = given - empty
    counted = np.where(lifts > 0, lifts, UNLIKELIER * lifts)
    return float(counted.sum() / np.sqrt(max(1, len(lifts))))


def load_likelihood_reranker(*, threads: int = 0, cache_bytes: int = 1 << 30) -> LikelihoodReranker:
    """The default local reranker. Raises MODEL_MISSING with the command that installs the model."""
    from .language_model import LanguageModel, model_file

    return LikelihoodReranker(LanguageModel(model_file(), threads=threads), cache_bytes=cache_bytes)
