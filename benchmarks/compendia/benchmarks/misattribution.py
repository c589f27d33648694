"""`misattribution`: experience credits the wrong tool, and other organizations say so. What is lost?

The benchmark that the Synapse paper asks for: its gold decisions are ones that a contradiction can change. Of
MetaTool's experience a share credits the tool most easily mistaken for the right one, which "worked", in
place of it; other organizations hold the failures. The queries are those of tools with experience, any of
which can be hit. Ignoring experience cannot win, for without contradictions experience is worth `clean_gain`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .benchmark import Benchmark, Figures, Part, Session
from .contradictions import VOTES, Votes, confusable, misattribute
from .datasets import stratified
from .evaluation import Evaluation, open_encoder, read_split, remembering
from .merge_arms import POLICY, RATES, Contest
from .metrics import ALL
from .splits import LABELLED
from .stb_federated import difference

SPLIT = "metatool"
DOCUMENTS = "docs-only"
ARMS = (*POLICY, "centralized", DOCUMENTS)
HARD = 40
"""The rate at which the ways of voting are told apart, and at which bounds are."""


def contest(session: Session) -> Contest:
    """The split and its labelled queries, read once for all parts."""

    def make() -> Contest:
        encoder = open_encoder(session)
        labelled = tuple(query for query in session.split(SPLIT).queries if query.group == LABELLED)
        queries = stratified(labelled, session.options.limit)
        memory = remembering(encoder, queries)
        return Contest(session, read_split(session, SPLIT, memory), queries, memory)

    return session.once("contest", make)


def answers(
    session: Session, rate: int, arms: Sequence[str] = ARMS, votes: Sequence[Votes] = VOTES
) -> Mapping[str, Evaluation]:
    """The answers of the arms at a rate, made once."""
    found = contest(session)
    prefix = "" if votes == VOTES else f"{'-'.join(votes)}_"

    def make() -> Mapping[str, Evaluation]:
        wrong = session.once("wrong", lambda: mistaken(found))
        injected = misattribute(found.split, wrong, rate / 100, session.options.seed, votes)
        return found.answers(f"{prefix}{rate}", injected, arms)

    return session.once(f"answers/{prefix}{rate}", make)


def mistaken(found: Contest) -> dict[str, str]:
    """Each tool's most confusable other one, by documentation."""
    from compendia.router.documents import tool_document

    tools = found.split.documentation.tools
    vectors = found.encoder.encode_documents([tool_document(tool) for tool in tools])
    return confusable([tool.id for tool in tools], vectors, found.split.names)


def measured(rate: int) -> Callable[[Session], Figures]:
    """The part that measures all arms at one rate."""

    def measure(session: Session) -> Figures:
        figures: dict[str, float] = {}
        for arm, evaluation in answers(session, rate).items():
            figures |= accuracy(session, evaluation, f"{rate}@{arm}")
        return figures

    return measure


def by_votes(session: Session) -> Figures:
    """At HARD: where the mistaken are outvoted, tied with those who warn, or outvote them."""
    figures: dict[str, float] = {}
    for votes in VOTES:
        for arm, evaluation in answers(session, HARD, ("typed", "majority"), (votes,)).items():
            figures |= accuracy(session, evaluation, f"{votes}/{HARD}@{arm}")
    return figures


def accuracy(session: Session, evaluation: Evaluation, mark: str) -> dict[str, float]:
    """acc@1 over all under the key `acc@1/MARK`, its interval to the manifest."""
    key = f"acc@1/{ALL}"
    session.intervals[f"acc@1/{mark}"] = evaluation.intervals()[key]
    return {f"acc@1/{mark}": evaluation.figures()[key]}


def compared(session: Session) -> Figures:
    """In points: what experience is worth, what each arm loses to contradictions, and whether it still beats
    documentation alone at HARD."""
    clean = answers(session, 0)
    documents = clean[DOCUMENTS]
    figures = {"clean_gain": points(session, "clean_gain", clean["typed"], documents)}
    for rate in RATES[1:]:
        for arm, evaluation in answers(session, rate).items():
            if arm != DOCUMENTS:
                key = f"loss/{rate}@{arm}"
                figures[key] = points(session, key, clean[arm], evaluation)
    for arm, evaluation in answers(session, HARD).items():
        if arm != DOCUMENTS:
            key = f"above_docs/{HARD}@{arm}"
            figures[key] = points(session, key, evaluation, documents)
    return figures


def points(session: Session, key: str, one: Evaluation, other: Evaluation) -> float:
    """acc@1 of one minus that of the other in points, its paired interval to the manifest."""
    found = difference(session, one, other, [True] * len(one.queries))
    session.intervals[key] = (found.low, found.high)
    return found.mean


MISATTRIBUTION = Benchmark(
    "misattribution",
    "MetaTool with up to 60 % of the experience crediting the wrong tool, and who warns of it, in six arms",
    (
        *(Part((f"acc@1/{rate}@*",), measured(rate)) for rate in RATES),
        Part(tuple(f"acc@1/{votes}/{HARD}@*" for votes in VOTES), by_votes),
        Part(("clean_gain", "loss/*", f"above_docs/{HARD}@*"), compared),
    ),
)
