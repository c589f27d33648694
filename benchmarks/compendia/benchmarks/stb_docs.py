"""`stb-docs`: which tool StableToolBench's queries need, from documentation alone.

The 765 solvable test queries (Guo et al., arXiv:2403.07714) over the tools of their own `api_list`s, imported
by the real importer and found by the real router. No experience is in the snapshot. Tools whose names are
equal after lower-casing and joining words with `_` count as one; on a query with several gold tools any of
them counts (see `metrics`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compendia.contract import Compendium, ErrorCode, Member, Snapshot, error, seal
from compendia.contract.strict_json import digest

from .benchmark import Benchmark, Figures, Options, Part, Session
from .datasets import (
    Query,
    ToolCorpus,
    alias,
    read_stabletoolbench,
    stabletoolbench_files,
    stratified,
)
from .metrics import by_group, distinct, hit_at_k, mean, median, paired_bootstrap

if TYPE_CHECKING:
    from pathlib import Path

    from compendia.router.route import Router
    from compendia.text.encode import Encoder

K = 5
DEPTH = 20  # candidates asked for, so that K distinct names are left after aliases collapse
RESAMPLES = 10_000


def documentation_snapshot(compendium: Compendium, encoder: str) -> Snapshot:
    """One contribution as a snapshot of its own, as a merge of a single member gives it."""
    member = Member(org=compendium.org, round=1, digest=digest(compendium.model_dump(mode="json")))
    return seal(
        parent="",
        round=1,
        policy="conflict_log",
        encoder=encoder,
        members=(member,),
        compendium=compendium.model_copy(update={"org": ""}),
        conflicts=(),
    )


def imported_tools(corpus: ToolCorpus) -> Compendium:
    """The corpus through the importer. Raises INTERNAL if a gold tool got lost on the way."""
    from compendia.client.importers import import_source

    compendium = import_source(
        "toolbench", corpus.toolbench_source(), org="benchmark", source_name="stabletoolbench"
    ).compendium
    names = {alias(tool.title) for tool in compendium.tools}
    lost = sorted({name for query in corpus.queries for name in query.gold} - names)
    if lost:
        raise error(ErrorCode.INTERNAL, f"gold tools are not in the catalogue: {', '.join(lost)}", "tools")
    return compendium


@dataclass(frozen=True)
class Evaluation:
    """What one system answered: the first K distinct tool names per query."""

    queries: Sequence[Query]
    rankings: Sequence[Sequence[str]]

    def first(self) -> list[bool]:
        """Per query, whether the first tool is gold."""
        return [hit_at_k(found, query.gold, 1) for query, found in self._pairs()]

    def figures(self) -> dict[str, float]:
        """acc@1 and recall@5 in all columns."""
        groups = [query.group for query in self.queries]
        within = [hit_at_k(found, query.gold, K) for query, found in self._pairs()]
        return by_group("acc@1", self.first(), groups) | by_group(f"recall@{K}", within, groups)

    def _pairs(self) -> Sequence[tuple[Query, Sequence[str]]]:
        return list(zip(self.queries, self.rankings, strict=True))


@dataclass(frozen=True)
class Setting:
    """What is asked, of what: the queries, the imported tools as a snapshot, and each id's judged name."""

    corpus: ToolCorpus
    queries: tuple[Query, ...]
    encoder: Encoder
    snapshot: Snapshot
    names: dict[str, str]


def read_setting(session: Session, cache: Path | None = None) -> Setting:
    """Read the dataset, noting its files as inputs, and import it. `cache` keeps document vectors."""
    folder = session.dataset("stabletoolbench")
    for path in stabletoolbench_files(folder):
        session.record_input(f"stabletoolbench/{path.name}", path)
    corpus = read_stabletoolbench(folder)
    from compendia.text.encode import load_encoder

    encoder = load_encoder(session.options.encoder, cache)
    snapshot = documentation_snapshot(imported_tools(corpus), encoder.fingerprint)
    names = {tool.id: alias(tool.title) for tool in snapshot.compendium.tools}
    queries = stratified(corpus.queries, session.options.limit)
    session.notes |= {
        "queries": len(queries),
        "tools": len(set(names.values())),
        "encoder": encoder.fingerprint,
    }
    return Setting(corpus, queries, encoder, snapshot, names)


def ask(router: Router, setting: Setting, query: Query, depth: int = DEPTH) -> list[str]:
    """The first K distinct names that the router retrieves among `depth` tools."""
    ranking = router.retrieve(query.text, depth)
    return distinct([setting.names[candidate.tool] for candidate in ranking.candidates], K)


def retrieval(session: Session) -> Figures:
    """The router without an LLM: accuracy per column, median milliseconds per query, seconds to index.

    Both times include encoding; the model is loaded before, and no cache is used.
    """
    setting = read_setting(session)
    from compendia.router.route import Router

    setting.encoder.encode_queries(["warm up"])
    started = time.perf_counter()
    router = Router(setting.snapshot, setting.encoder)
    index_s = time.perf_counter() - started
    rankings, milliseconds = [], []
    with session.log("retrieval") as log:
        for query in session.track(setting.queries, "stb-docs"):
            begun = time.perf_counter()
            found = ask(router, setting, query)
            milliseconds.append((time.perf_counter() - begun) * 1e3)
            rankings.append(found)
            log.write(query=query.id, gold=sorted(query.gold), found=found)
    return Evaluation(setting.queries, rankings).figures() | {
        "ms_per_query": median(milliseconds),
        "index_s": index_s,
    }


def reranking(session: Session) -> Figures:
    """The router with the local LLM, paired with its own retrieval over the same queries."""
    setting = read_setting(session, session.directory / "embeddings.sqlite")
    from compendia.router.likelihood import load_likelihood_reranker
    from compendia.router.route import Router
    from compendia.router.score_cache import CachedReranker

    # Scores are kept by (model, card, query): a run that was stopped goes on where it was.
    reranker = CachedReranker(load_likelihood_reranker(), session.directory / "scores.sqlite")
    queries = setting.queries
    own = Router(setting.snapshot, setting.encoder)
    reranked = Router(setting.snapshot, setting.encoder, reranker)
    before, after = [], []
    with session.log("reranking") as log:
        for query in session.track(queries, "stb-docs with the local LLM"):
            # The LLM reads K cards, as it does when a plan is made.
            before.append(ask(own, setting, query, K))
            after.append(ask(reranked, setting, query, K))
            log.write(query=query.id, gold=sorted(query.gold), retrieved=before[-1], reranked=after[-1])
    session.notes["reranker"] = {"fingerprint": reranker.fingerprint, "cards_scored_now": reranker.scored}
    first_before, first_after = Evaluation(queries, before).first(), Evaluation(queries, after).first()
    gain = paired_bootstrap(first_after, first_before, seed=session.options.seed, resamples=RESAMPLES)
    return {
        "acc@1/llm": mean(first_after),
        "llm_gain": gain.mean,
        "llm_gain_low": gain.low,
        "llm_gain_high": gain.high,
    }


def baselines(session: Session) -> Figures:
    """The plain arms asked for, in the same columns: `arm/NAME/acc@1/GROUP`."""
    chosen = chosen_arms(session.options)
    setting = read_setting(session, session.directory / "embeddings.sqlite")
    from .arms import rank_all

    queries = setting.queries
    texts = [query.text for query in queries]
    figures: dict[str, float] = {}
    for name in session.track(chosen, "baselines"):
        rankings = rank_all(name, setting.corpus, texts, setting.encoder, K)
        with session.log(f"arm_{name}") as log:
            for query, found in zip(queries, rankings, strict=True):
                log.write(query=query.id, gold=sorted(query.gold), found=found)
        figures |= {f"arm/{name}/{key}": v for key, v in Evaluation(queries, rankings).figures().items()}
    return figures


def chosen_arms(options: Options) -> tuple[str, ...]:
    """The baselines asked for. Raises USAGE for one that does not exist."""
    from .arms import ARMS

    if "all" in options.arms:
        return tuple(ARMS)
    for name in options.arms:
        if name not in ARMS:
            raise error(
                ErrorCode.USAGE,
                f"there is no arm {name!r}",
                "--arm",
                f"use one of all, {', '.join(ARMS)}",
            )
    return options.arms


STB_DOCS = Benchmark(
    "stb-docs",
    "the right tool for 765 StableToolBench queries, from documentation alone",
    (
        Part(("acc@1/G*", "acc@1/all", f"recall@{K}/*", "ms_per_query", "index_s"), retrieval),
        Part(("acc@1/llm", "llm_gain*"), reranking, lambda options: options.llm != "none"),
        Part(("arm/*",), baselines, lambda options: bool(options.arms)),
    ),
)
