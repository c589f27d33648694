"""`stb-docs`: which tool StableToolBench's queries need, from documentation alone.

The 765 solvable test queries (Guo et al., arXiv:2403.07714) over the tools of their own `api_list`s, imported
by the real importer and found by the real router. No experience is in the snapshot. Tools whose names are
equal after lower-casing and joining words with `_` count as one; on a query with several gold tools any of
them counts (see `metrics`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compendia.contract import Snapshot

from .arms import DOCUMENTATION_ARMS, material, rank_all
from .benchmark import Benchmark, Figures, Part, Session
from .datasets import Query, stratified
from .evaluation import Evaluation, K, ask, keep, open_encoder
from .metrics import mean, median, wilson
from .reranking import with_local_llm
from .snapshots import docs_only
from .splits import Split
from .systems import chosen

if TYPE_CHECKING:
    from compendia.text.encode import Encoder


@dataclass(frozen=True)
class Setting:
    """What is asked, of what: the split, its queries or a sample of them, and its documentation."""

    split: Split
    queries: tuple[Query, ...]
    encoder: Encoder
    snapshot: Snapshot


def read_setting(session: Session, encoder: Encoder) -> Setting:
    """Read the dataset, noting its files as inputs, and import it."""
    split = session.split("stb-docs")
    queries = stratified(split.queries, session.options.limit)
    session.notes |= {
        "queries": len(queries),
        "tools": len(set(split.names.values())),
        "encoder": encoder.fingerprint,
    }
    return Setting(split, queries, encoder, docs_only(split, encoder.fingerprint))


def retrieval(session: Session) -> Figures:
    """The router without an LLM: accuracy per column, median milliseconds per query, seconds to index.

    Both times include encoding; the model is loaded before, and no cache is used.
    """
    from compendia.router.route import Router
    from compendia.text.encode import load_encoder

    encoder = load_encoder(session.options.encoder)
    setting = read_setting(session, encoder)
    encoder.encode_queries(["warm up"])
    started = time.perf_counter()
    router = Router(setting.snapshot, encoder)
    index_s = time.perf_counter() - started
    rankings, milliseconds = [], []
    for query in session.track(setting.queries, "stb-docs"):
        begun = time.perf_counter()
        rankings.append(ask(router, setting.split.names, query))
        milliseconds.append((time.perf_counter() - begun) * 1e3)
    evaluation = keep(session, "retrieval", Evaluation(setting.queries, rankings))
    session.intervals |= evaluation.intervals()
    return evaluation.figures() | {"ms_per_query": median(milliseconds), "index_s": index_s}


def reranking(session: Session) -> Figures:
    """The router with the local LLM, paired with its own retrieval over the same queries."""
    encoder = open_encoder(session)
    setting = read_setting(session, encoder)
    names = setting.split.names
    found = with_local_llm(session, "reranking", setting.snapshot, encoder, names, setting.queries)
    gain = found.gain(session.options.seed)
    session.intervals |= {"acc@1/llm": wilson(found.after.first()), "llm_gain": (gain.low, gain.high)}
    return {
        "acc@1/llm": mean(found.after.first()),
        "llm_gain": gain.mean,
        "llm_gain_low": gain.low,
        "llm_gain_high": gain.high,
    }


def baselines(session: Session) -> Figures:
    """The plain arms asked for, in the same columns: `arm/NAME/acc@1/GROUP`."""
    arms = chosen(session.options.arms, DOCUMENTATION_ARMS)
    encoder = open_encoder(session)
    setting = read_setting(session, encoder)
    known, texts = material(setting.split), [query.text for query in setting.queries]
    figures: dict[str, float] = {}
    for name in session.track(arms, "baselines"):
        rankings = rank_all(name, known, texts, encoder, K)
        evaluation = keep(session, f"arm_{name}", Evaluation(setting.queries, rankings))
        figures |= {f"arm/{name}/{key}": value for key, value in evaluation.figures().items()}
    return figures


STB_DOCS = Benchmark(
    "stb-docs",
    "the right tool for 765 StableToolBench queries, from documentation alone",
    (
        Part(("acc@1/G*", "acc@1/all", f"recall@{K}/*", "ms_per_query", "index_s"), retrieval),
        Part(("acc@1/llm", "llm_gain*"), reranking, lambda options: options.llm != "none"),
        Part(("arm/*",), baselines, lambda options: bool(options.arms)),
    ),
)
