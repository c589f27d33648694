"""`stb-federated`: the Synapse paper's main table. StableToolBench's queries, ToolBench G3's requests as the
only experience, five clients, and every way in which the experience may travel.

Experience covers 235 of 991 tools. What it gives to the group that it covers (G3) is one figure, what it
costs the others (`loss_g1g2`, against the same router without experience) another, and both are bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import Query, stratified
from .evaluation import RESAMPLES, Evaluation, K, QueryMemory, open_encoder, read_split, remembering
from .metrics import ALL, Interval, paired_bootstrap
from .splits import LABELLED, ZERO, Split
from .systems import FEDERATED, LOCAL, answers, mean_figures
from .zero_label import FIGURES, told

SPLIT = "stb-g3"
ARMS = (FEDERATED, "centralized", "docs-only", *LOCAL, "paper", "svm")
UNCOVERED = ("G1_category", "G1_instruction", "G1_tool", "G2_category", "G2_instruction")
"""The groups whose queries the G3 requests are not about."""


def evaluations(session: Session, arm: str) -> tuple[Evaluation, ...]:
    """The answers of one arm, made once for all parts: one evaluation, or one per client."""

    def ask() -> tuple[Evaluation, ...]:
        queries = asked(session)
        return answers(session, clean_split(session), arm, queries, memory(session), arm)

    return session.once(f"answers/{arm}", ask)


def asked(session: Session) -> tuple[Query, ...]:
    """The queries, or a sample of every group."""
    return stratified(session.split(SPLIT).queries, session.options.limit)


def memory(session: Session) -> QueryMemory:
    """The encoder, which has read the queries."""
    return session.once("memory", lambda: remembering(open_encoder(session), asked(session)))


def clean_split(session: Session) -> Split:
    """The split without experience that leaks into a query."""
    return read_split(session, SPLIT, memory(session))


def measured(arm: str) -> Callable[[Session], Figures]:
    """The part that measures an arm: accuracy and recall per group; of several clients, the mean."""

    def measure(session: Session) -> Figures:
        found = evaluations(session, arm)
        if len(found) == 1:
            session.intervals |= {f"{key}@{arm}": ends for key, ends in found[0].intervals().items()}
        return {f"{key}@{arm}": value for key, value in mean_figures(found).items()}

    return measure


def by_experience(arm: str) -> Callable[[Session], Figures]:
    """The part that measures an arm on G1 and G2 by whether a gold tool has experience: `KEY/g1g2@ARM`.

    Of a sample in which either group is empty there are no such figures; the manifest says so.
    """

    def measure(session: Session) -> Figures:
        (found,) = evaluations(session, arm)
        parted = split_by_use(found, clean_split(session).experienced())
        sizes = {group: len(parted.of_group(group).queries) for group in (LABELLED, ZERO)}
        session.notes["g1g2"] = sizes
        return told(session, parted, f"/g1g2@{arm}") if all(sizes.values()) else {}

    return measure


def split_by_use(found: Evaluation, used: frozenset[str]) -> Evaluation:
    """The queries of UNCOVERED groups, `labelled` where a gold tool is among the used ones, else `zero`."""
    pairs = [
        (replace(query, group=LABELLED if query.gold & used else ZERO), ranking)
        for query, ranking in zip(found.queries, found.rankings, strict=True)
        if query.group in UNCOVERED
    ]
    return Evaluation([query for query, _ in pairs], [ranking for _, ranking in pairs])


def compared(session: Session) -> Figures:
    """In points: what federated loses against docs-only where experience is about other tools, and what it
    lacks against the pooled raw experience over all queries."""
    (ours,), (documents,), (pooled,) = (
        evaluations(session, arm) for arm in (FEDERATED, "docs-only", "centralized")
    )
    apart = [query.group in UNCOVERED for query in ours.queries]
    found = {
        "loss_g1g2": difference(session, documents, ours, apart),
        "federated_gap": difference(session, pooled, ours, [True] * len(apart)),
    }
    session.intervals |= {key: (interval.low, interval.high) for key, interval in found.items()}
    return {key: interval.mean for key, interval in found.items()}


def difference(session: Session, one: Evaluation, other: Evaluation, counted: list[bool]) -> Interval:
    """acc@1 of one minus that of the other in points, over the queries counted, with its paired interval."""
    hits = [
        [hit for hit, use in zip(evaluation.first(), counted, strict=True) if use]
        for evaluation in (one, other)
    ]
    found = paired_bootstrap(hits[0], hits[1], seed=session.options.seed, resamples=RESAMPLES)
    return Interval(100 * found.mean, 100 * found.low, 100 * found.high)


STB_FEDERATED = Benchmark(
    "stb-federated",
    "765 StableToolBench queries with ToolBench G3 as experience of five clients, in seven arms",
    (
        *(
            Part((f"acc@1/G*@{arm}", f"acc@1/{ALL}@{arm}", f"recall@{K}/*@{arm}"), measured(arm))
            for arm in ARMS
        ),
        *(
            Part(tuple(f"{key}/g1g2@{arm}" for key in FIGURES), by_experience(arm))
            for arm in ARMS
            if arm not in LOCAL
        ),
        Part(("loss_g1g2", "federated_gap"), compared),
    ),
)
