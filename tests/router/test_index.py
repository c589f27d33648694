"""The hybrid index: distinct tools, canonical rows, and only changed texts encoded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from harbour import MONEY, PARCEL, SCENARIOS, TIDES, TOOLS, harbour

from compendia.contract import Scenario, Snapshot, ToolMetadata
from compendia.router.evidence import standardized
from compendia.router.index import HybridIndex, ask
from compendia.router.lexical import LexicalIndex
from compendia.router.query import encode_query
from compendia.router.retrieve import load_revision
from compendia.router.vectors import Vectors
from compendia.text.encode import HashingEncoder, load_encoder
from compendia.text.tokenize import tokenize

STANDARDIZED = ("description_meaning", "adapted_meaning", "description_words", "description_phrases")


class CountingEncoder(HashingEncoder):
    """Keeps every text it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: list[str] = []

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.documents += texts
        return super().encode_documents(texts)


def test_a_tool_is_found_once_whatever_speaks_for_it() -> None:
    many = [Scenario(tool=TIDES, text=f"When is high water in Visby on day {n}?") for n in range(300)]
    index = HybridIndex(harbour(scenarios=many), HashingEncoder())
    found = index.search(encode_query("When is high water in Visby?", HashingEncoder()))
    assert found.tools.tolist() == sorted(set(found.tools.tolist()))
    assert {index.tools[row].id for row in found.tools} >= {TIDES, PARCEL, MONEY}
    assert len(index) == len(TOOLS) + 300 + 2 + 1


def test_columns_of_the_shortlist_are_those_over_the_whole_catalog() -> None:
    encoder = HashingEncoder()
    others = [
        ToolMetadata(id=f"quay/berth/n{n}", title=f"Berth {n}", description="Money. " * (n % 40))
        for n in range(300)
    ]
    index = HybridIndex(harbour(tools=[*TOOLS, *others]), encoder)
    query = encode_query("convert money", encoder)
    found, asked = index.search(query), ask([query])
    everything = index.documented.columns(asked, index.documented.scores(asked))
    assert len(found.tools) < len(index.tools)
    for name, column in everything.items():
        np.testing.assert_allclose(column[:, found.tools], found.documentation[name], atol=1e-9)


def test_a_query_is_ranked_alike_alone_and_among_others() -> None:
    encoder = HashingEncoder()
    others = [ToolMetadata(id=f"quay/berth/n{n}", title=f"Berth {n}") for n in range(300)]
    revision = load_revision(harbour(tools=[*TOOLS, *others]), encoder)
    queries = [encode_query(text, encoder) for text in ("convert money", "When is high water in Visby?")]
    together = revision.rank_each(queries, 1_000)
    for found, query in zip(together, queries, strict=True):
        alone = revision.rank(query, 1_000)
        # Which of many equals comes first depends on the last bits of an inner product.
        assert len(found.candidates) == len(alone.candidates)
        assert found.candidates[0].tool == alone.candidates[0].tool
        scores = {c.tool: c.score for c in alone.candidates}
        shared = [c for c in found.candidates if c.tool in scores]
        assert len(shared) > len(scores) / 2
        np.testing.assert_allclose([c.score for c in shared], [scores[c.tool] for c in shared], atol=1e-3)
        assert found.best_evidence == pytest.approx(alone.best_evidence, abs=1e-4)
    assert {c.tool for c in together[0].candidates} != {c.tool for c in together[1].candidates}


def test_word_search_counts_as_far_as_a_tool_is_documented_in_detail() -> None:
    lines = ["Convert money." + " A quiet harbour keeps its boats." * count for count in (0, 4, 20)]
    tools = [ToolMetadata(id=f"quay/{n}/x", title="Desk", description=text) for n, text in enumerate(lines)]
    encoder = HashingEncoder()
    index = HybridIndex(harbour(tools=[*TOOLS, *tools]), encoder)
    said = index.search(encode_query("convert money", encoder)).documentation["description_words"][0]
    brief, short, full = (said[index.row[tool.id]] for tool in tools)
    assert brief == 0
    assert short != 0 != full
    raw = index.lexical.owner_scores(["convert", "money"])[[index.row[tool.id] for tool in tools]]
    assert raw[0] > raw[1] > raw[2] > 0


def test_word_search_counts_in_a_catalog_of_brief_tools_as_far_as_a_request_says_a_title() -> None:
    names = ["Tide Table", "Snow Depth", "Soil Report"]
    tools = [ToolMetadata(id=f"quay/{n}/x", title=name, description="Local") for n, name in enumerate(names)]
    encoder = HashingEncoder()
    index = HybridIndex(harbour(tools=tools, scenarios=(), precautions=()), encoder)
    asked = [encode_query(text, encoder) for text in ("tide table", "a table of snow", "local")]
    raw = standardized(np.stack([index.lexical.owner_scores(sorted(set(query.words))) for query in asked]))
    said = index.search(*asked).documentation
    for row, named in enumerate(said["title_words"].max(axis=1)):
        np.testing.assert_allclose(said["description_words"][row], raw[row] * named**2, atol=1e-6)
    assert said["title_words"].max(axis=1).round(2).tolist() == [1.0, 0.5, 0.0]


def test_several_queries_are_judged_over_the_same_tools() -> None:
    encoder = HashingEncoder()
    index = HybridIndex(harbour(), encoder)
    found = index.search(encode_query("ferry", encoder), encode_query("soil", encoder))
    assert found.similarity.shape == found.brought.shape == (2, len(found.tools))
    assert found.brought.any(axis=0).all()


def test_a_changed_tool_costs_one_text_and_a_reordered_snapshot_none() -> None:
    encoder = CountingEncoder()
    first = HybridIndex(harbour(), encoder)
    assert first.encoded == len(encoder.documents) == len(set(encoder.documents))
    encoder.documents.clear()
    same = harbour(tools=TOOLS[::-1], scenarios=SCENARIOS[::-1], round=2)
    assert HybridIndex(same, encoder, first).encoded == 0
    assert encoder.documents == []
    changed = [t.model_copy(update={"description": "Anew."}) if t.id == MONEY else t for t in TOOLS]
    second = HybridIndex(harbour(tools=changed), encoder, first)
    assert second.encoded == len(encoder.documents) == 1
    assert "Anew." in encoder.documents[0]
    np.testing.assert_allclose(second.documents.vectors()[1], first.documents.vectors()[1], atol=1e-6)


def test_an_unchanged_catalog_is_encoded_once_across_restarts(tmp_path) -> None:  # type: ignore[no-untyped-def]
    cold = load_encoder("hashing", tmp_path / "vectors.sqlite")
    HybridIndex(harbour(), cold)
    assert cold.encoded > 0  # type: ignore[attr-defined]
    warm = load_encoder("hashing", tmp_path / "vectors.sqlite")
    HybridIndex(harbour(), warm)
    assert warm.encoded == 0  # type: ignore[attr-defined]


def test_another_encoder_shares_no_vectors() -> None:
    first = HybridIndex(harbour(), HashingEncoder(384))
    second = HybridIndex(harbour(), HashingEncoder(128), first)
    assert second.encoded == first.encoded
    assert second.documents.vectors().shape[1] == 128


@pytest.mark.parametrize(
    "snapshot", [harbour(tools=(), conflicts=()), harbour(tools=TOOLS[:1], scenarios=())]
)
def test_nothing_or_one_tool_can_be_searched(snapshot: Snapshot) -> None:
    encoder = HashingEncoder()
    found = HybridIndex(snapshot, encoder).search(encode_query("anything", encoder))
    assert len(found.tools) == len(snapshot.compendium.tools)
    assert not any(found.documentation[name].any() for name in STANDARDIZED)


def test_words_are_found_in_any_script_and_unknown_ones_score_nothing() -> None:
    texts = ["潮汐表 查询", "расписание паромов", "ferry timetable", "money"]
    index = LexicalIndex([tokenize(text) for text in texts], [0, 1, 2, 2], 3)
    for owner, query in enumerate(["明天的潮汐", "паромов", "FERRY"]):
        assert int(index.owner_scores(tokenize(query)).argmax()) == owner
    assert not index.owner_scores(tokenize("xylophone")).any()
    assert not index.owner_scores([]).any()
    assert not LexicalIndex([[]], [0], 1).owner_scores(["a"]).any()
    assert index.texts_of_owner(tokenize("money"), 2).tolist()[0] == 0


def test_repeating_a_word_changes_nothing() -> None:
    index = LexicalIndex([["ferry", "timetable"], ["money"]], [0, 1], 2)
    once, often = index.owner_scores(["ferry"]), index.owner_scores(["ferry"] * 1000)
    np.testing.assert_array_equal(once, often)
