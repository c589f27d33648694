"""The fit from a snapshot's own scenarios: deterministic, and of use."""

from __future__ import annotations

import numpy as np
import pytest
from harbour import harbour
from yard import ENCODER, yard

from compendia.contract import Scenario, Snapshot
from compendia.router.calibrate import Background
from compendia.router.fit import ENOUGH_SCENARIOS, fit
from compendia.router.index import HybridIndex
from compendia.router.metric import ENOUGH_TOOLS, learn, plain, prototypes, unit
from compendia.router.retrieve import load_revision
from compendia.router.weights import default_weights
from compendia.router.worlds import Sample


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return yard(60)


def test_with_few_used_tools_the_default_weights_hold_cautiously_with_few_scenarios() -> None:
    many, few = HybridIndex(yard(ENOUGH_TOOLS - 1), ENCODER), HybridIndex(yard(4), ENCODER)
    assert len(many.scenarios) >= ENOUGH_SCENARIOS > len(few.scenarios)
    prior = default_weights(many.documented.words)
    assert fit(many, ENCODER, Background(ENCODER), prior) == prior
    assert fit(few, ENCODER, Background(ENCODER), prior) == prior.cautious()


def test_equal_snapshots_give_equal_weights_whatever_the_order(snapshot: Snapshot) -> None:
    turned = harbour(
        tools=snapshot.compendium.tools[::-1],
        scenarios=snapshot.compendium.scenarios[::-1],
        precautions=(),
        conflicts=(),
        usage=(),
    )
    first, second = load_revision(snapshot, ENCODER), load_revision(turned, ENCODER)
    assert first.weights == second.weights
    assert first.weights != default_weights(first.index.documented.words)


def test_documentation_keeps_its_weights_and_none_is_negative(snapshot: Snapshot) -> None:
    weights = load_revision(snapshot, ENCODER).weights
    prior = default_weights(load_revision(snapshot, ENCODER).index.documented.words)
    assert weights.documentation == prior.documentation
    assert all(value >= 0 for name, value in weights.flat().items() if name != "gate/bias")


@pytest.mark.parametrize("topics", [False, True])
def test_a_world_hides_whole_tools_and_never_shows_what_it_asks(snapshot: Snapshot, topics: bool) -> None:
    index = HybridIndex(snapshot, ENCODER)
    world = Sample(index, ENCODER, Background(ENCODER)).world(0, learned=True, topics=topics)
    assert not (world.hidden & world.shown).any()
    assert world.hidden.any()
    assert not world.used[world.gold[world.hidden].any(axis=0)].any()
    # What is asked is held back: no request finds itself among the scenarios.
    assert world.experience["nearest_scenario"].max() < 0.9999
    assert not world.experience["nearest_scenario"][:, ~world.used].any()


def test_worlds_are_the_same_when_made_again(snapshot: Snapshot) -> None:
    index, background = HybridIndex(snapshot, ENCODER), Background(ENCODER)
    first, second = (Sample(index, ENCODER, background).world(3, learned=False) for _ in range(2))
    for name, column in first.experience.items():
        np.testing.assert_array_equal(column, second.experience[name])


def test_the_metric_forgets_what_requests_for_one_tool_differ_in() -> None:
    draw = np.random.default_rng(1)
    owners = np.repeat(np.arange(20), 30)
    topics = draw.normal(size=(20, 8))
    noise = np.zeros((600, 8))
    noise[:, 0] = draw.normal(size=600) * 4  # one direction in which every tool's requests scatter
    vectors = unit((topics[owners] + noise).astype(np.float32))
    found = {}
    for name, metric in (("plain", plain(8)), ("learned", learn(vectors, owners, 20))):
        kinds = prototypes(metric.project(vectors), owners, 20)
        found[name] = float((np.argmax(metric.project(vectors) @ kinds.T, axis=1) == owners).mean())
    assert found["learned"] > found["plain"] + 0.1


def test_prototypes_of_unused_tools_are_zero() -> None:
    vectors = unit(np.ones((2, 3), np.float32))
    made = prototypes(vectors, np.asarray([1, 1]), 3)
    assert made[1] @ vectors[0] == pytest.approx(1)
    assert not made[[0, 2]].any()


def _shared(*, own: bool) -> Snapshot:
    """Every used tool has served the same requests, and some of its own if wanted."""
    made = yard(ENOUGH_TOOLS + 8)
    tools = sorted({scenario.tool for scenario in made.compendium.scenarios})
    common = [Scenario(tool=tool, text=f"the usual, number {n}") for tool in tools for n in range(20)]
    some = made.compendium.scenarios if own else ()
    return harbour(
        tools=made.compendium.tools, scenarios=[*some, *common], precautions=(), conflicts=(), usage=()
    )


def test_where_a_topic_is_hidden_nothing_is_known_of_its_requests() -> None:
    index = HybridIndex(_shared(own=True), ENCODER)
    sample = Sample(index, ENCODER, Background(ENCODER))
    topics, tools = (sample.world(0, learned=False, topics=topics) for topics in (True, False))
    common = {row for row, entry in enumerate(index.scenarios.entries) if entry.text.startswith("the usual")}
    assert not common & set(topics.rows.tolist())
    assert common & set(tools.rows.tolist())


def test_tools_that_share_all_their_requests_can_be_loaded() -> None:
    revision = load_revision(_shared(own=False), ENCODER)
    assert revision.weights == default_weights(revision.index.documented.words)
