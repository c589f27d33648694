"""`dev-mixed`: what the ranker's settings are chosen by, so that no test query is.

One choice of settings has to serve short descriptions and long ones, used tools and new ones. The mixes of
`mixed` have all of these in one catalog, and are asked training rows alone.
"""

from __future__ import annotations

from collections.abc import Callable

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import sample, stratified
from .evaluation import K, QueryMemory, cleaned, named, open_encoder, read_split, remembering
from .metatool import PUBLISHED_SEED
from .mixed import MIXES, mixed
from .reranking import with_local_llm
from .snapshots import federated
from .splits import Split
from .systems import FEDERATED, PLAIN_ARMS, answers, chosen

METRICS = ("acc@1", f"recall@{K}")
ROUTERS = (FEDERATED, "docs-only")
ARMS = ("centralized", *PLAIN_ARMS)
"""Those that are measured when asked for."""

LLM_ASKED = 60
"""Queries of a group that the LLM is asked, those whose digests come first."""


def splits(session: Session) -> dict[str, Split]:
    """The split of each mix, from training rows that do not leak into a test query; whatever the seed, it
    is the published draw whose test rows stay out."""

    def make() -> dict[str, Split]:
        encoder = QueryMemory(open_encoder(session))
        metatool, g3 = (read_split(session, name, encoder, PUBLISHED_SEED) for name in ("metatool", "stb-g3"))
        return mixed(metatool, g3)

    return session.once("mixed", make)


def measured(mix: str) -> Callable[[Session], Figures]:
    """The part that measures all arms on one mix."""

    def measure(session: Session) -> Figures:
        arms = dict.fromkeys((*ROUTERS, *chosen(session.options.arms, ARMS)))
        encoder, whole = open_encoder(session), splits(session)[mix]
        queries = stratified(whole.queries, session.options.limit)
        memory = remembering(encoder, queries)
        split = cleaned(session, whole, memory, mix)
        figures: dict[str, float] = {}
        for arm in arms:
            (evaluation,) = answers(session, split, arm, queries, memory, f"{mix}_{arm}")
            figures |= named(session, evaluation, f"{{metric}}/{mix}/{{group}}@{arm}", METRICS)
        return figures

    return measure


def reranked(mix: str) -> Callable[[Session], Figures]:
    """The part that has the local LLM order the candidates of `federated`, for a sample of one mix."""

    def measure(session: Session) -> Figures:
        encoder, whole = open_encoder(session), splits(session)[mix]
        queries = sample(stratified(whole.queries, session.options.limit), LLM_ASKED)
        memory = remembering(encoder, queries)
        split = cleaned(session, whole, memory, f"{mix}_llm")
        snapshot = federated(split, memory)
        found = with_local_llm(session, f"{mix}_llm", snapshot, memory, split.names, queries)
        figures: dict[str, float] = {}
        for mark, evaluation in (("llm", found.after), ("before_llm", found.before)):
            figures |= named(session, evaluation, f"acc@1/{mix}/{{group}}/{mark}", ["acc@1"])
        return figures

    return measure


DEV_MIXED = Benchmark(
    "dev-mixed",
    "MetaTool's and ToolBench G3's tools in one catalog, asked training rows: where settings are chosen",
    (
        *(Part((f"acc@1/{mix}/*@*", f"recall@{K}/{mix}/*@*"), measured(mix)) for mix in MIXES),
        *(
            Part(
                (f"acc@1/{mix}/*/llm", f"acc@1/{mix}/*/before_llm"),
                reranked(mix),
                lambda options: options.llm != "none",
            )
            for mix in MIXES
        ),
    ),
)
