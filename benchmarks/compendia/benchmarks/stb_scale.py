"""`stb-scale`: StableToolBench's queries when their 811 tools hide among up to 30,000.

Distractors are real tools as far as the datasets go (MCP servers of toolsdk, OpenAPI operations, Seal-Tools),
in a drawn order, then generated ones (`catalog`); the manifest counts both. A distractor that bears a tool's
name is left out. Others may be right answers that the gold labels do not know, as in any such catalogue.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compendia.client.importers import SourceKind, import_source
from compendia.client.importers.report import find_sources
from compendia.contract import Compendium, ToolMetadata
from compendia.contract.document import sorted_compendium

from . import catalog, sealtools
from .benchmark import Benchmark, Figures, Part, Session
from .datasets import alias, files_of, read_lines, readable, stratified
from .evaluation import Evaluation, K, ask, keep, open_encoder
from .metrics import ALL, quantile
from .snapshots import documentation_snapshot

if TYPE_CHECKING:
    from compendia.text.encode import Encoder, Vectors
    from compendia.text.spans import Text

SIZES = (3_000, 10_000, 30_000)
TOOLSDK = "tools.jsonl"
WARM_UP = 20


class FreshQueries:
    """Document vectors from one encoder, queries always through the model of another: for timing."""

    def __init__(self, documents: Encoder, queries: Encoder) -> None:
        self._documents, self._queries = documents, queries
        self.fingerprint = documents.fingerprint
        self.dimension = documents.dimension

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        return self._documents.encode_documents(texts)

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        return self._queries.encode_queries(texts)


def measured(size: int) -> Callable[[Session], Figures]:
    """The part that measures one size."""

    def measure(session: Session) -> Figures:
        from compendia.router.route import Router
        from compendia.text.encode import load_encoder

        split = session.split("stb-docs")
        queries = stratified(split.queries, session.options.limit)
        compendium, generated = grown(session, split.documentation, size)
        session.notes[f"tools/{size}"] = {
            "tools": len(compendium.tools),
            "from_datasets": len(compendium.tools) - generated,
            "generated": generated,
        }
        encoder = FreshQueries(open_encoder(session), load_encoder(session.options.encoder))
        router = Router(documentation_snapshot(compendium, encoder.fingerprint), encoder)
        names = {tool.id: split.names.get(tool.id, tool.id) for tool in compendium.tools}
        for query in queries[:WARM_UP]:
            router.route(query.text, K)
        rankings, milliseconds = [], []
        for query in session.track(queries, f"{size} tools"):
            started = time.perf_counter()
            router.route(query.text, K)
            milliseconds.append((time.perf_counter() - started) * 1e3)
            rankings.append(ask(router, names, query))
        found = keep(session, f"retrieval_{size}", Evaluation(queries, rankings))
        figures, intervals = found.figures(), found.intervals()
        told = {f"{metric}/{size}": f"{metric}/{ALL}" for metric in (f"recall@{K}", "acc@1")}
        session.intervals |= {key: intervals[of] for key, of in told.items()}
        return {key: figures[of] for key, of in told.items()} | {
            f"route_ms_p50/{size}": quantile(milliseconds, 0.5),
            f"route_ms_p95/{size}": quantile(milliseconds, 0.95),
        }

    return measure


def grown(session: Session, documentation: Compendium, size: int) -> tuple[Compendium, int]:
    """The catalogue with distractors up to `size` tools, and how many of them are generated."""
    tools = {tool.id: tool for tool in documentation.tools}
    named = {alias(tool.title) for tool in documentation.tools}
    definitions = {made.id: made for made in documentation.definitions}
    real = session.once("distractors", lambda: distractors(session))
    for source in real:
        definitions |= {made.id: made for made in source.definitions}
    others = [tool for source in real for tool in source.tools if alias(tool.title) not in named]
    random.Random(session.options.seed).shuffle(others)
    for tool in others:
        if len(tools) >= size:
            break
        tools.setdefault(tool.id, tool)
    generated = max(0, size - len(tools))
    tools |= {tool.id: tool for tool in made_up(session.options.seed, generated)}
    compendium = documentation.model_copy(
        update={"tools": tuple(tools.values()), "definitions": tuple(definitions.values()), "annex": ()}
    )
    return sorted_compendium(compendium), generated


def made_up(seed: int, count: int) -> Iterator[ToolMetadata]:
    """Generated tools, each another one."""
    return (catalog.tool(seed, number) for number in range(count))


def distractors(session: Session) -> list[Compendium]:
    """The tools of toolsdk, openapi and Seal-Tools, as imported. Raises DATA_MISSING."""
    folder = session.dataset("toolsdk")
    path = files_of("toolsdk", folder, (TOOLSDK,))[TOOLSDK]
    session.record_input(f"toolsdk/{TOOLSDK}", path)
    found = [_imported("functions", functions_of(path), "toolsdk")]
    folder = session.dataset("openapi")
    for kind, source in find_sources(folder.parent):
        if not source.is_relative_to(folder):
            continue
        session.record_input(f"openapi/{source.relative_to(folder).as_posix()}", source)
        found.append(_imported(kind, source.read_bytes(), source.stem))
    folder = session.dataset(sealtools.NAME)
    path = files_of(sealtools.NAME, folder, (sealtools.TOOLS,))[sealtools.TOOLS]
    session.record_input(f"{sealtools.NAME}/{sealtools.TOOLS}", path)
    found.append(_imported("functions", path.read_bytes(), sealtools.NAME))
    return found


def functions_of(path: Path) -> bytes:
    """toolsdk's rows as a list of functions, the package as their category."""
    with readable(path):
        rows = [
            {"name": row["tool_name"], "description": row["description"], "field": row["package"]}
            for row in read_lines(path)
        ]
    return json.dumps(rows, ensure_ascii=False).encode()


def _imported(kind: SourceKind, source: bytes, name: str) -> Compendium:
    return import_source(kind, source, org="benchmark", source_name=name).compendium


STB_SCALE = Benchmark(
    "stb-scale",
    "StableToolBench's queries among 3,000 to 30,000 tools: recall, and milliseconds a route",
    tuple(
        Part(
            (f"recall@{K}/{size}", f"acc@1/{size}", f"route_ms_p50/{size}", f"route_ms_p95/{size}"),
            measured(size),
        )
        for size in SIZES
    ),
)
