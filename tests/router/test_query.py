"""A query and its parts on their way through the router: masked and encoded as parts of one text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from compendia.router.query import READ_TWICE, encode_all, encode_query, join
from compendia.router.understand import clauses
from compendia.text.encode import HashingEncoder, Vectors
from compendia.text.spans import Span, Text, whole

QUERY = "When does ferry 12 leave? Book 'Room 3. No smoking' and then tell Ann"


class Recording(HashingEncoder):
    """The hashing encoder, which keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Text] = []

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        self.asked += texts
        return super().encode_queries(texts)


def test_parts_are_parts_of_the_query_and_of_the_masked_query() -> None:
    encoder = Recording()
    found = encode_all([QUERY, *clauses(QUERY)], encoder)
    assert [(query.text, query.masked) for query in found] == [
        (QUERY, "When does ferry <NUMBER> leave? Book <TEXT> and then tell Ann"),
        ("When does ferry 12 leave?", "When does ferry <NUMBER> leave?"),
        ("Book 'Room 3.", "Book <TEXT>"),
        ("No smoking'", "<TEXT>"),
        ("tell Ann", "tell Ann"),
    ]
    assert {text.text if isinstance(text, Span) else text for text in encoder.asked} == {
        QUERY,
        found[0].masked,
    }
    for query in found:
        np.testing.assert_array_equal(query.masked_vector, HashingEncoder().encode_queries([query.masked])[0])


@pytest.mark.parametrize("text", ["When does the ferry leave? Tell Ann about it", QUERY])
def test_what_masking_leaves_alone_is_encoded_once(text: str) -> None:
    encoder = Recording()
    found = encode_all([text, *clauses(text), text], encoder)
    assert len(encoder.asked) == len(set(encoder.asked))
    assert (len(encoder.asked) == len(found) - 1) is (found[0].masked == text)
    encoder.asked.clear()
    assert [query.masked for query in encode_all([text], encoder, unmasked=True)] == [text]
    assert encoder.asked == [text]


def test_a_long_query_is_read_once_as_asked_and_its_words_are_masked() -> None:
    encoder = Recording()
    text = f"{QUERY}. {'Then write to all who want to come along. ' * 3}"
    assert len(QUERY) <= READ_TWICE < len(text)
    found = encode_all([text, *clauses(text)], encoder)
    assert {whole(asked) for asked in encoder.asked} == {text}
    assert found[0].masked.startswith("When does ferry <NUMBER> leave? Book <TEXT> and then tell Ann")
    for query in found:
        np.testing.assert_array_equal(query.masked_vector, query.vector)


def test_joined_parts_speak_for_all_of_them() -> None:
    encoder = HashingEncoder()
    parts = [encode_query(text, encoder) for text in ("tide at 9", "ferry to Turku", "tide in Visby")]
    both = join(parts)
    assert (both.text, both.masked) == (
        "tide at 9; ferry to Turku; tide in Visby",
        "tide at <NUMBER>; ferry to Turku; tide in Visby",
    )
    assert both.tokens == encode_query(both.text, encoder).tokens
    for kind in ("vector", "masked_vector"):
        vector = getattr(both, kind)
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0)
        alone = [float(vector @ getattr(part, kind)) for part in parts]
        assert min(alone) > max(float(getattr(parts[1], kind) @ getattr(parts[at], kind)) for at in (0, 2))
    assert join(parts[:1]) is parts[0]
