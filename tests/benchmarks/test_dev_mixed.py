"""dev-mixed: who has experience in each mix, and that what is asked is held back and of no test."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.load import load_split
from compendia.benchmarks.mixed import G3, METATOOL, MIXES, Share, hidden_tools, mixed, served
from compendia.benchmarks.splits import CLIENTS, Item, Split
from compendia.contract import Compendium, ToolMetadata


def small(dataset: str, tools: int, requests: int) -> Split:
    """Tools of one dataset, the last of them never used; each request called two neighbours."""
    names = {f"{dataset}/all/tool{number}": f"{dataset} tool{number}" for number in range(tools)}
    ids = list(names)
    experience = tuple(
        Item(CLIENTS[number % 5], f"{dataset} request {number}", ids[(number + step) % (tools - 1)])
        for number in range(requests)
        for step in (0, 1)
    )
    tested = (Query("t/0", f"{dataset} test", "t", frozenset({f"{dataset} tool0"})),)
    documented = tuple(ToolMetadata(id=tool, title=name) for tool, name in names.items())
    holdings = dict.fromkeys(CLIENTS, frozenset(names))
    compendium = Compendium(org="benchmark", tools=documented)
    return Split(dataset, compendium, experience, tested, names, holdings)


SHORT, LONG = small(METATOOL, 9, 40), small(G3, 13, 60)
MADE = mixed(
    SHORT,
    LONG,
    {
        "one": {METATOOL: Share(1, 0, 7), G3: Share(0, 5, 0)},
        "both": {METATOOL: Share(1 / 4, 6, 3), G3: Share(1 / 4, 100, 100)},
    },
)


def counted(split: Split) -> Counter[str]:
    return Counter(query.group for query in split.queries)


def test_a_catalog_has_all_tools_of_one_dataset_and_the_called_ones_of_the_other() -> None:
    for split in MADE.values():
        assert set(split.names) == set(SHORT.names) | {item.tool for item in LONG.experience}
        assert {tool.id for tool in split.documentation.tools} == set(split.names)
        assert set(split.holdings.values()) == {frozenset(split.names)}


def test_a_dataset_that_is_hidden_whole_has_no_experience_and_all_its_requests_are_new() -> None:
    split = MADE["one"]
    assert {item.tool for item in split.experience} <= set(LONG.names)
    assert counted(split) == {"metatool-new": 7, "g3-used": 5}
    gold = served(SHORT)
    for query in split.queries[:7]:
        assert query.gold == gold[query.text]


def test_what_is_asked_is_no_experience_and_hidden_tools_have_none() -> None:
    for split in MADE.values():
        known = {item.query for item in split.experience}
        assert known
        for query in split.queries:
            assert query.text not in known
            if query.group.endswith("-new"):
                assert query.gold.isdisjoint(split.experienced())
    one = MADE["one"]
    used = [query for query in one.queries if query.group == "g3-used"]
    assert used
    assert all(query.gold <= one.experienced() for query in used)


def test_the_gold_of_a_new_request_is_its_hidden_tools_and_none_of_them_is_experience() -> None:
    split, gold = MADE["both"], served(LONG)
    hidden = hidden_tools(gold, 1 / 4)
    assert len(hidden) == 3
    touching = {request for request, tools in gold.items() if tools & hidden}
    new = {query.text: query.gold for query in split.queries if query.group == "g3-new"}
    assert new == {request: gold[request] & hidden for request in touching}
    assert any(found != gold[request] for request, found in new.items())
    # All other requests are asked, so that nothing of this dataset is left to be known.
    assert {item.tool for item in split.experience} <= set(SHORT.names)
    assert counted(split).items() >= {("metatool-used", 6), ("metatool-new", 3)}


def test_order_of_experience_does_not_matter_to_what_is_asked() -> None:
    turned = Split(
        METATOOL, SHORT.documentation, SHORT.experience[::-1], SHORT.queries, SHORT.names, SHORT.holdings
    )
    again = mixed(turned, LONG)
    for name, split in mixed(SHORT, LONG).items():
        assert split.queries == again[name].queries


@pytest.mark.data
def test_mixes_of_the_datasets_hold_what_was_counted_and_ask_no_test(data_dir: Path) -> None:
    short, long = load_split("metatool", data_dir), load_split("stb-g3", data_dir)
    tested = {query.text for split in (short, long) for query in split.queries}
    made = mixed(short, long)
    assert set(made) == set(MIXES)
    for name, split in made.items():
        assert len(split.documentation.tools) == 434
        wanted = {
            f"{dataset}-{kind}": size
            for dataset, share in MIXES[name].items()
            for kind, size in (("used", share.used), ("new", share.new))
            if size
        }
        assert counted(split) == wanted
        assert len({query.id for query in split.queries}) == len(split.queries)
        assert tested.isdisjoint(query.text for query in split.queries)
    experienced = {name: len(split.experienced()) for name, split in made.items()}
    assert experienced == {"g3": 234, "metatool": 119, "both": 278}


@pytest.mark.data
def test_a_limited_run_measures_a_mix_in_both_arms(data_dir: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    words = ["--data", str(data_dir), "--limit", "8", "--home", str(tmp_path), "--encoder", "hashing"]
    only = ["--only", "acc@1/metatool/*"]
    done = CliRunner().invoke(app, ["bench", "run", "dev-mixed", "--json", *words, *only])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    groups = ("metatool-used", "metatool-new", "g3-new", "all")
    arms = ("federated", "docs-only")
    assert set(document["figures"]) == {f"acc@1/metatool/{group}@{arm}" for group in groups for arm in arms}
    notes = document["manifest"]["notes"]
    assert {"split/metatool", "split/metatool/42", "split/stb-g3/42"} <= set(notes)
    assert notes["split/metatool/42"]["leaks"]["equal"] >= 1
