"""What every Encoder must do, whichever it is. A new one arrives as one line in ENCODERS."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from compendia.text.encode import ENCODERS, Encoder, HashingEncoder, load_encoder
from compendia.text.spans import Span, Text

TEXTS = [
    "Which ferry leaves for Turku tonight?",
    "ferry",
    "",
    "  \t ",
    "明天去图尔库的渡轮几点开？",
    "Во сколько паром?",
    "مواعيد العبارة",
    "👩‍🔧🚢 e\u0301te\u0301",
    "a lone \ud800 surrogate",
    "NUL \0 inside",
    "timetable " * 80,
]
LOADED: dict[str, Encoder] = {}


def _loaded(name: str) -> Encoder:
    if name not in LOADED:
        LOADED[name] = load_encoder(name)
    return LOADED[name]


@pytest.fixture(
    params=[
        pytest.param("hashing", id="hashing"),
        pytest.param("minilm", id="minilm", marks=pytest.mark.model),
        pytest.param("e5", id="e5", marks=pytest.mark.model),
        pytest.param("cached", id="cached"),
    ]
)
def encoder(request: pytest.FixtureRequest, tmp_path: Path) -> Encoder:
    if request.param == "cached":
        return load_encoder("hashing", tmp_path / "vectors.sqlite")
    return _loaded(request.param)


Method = Callable[[Encoder, list[Text]], np.ndarray]


@pytest.fixture(params=["queries", "documents"])
def method(request: pytest.FixtureRequest) -> Method:
    return lambda encoder, texts: getattr(encoder, f"encode_{request.param}")(texts)


def test_one_unit_row_for_each_text(encoder: Encoder, method: Method) -> None:
    vectors = method(encoder, TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_texts_give_no_rows(encoder: Encoder, method: Method) -> None:
    vectors = method(encoder, [])
    assert vectors.shape == (0, encoder.dimension)
    assert vectors.dtype == np.float32


def test_rows_stand_in_the_order_of_the_texts_whatever_the_batch(encoder: Encoder, method: Method) -> None:
    together = method(encoder, [*TEXTS, *reversed(TEXTS)])
    alone = np.concatenate([method(encoder, [text]) for text in TEXTS])
    np.testing.assert_allclose(together[: len(TEXTS)], alone, atol=2e-3)
    np.testing.assert_allclose(together[len(TEXTS) :], alone[::-1], atol=2e-3)


def test_the_same_call_gives_the_same_bytes(encoder: Encoder, method: Method) -> None:
    assert method(encoder, TEXTS).tobytes() == method(encoder, TEXTS).tobytes()


def test_different_texts_give_different_vectors(encoder: Encoder, method: Method) -> None:
    vectors = method(encoder, ["departure times of the ferry", "melting point of tin"])
    assert float(vectors[0] @ vectors[1]) < 0.95


def test_a_near_text_is_nearer_than_a_far_one(encoder: Encoder) -> None:
    query = encoder.encode_queries(["when does the ferry to Turku depart"])[0]
    near, far = encoder.encode_documents(["departure times of every ferry", "melting points of pure metals"])
    assert float(query @ near) > float(query @ far)


ASKED = "When does the ferry to Turku depart? What is the melting point of tin?"
FERRY, TIN = Span(ASKED, 0, 36), Span(ASKED, 37, 70)


def test_parts_of_a_text_stand_in_order_among_texts(encoder: Encoder, method: Method) -> None:
    texts = [
        TIN,
        "ferry",
        ASKED,
        FERRY,
        TIN,
        *(Span(text, 0, len(text)) for text in TEXTS),
        Span(ASKED, 4, 4),
    ]
    vectors = method(encoder, texts)
    assert vectors.shape == (len(texts), encoder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    alone = np.concatenate([method(encoder, [text]) for text in texts])
    np.testing.assert_allclose(vectors, alone, atol=2e-3)


def test_a_part_is_encoded_by_what_it_says(encoder: Encoder) -> None:
    parts = encoder.encode_queries([FERRY, TIN])
    said = encoder.encode_queries([FERRY.said, TIN.said])
    documents = encoder.encode_documents(["departure times of every ferry", "melting points of pure metals"])
    for found in (parts @ said.T, parts @ documents.T):
        assert found[0, 0] > found[0, 1]
        assert found[1, 1] > found[1, 0]


def test_a_part_beyond_what_is_read_is_encoded_by_what_it_says(encoder: Encoder, method: Method) -> None:
    long = "timetable " * 1_000 + TIN.said
    last = Span(long, len(long) - len(TIN.said), len(long))
    part, said = method(encoder, [last, TIN.said])
    assert float(part @ said) > 0.99


def test_the_fingerprint_stays_and_names_the_encoder(encoder: Encoder) -> None:
    assert encoder.fingerprint == encoder.fingerprint
    assert encoder.fingerprint.rpartition("-")[0] in ENCODERS


def test_threads_may_share_it(encoder: Encoder) -> None:
    texts = [f"ferry number {i} to harbour {i % 7}" for i in range(40)]
    alone = encoder.encode_queries(texts)
    with ThreadPoolExecutor(4) as threads:
        parts = list(threads.map(lambda i: encoder.encode_queries(texts[i : i + 5]), range(0, 40, 5)))
    np.testing.assert_allclose(np.concatenate(parts), alone, atol=2e-3)


@pytest.mark.model
def test_every_encoder_has_a_fingerprint_of_its_own() -> None:
    fingerprints = [_loaded(name).fingerprint for name in ENCODERS] + [HashingEncoder(64).fingerprint]
    assert len(set(fingerprints)) == len(fingerprints)


@pytest.mark.model
def test_the_multilingual_encoder_matches_across_languages() -> None:
    encoder = _loaded("e5")
    query = encoder.encode_queries(["明天巴黎会下雨吗？"])[0]
    weather, money = encoder.encode_documents(
        ["weather forecast: rain and temperature for a city", "exchange rates between currencies"]
    )
    assert float(query @ weather) > float(query @ money)
