"""`bench tables`: everything it shows comes from the logs, and from no others than the figures' own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from compendia.benchmarks.benchmark import Benchmark, Options, Part, Session
from compendia.benchmarks.cli import register
from compendia.benchmarks.datasets import Query
from compendia.benchmarks.evaluation import Evaluation, keep
from compendia.benchmarks.logbook import read_runs
from compendia.benchmarks.plots import draw
from compendia.benchmarks.report import Table, curves, systems, tables
from compendia.benchmarks.run import run
from compendia.benchmarks.verdict import Bound
from compendia.contract import CompendiaError, ErrorCode

RANKINGS = {
    "ours": [["a"], ["b", "a"], ["a"], ["a"]],
    "plain": [["b"], ["b"], ["b", "a"], ["a"]],
    "local_client1": [["a"], ["b"], ["b"], ["b"]],
    "local_client2": [["a"], ["a"], ["a"], ["b"]],
}


def queries(*groups: str) -> list[Query]:
    return [Query(str(at), "text", group, frozenset({"a"})) for at, group in enumerate(groups)]


def answering(*groups: str, limited: bool = False) -> Benchmark:
    def measure(session: Session) -> dict[str, float]:
        for name, rankings in RANKINGS.items():
            shown = rankings[:2] if limited else rankings
            keep(session, name, Evaluation(queries(*groups)[: len(shown)], shown))
        with session.log("other") as log:
            log.write(step=1)
        session.intervals["speed/10"] = (1.0, 3.0)
        return {"speed/10": 2.0, "speed/20": 4.0, "acc@1/all@ours": 0.75}

    return Benchmark("toy", "answers", (Part(("speed/*", "acc@1/*"), measure),))


def toy(home: Path, *, options: Options | None = None, at: str = "2026-01-01T00:00:00Z") -> None:
    run(
        answering("g", "g", "h", "h"),
        options or Options(),
        {"speed/10": Bound(at_most=1)},
        home,
        clock=lambda: at,
    )


def test_answers_are_judged_again_and_clients_are_one_system(tmp_path: Path) -> None:
    toy(tmp_path)
    known = {system.name: system for system in systems(read_runs(tmp_path))}
    assert list(known) == ["ours", "local", "plain"]  # best first
    assert known["ours"].figure("acc@1/all") == 0.75
    assert known["ours"].figure("acc@1/g") == 0.5
    assert known["ours"].figure("recall@5/all") == 1
    assert known["local"].figure("acc@1/all") == (1 / 4 + 3 / 4) / 2
    assert known["local"].interval("acc@1/all") is None
    low, high = known["plain"].interval("acc@1/all") or (1, 0)
    assert low < 0.25 < high


def test_tables_hold_every_system_and_every_figure_with_its_verdict(tmp_path: Path) -> None:
    toy(tmp_path)
    answers, figures = tables(read_runs(tmp_path))
    assert answers.columns == ["acc@1", "g", "h", "all [95 %]", "recall@5"]
    assert [row[0] for row in answers.rows] == ["ours", "local", "plain"]
    assert answers.rows[0][1:3] == ["0.500", "1.000"]
    assert figures.rows[0] == ["speed/10", "2.000 [1.000, 3.000]", "<= 1", "FAIL"]
    assert len(figures.rows) == 3


def test_labelled_and_zero_label_queries_give_a_harmonic_mean(tmp_path: Path) -> None:
    run(answering("labelled", "labelled", "zero", "zero"), Options(), {}, tmp_path)
    (answers, _) = tables(read_runs(tmp_path))
    assert answers.columns == ["system", "labelled [95 %]", "zero [95 %]", "H", "recall@5"]
    ours = next(row for row in answers.rows if row[0] == "ours")
    assert ours[3] == f"{2 * 0.5 * 1 / 1.5:.3f}"


def test_a_changed_or_missing_log_is_an_error(tmp_path: Path) -> None:
    toy(tmp_path)
    log = tmp_path / "toy" / "default" / "ours.jsonl"
    text = log.read_text()
    log.write_text(text.replace('"found": ["b", "a"]', '"found": ["a", "b"]'))
    with pytest.raises(CompendiaError, match=r"ours\.jsonl is not the one") as caught:
        read_runs(tmp_path)
    assert caught.value.code is ErrorCode.SOURCE_UNREADABLE
    log.write_text(text)
    assert len(read_runs(tmp_path)) == 1
    log.unlink()
    with pytest.raises(CompendiaError, match="cannot read"):
        read_runs(tmp_path)


def test_a_document_that_is_none_is_an_error(tmp_path: Path) -> None:
    toy(tmp_path)
    (tmp_path / "toy" / "default" / "result.json").write_text('{"benchmark": "toy"}')
    with pytest.raises(CompendiaError, match="not the published shape"):
        read_runs(tmp_path)


def test_runs_with_other_options_keep_their_own_logs_in_order_of_time(tmp_path: Path) -> None:
    toy(tmp_path, at="2026-01-02T00:00:00Z")
    toy(tmp_path, options=Options(seeds=(7,)), at="2026-01-01T00:00:00Z")
    runs = read_runs(tmp_path)
    assert [found.directory.name for found in runs] == ["seed-7", "default"]
    assert {found.benchmark for found in runs} == {"toy"}


def test_samples_are_left_out_beside_a_full_run(tmp_path: Path) -> None:
    run(answering("g", "g", "h", "h", limited=True), Options(limit=2), {}, tmp_path)
    (sample,) = read_runs(tmp_path)
    assert sample.limit == 2
    assert "A sample of 2" in tables([sample])[1].note
    toy(tmp_path)
    (full,) = read_runs(tmp_path)
    assert full.limit is None
    assert "sample" not in tables([full])[1].note


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    table = Table("t", ["a|b"], [["x"]], "said")
    assert table.markdown() == "### t\n\n| a\\|b |\n| --- |\n| x |\n\nsaid\n"


def test_figures_that_differ_in_a_number_are_curves_in_its_order() -> None:
    figures = {"r/100@x": 1.0, "r/20@x": 2.0, "r/20@y": 3.0, "r/all@x": 4.0, "alone/5": 5.0}
    assert curves(figures) == {"r": {"x": {20.0: 2.0, 100.0: 1.0}, "y": {20.0: 3.0}}}


def test_plots_are_equal_files_for_equal_logs(tmp_path: Path) -> None:
    toy(tmp_path / "home")
    runs = read_runs(tmp_path / "home")
    first, second = draw(runs, tmp_path / "one"), draw(runs, tmp_path / "two")
    assert [path.name for path in first] == ["toy.svg", "toy_speed.svg"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        assert b"<svg" in one.read_bytes()


def test_the_command_writes_tables_and_plots(tmp_path: Path) -> None:
    toy(tmp_path / "home")
    app = typer.Typer()
    register(app)
    words = ["bench", "tables", "--home", str(tmp_path / "home"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*words, "--plots", "png"])
    assert done.exit_code == 0, done.output
    written = (tmp_path / "out" / "tables.md").read_text()
    assert "### toy: answers" in written
    assert written in done.stdout
    assert (tmp_path / "out" / "toy.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [table["title"] for table in document["tables"]] == ["toy: answers", "toy: figures"]
    assert all(Path(path).is_file() for path in document["files"])


def test_without_any_run_it_says_what_to_do(tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    failed = CliRunner().invoke(app, ["bench", "tables", "--home", str(tmp_path), "--out", str(tmp_path)])
    assert failed.exit_code == 1
    assert "compendia bench run NAME" in failed.stderr


def test_a_runs_folder_names_its_options() -> None:
    assert Options().slug() == "default"
    assert Options(llm="local", seeds=(42, 7), limit=5).slug() == "llm-local_seed-42_seed-7_limit-5"
    assert Options(only=("acc@1/*",)).slug() == "only-acc-1-"
    long = Options(arms=tuple(f"arm{number}" for number in range(40)))
    assert len(long.slug()) <= 80
    assert long.slug() != Options(arms=(*long.arms, "more")).slug()
