"""The reranker's weight comes from the snapshot's own requests, and typical requests stand on its cards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from yard import ENCODER, yard

from compendia.contract import ErrorCode, Snapshot, error
from compendia.router.metric import ENOUGH_TOOLS, unit
from compendia.router.render import Card
from compendia.router.rerank import DEFAULT_RERANK, RerankWeights, Scores
from compendia.router.rerank_fit import Decision, fit_rerank, fitted
from compendia.router.retrieve import Revision, load_revision
from compendia.router.route import Router
from compendia.router.typical import TYPICAL, typical


class Knowing:
    """A reranker that knows the right tools, and says so or the contrary; remembers what it was asked."""

    listwise = False
    fingerprint = "knowing-1"

    def __init__(self, snapshot: Snapshot, nats: float = 3.0) -> None:
        titles = {tool.id: tool.title for tool in snapshot.compendium.tools}
        self._right = {scenario.text: titles[scenario.tool] for scenario in snapshot.compendium.scenarios}
        self._nats = nats
        self.asked: list[str] = []
        self.cards: list[Card] = []

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        self.asked.append(query)
        self.cards += cards
        title = f"Tool: {self._right.get(query)}\n"
        return np.asarray([self._nats * (title in card.prefix) for card in cards], np.float64)


@pytest.fixture(scope="module")
def revision() -> Revision:
    return load_revision(yard(60), ENCODER)


def test_a_reranker_that_is_right_counts_and_one_that_misleads_does_not(revision: Revision) -> None:
    right = fit_rerank(revision, ENCODER, Knowing(revision.snapshot))
    wrong = fit_rerank(revision, ENCODER, Knowing(revision.snapshot, -3.0))
    assert right.model > DEFAULT_RERANK.model > 2 * wrong.model


def test_the_same_again(revision: Revision) -> None:
    first, second = (fit_rerank(revision, ENCODER, Knowing(revision.snapshot)) for _ in range(2))
    assert first == second


def test_cards_show_no_request_that_is_asked(revision: Revision) -> None:
    knowing = Knowing(revision.snapshot)
    fit_rerank(revision, ENCODER, knowing)
    shown = "\n".join(card.text + card.brief for card in knowing.cards)
    assert "Examples of requests:" in shown
    assert knowing.asked
    assert not [query for query in knowing.asked if query in shown]


def test_with_little_experience_the_default_weights_hold() -> None:
    few: Snapshot = yard(ENOUGH_TOOLS - 1)
    assert fit_rerank(load_revision(few, ENCODER), ENCODER, Knowing(few)) == DEFAULT_RERANK


def test_what_use_alone_adds_to_a_card_is_taken_off() -> None:
    def decision(new: bool) -> Decision:
        used = np.asarray([True, False])
        return Decision(np.zeros(2), np.asarray([3.0, -3.0]), used, ~used if new else used, new)

    made = fitted([decision(True)] * 20 + [decision(False)] * 20)
    assert made.used < -1.0
    assert made.model < DEFAULT_RERANK.model
    assert fitted([decision(False)] * 40) == DEFAULT_RERANK
    assert RerankWeights(0.25, -1.0).flat() == {"rerank/model": 0.25, "rerank/used": -1.0}


def test_typical_requests_are_central_and_unlike_each_other() -> None:
    draw = np.random.default_rng(3)
    centers = unit(np.eye(3, 16, dtype=np.float32) + 1.0)
    vectors = unit(np.repeat(centers, 10, axis=0) + draw.normal(0, 0.02, (30, 16)).astype(np.float32))
    chosen = typical(vectors, 3)
    assert sorted(int(place) // 10 for place in chosen) == [0, 1, 2]
    assert len(typical(vectors)) == TYPICAL
    assert typical(vectors[:2]).tolist() in ([0, 1], [1, 0])
    assert typical(vectors[:0]).tolist() == []


class Away(Knowing):
    """A reranker that cannot be reached."""

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        raise error(ErrorCode.RERANKER_FAILED, "no answer from the server", "reranker")


def test_a_reranker_that_is_away_while_it_is_fitted_counts_by_the_defaults(
    caplog: pytest.LogCaptureFixture,
) -> None:
    snapshot = yard(60)
    router = Router(snapshot, ENCODER, Away(snapshot))
    assert router.revision.rerank == DEFAULT_RERANK
    assert "default weights" in caplog.text


class Moody(Knowing):
    """A reranker whose every thirtieth answer is none."""

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        found = super().score(query, cards)
        if len(self.asked) % 30 == 0:
            raise error(ErrorCode.RERANKER_FAILED, "the answer names no label", "reranker")
        return found


def test_a_few_bad_answers_do_not_spoil_the_fit(revision: Revision) -> None:
    assert fit_rerank(revision, ENCODER, Moody(revision.snapshot)).model > DEFAULT_RERANK.model


def test_scores_of_any_size_give_a_weight() -> None:
    used, gold = np.asarray([True, False]), np.asarray([False, True])
    far = [Decision(np.zeros(2), np.asarray([9e3, -9e3]), used, gold, new) for new in (True, False)]
    assert fitted(far * 5).model < 0.01


def test_a_file_that_cannot_be_used_is_said_and_does_not_stop_queries(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "scores.sqlite"
    broken.write_bytes(b"no database at all, and long enough to be told from an empty one" * 40)
    snapshot = yard(60)
    router = Router(snapshot, ENCODER, Knowing(snapshot), scores=broken)
    assert router.revision.rerank == DEFAULT_RERANK
    assert str(broken) in caplog.text
    assert router.retrieve("book a barge").candidates


def test_a_router_that_starts_again_asks_nothing_again(tmp_path: Path) -> None:
    snapshot, scores = yard(60), tmp_path / "scores.sqlite"
    first, again = Knowing(snapshot), Knowing(snapshot)
    routers = [Router(snapshot, ENCODER, each, scores=scores) for each in (first, again)]
    kept = scores.read_bytes()
    assert routers[0].revision.rerank == routers[1].revision.rerank != DEFAULT_RERANK
    assert first.asked
    assert not again.asked
    # Of what people ask nothing is kept.
    routers[0].retrieve(snapshot.compendium.scenarios[0].text + " soon")
    assert scores.read_bytes() == kept


def test_plans_show_the_weights_that_ordered_them() -> None:
    snapshot = yard(60)
    router = Router(snapshot, ENCODER, Knowing(snapshot))
    asked = snapshot.compendium.scenarios[0].text
    (candidate, *_), weights = router.retrieve(asked).candidates, router.retrieve(asked).weights
    assert candidate.rerank_score == 3.0
    assert {name: weights[name] for name in router.revision.rerank.flat()} == router.revision.rerank.flat()
