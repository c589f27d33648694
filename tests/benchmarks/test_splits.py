"""Splits and their snapshots: on hand-made data what they hold, on the datasets how much of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.benchmarks import metatool, sealtools, snapshots, splits, stabletoolbench, toolbench_g3
from compendia.benchmarks.datasets import dataset
from compendia.benchmarks.load import load_split
from compendia.benchmarks.splits import CLIENTS, Split
from compendia.contract import CompendiaError, ErrorCode
from compendia.contract.document import check
from compendia.text.encode import HashingEncoder
from compendia.text.mask import mask


def stb_api(tool: str, name: str, category: str) -> dict[str, Any]:
    return {"category_name": category, "tool_name": tool, "api_name": name, "api_description": f"{name} it"}


def g3_api(tool: str, name: str, category: str) -> dict[str, Any]:
    return {"category": category, "tool_name": tool, "api_name": name, "description": f"{name} it"}


def called(number: int, text: str, tools: list[str], category: str) -> dict[str, Any]:
    return {
        "query_id": number,
        "query": text,
        "called_tools_std": tools,
        "called_categories": [category] * len(tools),
    }


CORPUS = stabletoolbench.pool(
    [
        (
            "G1_tool",
            [
                {
                    "query": "when is high water",
                    "relevant APIs": [["Tide Table", "Heights"]],
                    "api_list": [
                        stb_api("Tide Table", "Heights", "Sea"),
                        stb_api("Bakery", "Loaves", "Food"),
                    ],
                }
            ],
        )
    ]
)
G3 = toolbench_g3.join(
    [
        g3_api("tide table", "Currents", "Water"),
        g3_api("Kiln.io", "Fire", "Craft"),
        g3_api("Mint", "Coins", "Money"),
    ],
    [
        called(1, "tides at quay 12 please", ["tide_table", "kiln_io", "tide_table"], "Water"),
        called(2, "fire my vase", ["kiln_io"], "Craft"),
        called(3, "fire my vase", ["kiln_io"], "Water"),
    ],
)


def g3_split() -> Split:
    return splits.stb_g3(CORPUS, G3)


def test_tools_of_one_alias_are_one_tool_with_the_endpoints_of_both() -> None:
    split = g3_split()
    assert sorted(split.names.values()) == ["bakery", "kiln.io", "mint", "tide_table"]
    tide = next(tool for tool in split.documentation.tools if split.names[tool.id] == "tide_table")
    assert (tide.title, tide.category) == ("Tide Table", "Sea")
    assert {endpoint.title for endpoint in tide.endpoints} == {"Heights", "Currents"}


def test_a_request_is_one_success_of_each_tool_it_called() -> None:
    split = g3_split()
    assert Counter((item.query, split.names[item.tool]) for item in split.experience) == {
        ("tides at quay 12 please", "tide_table"): 1,
        ("tides at quay 12 please", "kiln.io"): 1,
        ("fire my vase", "kiln.io"): 2,
    }
    assert split.experienced() == {"tide_table", "kiln.io"}


def test_a_called_tool_without_documentation_is_refused() -> None:
    with pytest.raises(CompendiaError, match="mill"):
        toolbench_g3.join([g3_api("Mint", "Coins", "Money")], [called(1, "grind", ["mill"], "Food")])
    with pytest.raises(CompendiaError, match="alike"):
        toolbench_g3.join([g3_api("Cat Facts", "a", "x"), g3_api("Cat-Facts", "b", "x")], [])


def test_gold_or_used_tools_outside_of_the_catalogue_are_refused() -> None:
    split = g3_split()
    stray = splits.Item("client1", "grind", "rapidapi/food/mill")
    with pytest.raises(CompendiaError, match="mill") as caught:
        Split(split.name, split.documentation, (stray,), split.queries, split.names, split.holdings)
    assert caught.value.code is ErrorCode.INTERNAL


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 100), min_size=1))
def test_dealing_balances_within_the_heaviest_key(weights: dict[str, int]) -> None:
    dealt = splits.deal(weights, ("x", "y", "z"))
    assert set(dealt) == set(weights)
    loads = {client: sum(w for key, w in weights.items() if dealt[key] == client) for client in "xyz"}
    assert max(loads.values()) - min(loads.values()) <= max(weights.values())
    assert splits.deal(dict(reversed(weights.items())), ("x", "y", "z")) == dealt


def test_rows_are_deduplicated_in_file_order_without_case_and_outer_blanks() -> None:
    rows = [("Tides?", "a"), (" tides? ", "b"), ("tides ?", "b"), ("Bread", "b")]
    assert metatool.deduplicated(rows) == (("Tides?", "a"), ("tides ?", "b"), ("Bread", "b"))


@given(st.integers(0, 99), st.lists(st.sampled_from("abcdef"), min_size=30, max_size=200))
def test_a_held_out_tool_has_no_experience_and_no_row_is_used_twice(seed: int, tools: list[str]) -> None:
    rows = [(f"query {number}", tool) for number, tool in enumerate(tools)]
    made = metatool.hold_out(rows, seed, zero_tools=2)
    assert made == metatool.hold_out(rows, seed, zero_tools=2)
    assert len(made.zero_tools) == min(2, len(set(tools)))
    assert not {rows[place][1] for place in made.train} & set(made.zero_tools)
    assert len({*made.train, *made.test}) == len(made.train) + len(made.test)
    counts = Counter(tools)
    tested = Counter(rows[place][1] for place in made.test)
    trained = Counter(rows[place][1] for place in made.train)
    assert all(tested[tool] == min(20, counts[tool] // 5) for tool in counts)
    assert all(trained[tool] <= 25 for tool in counts)


def test_every_snapshot_holds_what_its_arm_may_know() -> None:
    split, encoder = g3_split(), HashingEncoder()
    docs = snapshots.docs_only(split, encoder.fingerprint)
    assert not docs.compendium.scenarios
    merged = snapshots.federated(split, encoder)
    assert {tool.id for tool in merged.compendium.tools} == set(split.names)
    texts = {scenario.text for scenario in merged.compendium.scenarios}
    assert mask("tides at quay 12 please") in texts
    assert "tides at quay 12 please" not in texts
    pooled = snapshots.centralized(split, encoder.fingerprint)
    check(pooled.compendium, computed_allowed=True)
    assert {(s.text, split.names[s.tool], s.count) for s in pooled.compendium.scenarios} == {
        ("tides at quay 12 please", "tide_table", 1),
        ("tides at quay 12 please", "kiln.io", 1),
        ("fire my vase", "kiln.io", 2),
    }
    assert sum(usage.successes for usage in pooled.compendium.usage) == len(split.experience)


def test_a_client_alone_knows_its_own_experience_over_all_or_over_its_own_tools() -> None:
    split, encoder = g3_split(), HashingEncoder()
    vase = {item.client for item in split.experience if item.query == "fire my vase"}
    assert len(vase) == 2  # of two categories, hence of two clients
    for client in vase:
        mine = [item for item in split.experience if item.client == client]
        whole = snapshots.local_only(split, client, encoder)
        own = snapshots.local_only(split, client, encoder, own_tools=True)
        assert {tool.id for tool in whole.compendium.tools} == set(split.names)
        assert {tool.id for tool in own.compendium.tools} == split.holdings[client]
        assert {item.tool for item in mine} <= split.holdings[client] < set(split.names)
        assert len(whole.compendium.scenarios) == len(own.compendium.scenarios) == len(mine)
    assert frozenset().union(*split.holdings.values()) == set(split.names)


@pytest.mark.data
def test_the_published_metatool_split_is_what_the_procedure_makes_of_its_seed(data_dir: Path) -> None:
    data = metatool.read_metatool(dataset("metatool", data_dir))
    assert len(data.rows) == 20_542
    assert metatool.hold_out(data.rows, 42) == data.published == data.split(42)
    assert len(data.published.zero_tools) == 40
    for seed in (123, 456):
        other = data.split(seed)
        assert len(other.zero_tools) == 40
        assert other.zero_tools != data.published.zero_tools


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "tools", "judged", "experience", "experienced", "groups"),
    [
        ("stb-docs", 814, 811, 0, 0, {"G1_tool": 158, "G3_instruction": 61}),
        ("stb-g3", 991, 991, 10_502, 235, {"G1_tool": 158, "G3_instruction": 61}),
        ("metatool", 199, 199, 3_960, 159, {"labelled": 2_257, "zero": 566}),
        ("sealtools", 4_076, 4_076, 1_804, 1_355, {"labelled": 869, "zero": 485}),
    ],
)
def test_splits_of_the_datasets_hold_what_was_counted(
    data_dir: Path,
    name: str,
    tools: int,
    judged: int,
    experience: int,
    experienced: int,
    groups: dict[str, int],
) -> None:
    read: dict[str, Path] = {}
    split = load_split(name, data_dir, record=read.__setitem__)
    assert read
    assert len(split.documentation.tools) == tools
    assert len(set(split.names.values())) == judged
    assert len(split.experience) == experience
    assert len(split.experienced()) == experienced
    counted = Counter(query.group for query in split.queries)
    assert groups.items() <= counted.items()
    if experience:
        shares = Counter(item.client for item in split.experience)
        assert set(shares) == set(CLIENTS)
        assert max(shares.values()) < 1.15 * min(shares.values())


def test_sealtools_requests_name_each_called_tool_once() -> None:
    call = {"api": "getTides", "parameters": {}}
    (made,) = sealtools.requests(
        [{"id": "dev-easy-0", "query": "tides", "calling": [call, call, {"api": "bake"}]}]
    )
    assert made.tools == ("gettides", "bake")
