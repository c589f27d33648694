"""A view that is made again merges and encodes only what somebody said something new about."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from leaves import ORGS, TEXTS, TOOLS, leaf, rounds_of_leaves, tool

from compendia.aggregator.executor import SerialExecutor
from compendia.aggregator.memo import ViewCache
from compendia.aggregator.view import POLICIES, Contribution, Policy, view
from compendia.contract import Scenario, Snapshot
from compendia.contract.document import snapshot_dumps
from compendia.text.encode import HashingEncoder, Vectors


class CountingEncoder(HashingEncoder):
    """The hashing encoder, and how many texts it was given."""

    encoded = 0

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        return super().encode_documents(texts)


def made(
    leaves: Sequence[Contribution],
    cache: ViewCache | None,
    *,
    encoder: HashingEncoder | None = None,
    policy: Policy = "conflict_log",
    grants: dict[str, str] | None = None,
) -> Snapshot:
    return view(
        leaves,
        grants=grants or {},
        encoder=encoder or HashingEncoder(64),
        executor=SerialExecutor(),
        policy=policy,
        round=2,
        cache=cache,
    )


def about(id: str, *texts: str) -> dict[str, object]:
    return {"tools": (tool(id),), "scenarios": tuple(Scenario(tool=id, text=text) for text in texts)}


@settings(max_examples=30, deadline=None)
@given(st.lists(rounds_of_leaves(), min_size=2, max_size=3), st.sampled_from(POLICIES))
def test_a_cache_never_changes_the_bytes(sets: list[Sequence[Contribution]], policy: Policy) -> None:
    cache = ViewCache(capacity=4)
    for leaves in (*sets, sets[0]):
        assert snapshot_dumps(made(leaves, cache, policy=policy)) == snapshot_dumps(
            made(leaves, None, policy=policy)
        )


def test_only_tools_with_news_are_merged_and_encoded() -> None:
    cache, encoder = ViewCache(), CountingEncoder(64)
    first, second, third = TOOLS
    before = [leaf("ada", **about(first, *TEXTS[:2])), leaf("bee", **about(second, *TEXTS[:3]))]
    made(before, cache, encoder=encoder)
    assert (cache.merged, encoder.encoded) == (2, 3)
    made(before, cache, encoder=encoder)
    assert (cache.merged, encoder.encoded) == (2, 3)
    made([*before, leaf("cyd", **about(third, *TEXTS[3:]))], cache, encoder=encoder)
    assert (cache.merged, encoder.encoded) == (3, 5)


def test_a_text_that_is_alone_in_its_tool_is_not_encoded() -> None:
    encoder = CountingEncoder(64)
    made([leaf(org, **about(TOOLS[0], TEXTS[0])) for org in ORGS], None, encoder=encoder)
    assert encoder.encoded == 0


def test_a_grant_an_encoder_and_a_policy_are_part_of_what_is_remembered() -> None:
    cache = ViewCache()
    leaves = [
        leaf("ada", tools=(tool(TOOLS[0], "Mine."),)),
        *(leaf(org, tools=(tool(TOOLS[0], "Theirs."),)) for org in ("bee", "cyd")),
    ]
    assert made(leaves, cache).compendium.tools[0].description == "Theirs."
    assert made(leaves, cache, grants={"acme": "ada"}).compendium.tools[0].description == "Mine."
    made(leaves, cache, encoder=HashingEncoder(32))
    made(leaves, cache, policy="untyped")
    assert cache.merged == 4


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    cache = ViewCache(capacity=2)
    one, two, three = ([leaf("ada", **about(id, TEXTS[0]))] for id in TOOLS)
    for leaves in (one, two, one, three):  # `two` goes
        made(leaves, cache)
    assert cache.merged == 3
    made(one, cache)
    assert cache.merged == 3
    made(two, cache)
    assert cache.merged == 4
