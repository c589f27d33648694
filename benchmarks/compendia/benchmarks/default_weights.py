"""`default-weights`: the ranker's committed weights, made again from public training data.

Two catalogs with experience, neither of which shares a query or a gold tool with a test: MetaTool's train
rows, whose tools are described in a line, and ToolBench G3 without the tools that StableToolBench has, whose
tools are described at length. On each the ranker's own fit runs as on any snapshot, with nothing to lean on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .benchmark import Benchmark, Figures, Part, Session
from .load import load_split
from .snapshots import federated, restricted
from .splits import Split

SPLITS = {"metatool": "metatool", "toolbench_g3": "stb-g3"}


def training_split(name: str, data: Path | None, record: Any) -> Split:
    """The split without its test: of `stb-g3`, G3's own tools and the requests that call no other."""
    split = load_split(SPLITS[name], data, record=record)
    if name == "metatool":
        return replace(split, queries=())
    tested = frozenset(load_split("stb-docs", data).names.values())
    kept = {tool for tool, judged in split.names.items() if judged not in tested}
    texts = {item.query for item in split.experience if item.tool not in kept}
    return replace(
        split,
        documentation=restricted(split.documentation, kept),
        experience=tuple(item for item in split.experience if item.query not in texts),
        queries=(),
        names={tool: judged for tool, judged in split.names.items() if tool in kept},
        holdings={client: tools & kept for client, tools in split.holdings.items()},
    )


def fitted_weights(session: Session) -> dict[str, dict[str, Any]]:
    """Per catalog, the median words of a tool's documentation and the flat weights."""
    from compendia.router.fit import fit, fit_documentation
    from compendia.router.retrieve import load_index
    from compendia.router.weights import no_weights
    from compendia.text.encode import load_encoder

    encoder = load_encoder(session.options.encoder, session.directory / "embeddings.sqlite")
    made: dict[str, dict[str, Any]] = {}
    for name in session.track(list(SPLITS), "default-weights"):
        split = training_split(name, session.options.data, session.record_input)
        index, background = load_index(federated(split, encoder), encoder)
        spoken = fit_documentation(index, encoder, background, no_weights())
        weights = fit(index, encoder, background, spoken, learned=False)
        made[name] = {"words": index.documented.words, "weights": weights.flat()}
    return made


def committed_weights() -> Mapping[str, Any]:
    """What the router ships."""
    from importlib.resources import files

    text = files("compendia.router").joinpath("weights.json").read_text(encoding="utf-8")
    tree: Mapping[str, Any] = json.loads(text)
    return tree


def compared(session: Session) -> Figures:
    """Each weight made now, and the largest distance to the committed ones. The whole, in the form of the
    router's `weights.json`, goes to `weights.json` in the run's folder."""
    made = session.once("weights", lambda: fitted_weights(session))
    session.directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(made, indent=1, sort_keys=True) + "\n"
    (session.directory / "weights.json").write_text(text, encoding="utf-8")
    committed = committed_weights()
    figures = {
        f"{name}/{key}": value for name, entry in made.items() for key, value in entry["weights"].items()
    }
    distances = [
        abs(value - committed[name]["weights"].get(key, float("inf")))
        for name, entry in made.items()
        for key, value in entry["weights"].items()
    ]
    return figures | {"distance": max(distances)}


DEFAULT_WEIGHTS = Benchmark(
    "default-weights",
    "the ranker's default weights from public training data, and their distance to the committed ones",
    (Part(("distance", "metatool/*", "toolbench_g3/*"), compared),),
)
