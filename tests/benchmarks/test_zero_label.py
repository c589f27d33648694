"""metatool-zero and sealtools-zero: their figures against slow twins, and end to end on a few queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks import arms
from compendia.benchmarks.benchmark import Options, Session
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.evaluation import Evaluation, QueryMemory, remembering
from compendia.benchmarks.systems import PLAIN_ARMS, chosen
from compendia.benchmarks.zero_label import METATOOL_ZERO, asked, llm_sample, told
from compendia.contract import CompendiaError, ErrorCode
from compendia.text.encode import HashingEncoder

MATERIAL = arms.Material(
    ("tides", "bakery", "kiln", "mill"),
    ("height of the sea", "bread by oven", "fire for clay", "grinds grain"),
    (
        ("when may my boat leave the quay", 0),
        ("two loaves for tomorrow", 1),
        ("harden this vase", 2),
        ("how deep is the quay", 0),
        ("loaves with raisins", 1),
        ("glaze the vase", 2),
    ),
)


def queries(labelled: int, zero: int) -> tuple[Query, ...]:
    return tuple(
        Query(f"{group}/{at}", f"{group} {at}", group, frozenset({"a"}))
        for group, count in (("labelled", labelled), ("zero", zero))
        for at in range(count)
    )


def test_h_is_the_harmonic_mean_of_the_two_groups(tmp_path: Path) -> None:
    session = Session(Options(), tmp_path)
    rankings = [["a"], ["b", "a"], ["b"], ["a"], ["c"]]
    figures = told(session, Evaluation(queries(3, 2), rankings), "@x")
    assert figures == pytest.approx(
        {"labelled@x": 1 / 3, "zero@x": 1 / 2, "H@x": 2 / (3 + 2), "recall@5@x": 3 / 5}
    )
    assert set(session.intervals) == set(figures)
    for key, (low, high) in session.intervals.items():
        assert low <= figures[key] <= high


def test_a_sample_keeps_both_groups_and_their_shares() -> None:
    every = queries(80, 20)
    some = asked(every, 10)
    assert [query.group for query in some].count("zero") == 2
    assert len(some) == 10
    assert asked(every, None) == every
    assert {query.group for query in asked(every, 2)} == {"labelled", "zero"}


def test_the_llm_is_asked_a_drawn_share_of_the_labelled_and_all_others() -> None:
    every = queries(50, 7)
    drawn = llm_sample(every, seed=42, wanted=20)
    assert [query.group for query in drawn].count("labelled") == 20
    assert [query for query in drawn if query.group == "zero"] == list(every[50:])
    assert drawn == llm_sample(every, seed=42, wanted=20) != llm_sample(every, seed=43, wanted=20)
    assert list(drawn) == [query for query in every if query in drawn]
    assert llm_sample(every, seed=42, wanted=300) == every


def test_the_papers_router_takes_the_better_of_description_and_nearest_request() -> None:
    encoder, texts = HashingEncoder(), ["how deep is the quay", "height of the sea", "grinds grain"]
    scores = arms.paper(MATERIAL, texts, encoder)
    for row, text in enumerate(texts):
        for place, document in enumerate(MATERIAL.documents):
            own = [document, *(said for said, at in MATERIAL.experience if at == place)]
            vectors = encoder.encode_documents(own)
            slow = max(float(vector @ encoder.encode_queries([text])[0]) for vector in vectors)
            assert scores[row, place] == pytest.approx(slow, abs=1e-6)
    assert scores.argmax(axis=1).tolist() == [0, 0, 3]


def test_a_classifier_never_names_a_tool_without_experience_before_one_with() -> None:
    found = arms.rank_all("svm", MATERIAL, ["grinds grain", "glaze a vase", "the quay"], HashingEncoder(), 4)
    assert [ranking[-1] for ranking in found] == ["mill"] * 3
    assert [ranking[0] for ranking in found[1:]] == ["kiln", "tides"]
    with pytest.raises(CompendiaError) as caught:
        arms.svm(arms.Material(("a",), ("a",)), ["a"])
    assert caught.value.code is ErrorCode.USAGE


def test_arms_are_chosen_by_name_or_all_and_unknown_ones_are_named() -> None:
    assert chosen(("svm", "paper", "svm"), PLAIN_ARMS) == ("svm", "paper")
    assert chosen(("all",), PLAIN_ARMS) == PLAIN_ARMS
    with pytest.raises(CompendiaError, match="oracle") as caught:
        chosen(("oracle",), PLAIN_ARMS)
    assert caught.value.code is ErrorCode.USAGE


def test_queries_are_encoded_once_for_many_routers() -> None:
    class Counting(HashingEncoder):
        asked = 0

        def encode_queries(self, texts):
            self.asked += len(texts)
            return super().encode_queries(texts)

    encoder = Counting()
    memory = remembering(encoder, queries(3, 0))
    assert isinstance(memory, QueryMemory)
    before = encoder.asked
    again = memory.encode_queries(["labelled 2", "labelled 0", "labelled 2"])
    assert encoder.asked == before
    assert (again == encoder.encode_queries(["labelled 2", "labelled 0", "labelled 2"])).all()
    assert memory.encode_queries([]).shape == (0, encoder.dimension)


def test_seeds_choose_the_parts() -> None:
    def first_keys(seeds: tuple[int, ...]) -> list[str]:
        return [part.keys[0] for part in METATOOL_ZERO.parts_for(Options(seeds=seeds))]

    assert first_keys((42,)) == ["labelled"]
    assert first_keys((123,)) == ["labelled/[0-9]*"]
    assert first_keys((42, 123, 456)) == ["labelled", "labelled/[0-9]*"]


@pytest.mark.data
def test_a_limited_run_answers_in_every_figure(data_dir: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    words = [
        "--limit",
        "12",
        "--encoder",
        "hashing",
        "--json",
        "--arm",
        "svm",
        "--arm",
        "docs-only",
        "--seed",
        "42",
        "--seed",
        "123",
    ]
    done = CliRunner().invoke(
        app,
        ["bench", "run", "metatool-zero", "--data", str(data_dir), "--home", str(tmp_path), *words],
    )
    assert done.exit_code in (0, 1), done.output
    document = json.loads(done.stdout)
    names = {"labelled", "zero", "H", "recall@5"}
    marks = {f"{seed}{arm}" for seed in ("", "/123") for arm in ("", "@svm", "@docs-only")}
    assert set(document["figures"]) == {name + mark for name in names for mark in marks}
    assert document["figures"]["zero@svm"] == document["figures"]["H@svm"] == 0
    assert document["manifest"]["notes"]["split/metatool/42"]["leaks"]["equal"] >= 1
    assert set(document["manifest"]["intervals"]) == set(document["figures"])
    (written,) = tmp_path.glob("metatool-zero/*/result.json")
    assert json.loads(written.read_text()) == document
    logged = {path.name for path in written.parent.glob("*.jsonl")}
    assert logged == set(document["manifest"]["logs"])
