"""stb-docs end to end on a few of the real queries, and its baselines against what is known of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from typer.testing import CliRunner

from compendia.benchmarks import arms
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.evaluation import Evaluation
from compendia.benchmarks.snapshots import docs_only
from compendia.benchmarks.splits import stb_docs
from compendia.benchmarks.stabletoolbench import pool
from compendia.contract import CompendiaError
from compendia.contract.document import check

GROUPS = ("G1_category", "G1_instruction", "G1_tool", "G2_category", "G2_instruction", "G3_instruction")


def api(tool: str, name: str, text: str, category: str = "Data") -> dict[str, object]:
    return {
        "category_name": category,
        "tool_name": tool,
        "api_name": name,
        "api_description": text,
        "method": "GET",
        "required_parameters": [],
        "optional_parameters": [],
    }


ENTRY = {
    "query": "which tides are high",
    "relevant APIs": [["Tide Table", "Heights"]],
    "api_list": [api("Tide Table", "Heights", "height of tides"), api("Bakery", "Loaves", "bread by oven")],
}


def bench(*words: str) -> dict[str, object]:
    app = typer.Typer()
    register(app)
    done = CliRunner().invoke(app, ["bench", "run", "stb-docs", "--json", *words])
    assert done.exit_code in (0, 1), done.output
    document: dict[str, object] = json.loads(done.stdout)
    return document


@pytest.mark.data
@pytest.mark.parametrize(
    "encoder", ["hashing", pytest.param("minilm", marks=[pytest.mark.model, pytest.mark.full])]
)
def test_a_limited_run_on_the_real_data_answers_in_seven_columns(
    data_dir: Path, tmp_path: Path, encoder: str
) -> None:
    document = bench("--data", str(data_dir), "--limit", "24", "--home", str(tmp_path), "--encoder", encoder)
    figures, manifest = document["figures"], document["manifest"]
    assert isinstance(figures, dict)
    assert isinstance(manifest, dict)
    for metric in ("acc@1", "recall@5"):
        assert {key for key in figures if key.startswith(metric)} == {
            f"{metric}/{g}" for g in (*GROUPS, "all")
        }
        assert all(0 <= value <= 1 for key, value in figures.items() if key.startswith(metric))
    assert figures["recall@5/all"] > 0.6
    assert manifest["notes"]["tools"] == 811
    assert len(manifest["inputs"]) == 6
    (log,) = tmp_path.glob("stb-docs/*/retrieval.jsonl")
    lines = log.read_text().splitlines()
    assert len(lines) == 24
    first = [json.loads(line) for line in lines]
    share = sum(row["found"][0] in row["gold"] for row in first) / 24
    assert figures["acc@1/all"] == pytest.approx(share)


def test_gold_tools_are_in_the_imported_catalogue_under_their_alias() -> None:
    split = stb_docs(pool([("G1_tool", [ENTRY])]))
    check(split.documentation)
    snapshot = docs_only(split, "hashing")
    assert snapshot.compendium.org == ""
    assert [member.org for member in snapshot.members] == ["benchmark"]
    with pytest.raises(CompendiaError, match="absent"):
        stb_docs(pool([("G1_tool", [ENTRY | {"relevant APIs": [["Absent", "X"]]}])]))


def test_an_evaluation_counts_any_gold_tool() -> None:
    queries = [
        Query("g/0", "q", "g", frozenset({"a", "b"})),
        Query("g/1", "q", "g", frozenset({"z"})),
        Query("h/0", "q", "h", frozenset({"e"})),
    ]
    figures = Evaluation(queries, [["b", "c"], ["a", "z"], ["a", "b", "c", "d"]]).figures()
    assert figures == pytest.approx(
        {
            "acc@1/g": 0.5,
            "acc@1/h": 0.0,
            "acc@1/all": 1 / 3,
            "recall@5/g": 1.0,
            "recall@5/h": 0.0,
            "recall@5/all": 2 / 3,
        }
    )


class LetterEncoder:
    """Counts of the letters a to z: enough meaning for a test."""

    def encode_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    encode_documents = encode_queries


@pytest.mark.parametrize("name", arms.DOCUMENTATION_ARMS)
def test_every_arm_finds_the_tool_whose_words_are_in_the_query(name: str) -> None:
    known = arms.material(stb_docs(pool([("G1_tool", [ENTRY])])))
    assert arms.rank_all(name, known, ["height of tides", "bread from an oven"], LetterEncoder(), 2) == [
        ["tide_table", "bakery"],
        ["bakery", "tide_table"],
    ]


scores = arrays(np.float64, (3, 6), elements=st.integers(-20, 20).map(float))


@given(scores)
def test_ranks_are_places_in_a_stable_sort(found: NDArray[np.float64]) -> None:
    for row, ranks in zip(found, arms.ranks(found), strict=True):
        slow = sorted(range(len(row)), key=lambda at: (-row[at], at))
        assert [slow.index(at) + 1 for at in range(len(row))] == ranks.tolist()


@given(scores, scores)
def test_fusion_is_the_plain_sum_of_reciprocal_ranks(
    one: NDArray[np.float64], two: NDArray[np.float64]
) -> None:
    fused = arms.reciprocal_rank_fusion(one, two)
    for query in range(3):
        for tool in range(6):
            slow = sum(1 / (60 + place(part[query], tool)) for part in (one, two))
            assert fused[query, tool] == pytest.approx(slow)


def place(row: NDArray[np.float64], tool: int) -> int:
    """From 1; of equal scores the earlier tool comes first."""
    return 1 + sum(row[t] > row[tool] or (row[t] == row[tool] and t < tool) for t in range(len(row)))


def test_a_query_without_a_known_word_scores_no_tool() -> None:
    assert arms.bm25(["height of tides"], ["the of and"], arms.words).tolist() == [[0.0]]
