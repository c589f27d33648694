"""`metatool-zero`, `sealtools-zero`: does experience with some tools help them, and leave new ones findable?

A query is `labelled` when a gold tool of it has experience, `zero` when none has. H is the harmonic mean of
the accuracies of the two groups. The experience that leaks into test queries is taken out first (`leaks`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compendia.contract import ErrorCode, error

from .benchmark import Benchmark, Figures, Options, Part, Session
from .datasets import Query, sample, stratified
from .evaluation import Evaluation, K, open_encoder, read_split, remembering
from .metatool import PUBLISHED_SEED
from .metrics import harmonic_interval, harmonic_mean, mean, wilson
from .prompt_all import ARM as PROMPT_ALL
from .prompt_all import prompt_all
from .reranking import with_local_llm
from .snapshots import federated
from .splits import LABELLED, ZERO
from .systems import FEDERATED, PLAIN_ARMS, answers, chosen

ARMS = ("docs-only", "centralized", *PLAIN_ARMS)
LLM_LABELLED = 300
"""Labelled queries that the LLM is asked, drawn; of zero-label ones it is asked all."""
PROMPT_ALL_QUERIES = 60
"""Queries of each group that the LLM is asked with every tool's card: seconds each."""

RECALL = f"recall@{K}"
FIGURES = (LABELLED, ZERO, "H", RECALL)


def told(session: Session, evaluation: Evaluation, mark: str) -> dict[str, float]:
    """The four figures, `mark` added to their keys; their intervals go to the manifest."""
    labelled, zero = (evaluation.of_group(group).first() for group in (LABELLED, ZERO))
    within = evaluation.within(K)
    session.intervals |= {
        f"{LABELLED}{mark}": wilson(labelled),
        f"{ZERO}{mark}": wilson(zero),
        f"H{mark}": harmonic_interval(labelled, zero, seed=session.options.seed),
        f"{RECALL}{mark}": wilson(within),
    }
    return {
        f"{LABELLED}{mark}": mean(labelled),
        f"{ZERO}{mark}": mean(zero),
        f"H{mark}": harmonic_mean(mean(labelled), mean(zero)),
        f"{RECALL}{mark}": mean(within),
    }


def measure(session: Session, split_name: str, seed: int, arms: Sequence[str], llm: bool = False) -> Figures:
    """Figures of some arms on one draw of a split, and with the local LLM if asked for."""
    encoder = open_encoder(session)
    queries = asked(session.split(split_name, seed).queries, session.options.limit)
    memory = session.once(f"memory/{split_name}/{seed}", lambda: remembering(encoder, queries))
    split = read_split(session, split_name, memory, seed)
    drawn, mark = ("", "") if seed == PUBLISHED_SEED else (f"/{seed}", f"_{seed}")
    figures: dict[str, float] = {}
    for arm in arms:
        (evaluation,) = answers(session, split, arm, queries, memory, arm + mark)
        figures |= told(session, evaluation, drawn + (f"@{arm}" if arm != FEDERATED else ""))
    if llm:
        some = llm_sample(queries, session.options.seed)
        snapshot = federated(split, memory)
        found = with_local_llm(session, f"llm{mark}", snapshot, memory, split.names, some)
        gain = found.gain(session.options.seed)
        session.intervals["llm_gain"] = (gain.low, gain.high)
        figures |= told(session, found.after, f"{drawn}/llm") | {"llm_gain": gain.mean}
    return figures


def shown_all(session: Session, split_name: str) -> Figures:
    """Figures of the local LLM that is shown every tool, on a sample of the published draw."""
    split = session.split(split_name, PUBLISHED_SEED)
    queries = sample(asked(split.queries, session.options.limit), PROMPT_ALL_QUERIES)
    session.notes[PROMPT_ALL] = {
        group: sum(query.group == group for query in queries) for group in (LABELLED, ZERO)
    }
    found = prompt_all(session, PROMPT_ALL, split.documentation.tools, split.names, queries)
    return told(session, found, f"@{PROMPT_ALL}")


def asked(queries: tuple[Query, ...], limit: int | None) -> tuple[Query, ...]:
    """The queries, or a sample with both groups in it, evenly over each."""
    if limit is None:
        return queries
    groups = [tuple(query for query in queries if query.group == group) for group in (LABELLED, ZERO)]
    share = len(groups[1]) / len(queries)
    wanted = max(1, round(limit * share))
    return stratified(groups[0], max(1, limit - wanted)) + stratified(groups[1], wanted)


def llm_sample(queries: Sequence[Query], seed: int, wanted: int = LLM_LABELLED) -> tuple[Query, ...]:
    """Of the labelled queries `wanted` at random (or all), and all zero-label ones; in their own order."""
    labelled = [at for at, query in enumerate(queries) if query.group == LABELLED]
    size = min(wanted, len(labelled))
    drawn = {int(at) for at in np.random.default_rng(seed).choice(labelled, size, replace=False)}
    return tuple(query for at, query in enumerate(queries) if query.group == ZERO or at in drawn)


def benchmark(name: str, about: str, split_name: str, *, drawn: bool, few_tools: bool) -> Benchmark:
    """The benchmark of a split.

    drawn: the split depends on the seed, so that --seed repeats it. few_tools: few enough for prompt-all.
    """
    known = (*ARMS, PROMPT_ALL) if few_tools else ARMS

    def published(options: Options) -> bool:
        return not drawn or PUBLISHED_SEED in options.seeds

    def without_llm(options: Options) -> tuple[str, ...]:
        return tuple(arm for arm in chosen(options.arms, known) if arm != PROMPT_ALL)

    def shows_all(options: Options) -> bool:
        if PROMPT_ALL not in chosen(options.arms, known) or not published(options):
            return False
        if options.llm == "none" and PROMPT_ALL in options.arms:
            raise error(ErrorCode.USAGE, f"the arm {PROMPT_ALL} needs an LLM", "--arm", "add --llm local")
        return options.llm != "none"

    def router(session: Session) -> Figures:
        return measure(session, split_name, PUBLISHED_SEED, (FEDERATED,))

    def plain(session: Session) -> Figures:
        return measure(session, split_name, PUBLISHED_SEED, without_llm(session.options))

    def llm(session: Session) -> Figures:
        return measure(session, split_name, PUBLISHED_SEED, (), llm=True)

    def others(session: Session) -> Figures:
        arms = (FEDERATED, *without_llm(session.options))
        figures: dict[str, float] = {}
        for seed in session.options.seeds:
            if seed != PUBLISHED_SEED:
                figures |= measure(session, split_name, seed, arms)
        return figures

    parts = [
        Part(FIGURES, router, published),
        Part(
            (*(f"{key}/llm" for key in FIGURES), "llm_gain"),
            llm,
            lambda options: options.llm != "none" and published(options),
        ),
        Part(
            tuple(f"{key}@*" for key in FIGURES),
            plain,
            lambda options: bool(without_llm(options)) and published(options),
        ),
        Part(
            tuple(f"{key}@{PROMPT_ALL}" for key in FIGURES),
            lambda session: shown_all(session, split_name),
            shows_all,
        ),
    ]
    if drawn:
        parts.append(
            Part(
                tuple(f"{key}/[0-9]*" for key in FIGURES),
                others,
                lambda options: any(seed != PUBLISHED_SEED for seed in options.seeds),
            )
        )
    return Benchmark(name, about, tuple(parts))


METATOOL_ZERO = benchmark(
    "metatool-zero",
    "tools with and without experience, on MetaTool's 2,823 queries",
    "metatool",
    drawn=True,
    few_tools=True,
)
SEALTOOLS_ZERO = benchmark(
    "sealtools-zero",
    "tools with and without experience, on Seal-Tools' 1,354 queries",
    "sealtools",
    drawn=False,
    few_tools=False,
)
