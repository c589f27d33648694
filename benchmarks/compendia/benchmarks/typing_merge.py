"""`typing`: the Synapse paper's injected contradictions, under every merge policy.

Of the experience of `stb-federated` a share is denied by another organization, in the paper's design (another
success and a failure, of two other organizations) and in the cleaner one that the paper leaves open (the
failure alone). What is denied is true, so the best answer to it is to ignore it. Retrieval alone is measured,
without an LLM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .benchmark import Benchmark, Figures, Part, Session
from .contradictions import DESIGNS, Design, contradict
from .datasets import stratified
from .evaluation import Evaluation, open_encoder, read_split, remembering
from .merge_arms import POLICY, RATES, Contest
from .misattribution import accuracy

SPLIT = "stb-g3"
MARK: Mapping[Design, str] = {"pairs": "", "precautions": "precautions/"}
"""Of the keys; the paper's design is the plain one."""


def contest(session: Session) -> Contest:
    """The split and its queries, read once for all parts."""

    def make() -> Contest:
        encoder = open_encoder(session)
        queries = stratified(session.split(SPLIT).queries, session.options.limit)
        memory = remembering(encoder, queries)
        return Contest(session, read_split(session, SPLIT, memory), queries, memory)

    return session.once("contest", make)


def answers(session: Session, design: Design, rate: int) -> Mapping[str, Evaluation]:
    """The answers of every policy at a rate."""
    found = contest(session)
    injected = contradict(found.split, rate / 100, session.options.seed, design)
    return found.answers(f"{design}{rate}", injected, tuple(POLICY))


def measured(design: Design, rate: int) -> Callable[[Session], Figures]:
    """The part that measures all policies at one rate."""

    def measure(session: Session) -> Figures:
        figures: dict[str, float] = {}
        for arm, evaluation in answers(session, design, rate).items():
            figures |= accuracy(session, evaluation, f"{MARK[design]}{rate}@{arm}")
        return figures

    return measure


TYPING = Benchmark(
    "typing",
    "stb-federated with up to 60 % of the experience contradicted, in two designs under four merge policies",
    tuple(
        Part((f"acc@1/{MARK[design]}{rate}@*",), measured(design, rate))
        for design in DESIGNS
        for rate in RATES
    ),
)
