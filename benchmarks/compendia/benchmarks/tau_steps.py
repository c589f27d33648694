"""`taubench`: step accuracy on tau-bench without a hosted model; the next call, where those so far are given.

Retail: the 582 gold calls of the test tasks over 16 tools; the experience is the gold calls of the 500
training tasks, dealt to five clients by task. It knows six tools alone, those that change an order: calls of
the others, which look something up for the most part, are two thirds of the test. Airline: the calls of the
rewarded conversations over 14 tools, in five folds by task; the experience of a fold's decisions is the other
folds', dealt in the same way.

The paper's live agent is another thing: its model reads the whole conversation, and writes the arguments and
to the user as well, so that one wrong step spoils the next. Here every step starts from the right ones, and a
step that asks the user, or thinks, is not asked for. The figures can be compared with each other alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from compendia.contract import Compendium

from . import taubench
from .benchmark import Benchmark, Figures, Part, Session
from .datasets import Query, alias, files_of
from .evaluation import cleaned, open_encoder, remembering
from .metrics import mean, wilson
from .prompt_all import prompt_all
from .splits import CLIENTS, Item, Split
from .systems import PLAIN_ARMS, answers, chosen
from .taubench import AIRLINE, RETAIL, Decision, TauBench

ROUTERS = ("federated", "centralized", "docs-only")
FOLDS = 5


def measure(session: Session) -> Figures:
    """acc@1 of both domains under each arm; further arms with `--arm`."""
    data, encoder = _read(session), open_encoder(session)
    arms = dict.fromkeys((*ROUTERS, *chosen(session.options.arms, PLAIN_ARMS)))
    figures: dict[str, float] = {}
    for domain in (RETAIL, AIRLINE):
        parts = [cleaned(session, split, encoder, split.name) for split in splits_of(data, domain)]
        queries = [split.queries[: session.options.limit] for split in parts]
        memory = remembering(encoder, [query for asked in queries for query in asked])
        for arm in arms:
            found = [
                answers(session, split, arm, asked, memory, f"{split.name}_{arm}")[0]
                for split, asked in zip(parts, queries, strict=True)
            ]
            hits = [hit for evaluation in found for hit in evaluation.first()]
            figures[f"acc@1/{domain}@{arm}"] = mean(hits)
            session.intervals[f"acc@1/{domain}@{arm}"] = wilson(hits)
    return figures


def plain_llm(session: Session) -> Figures:
    """The small local LLM alone: the card, of the whole catalog, under which the state is likeliest."""
    data = _read(session)
    figures: dict[str, float] = {}
    for domain in (RETAIL, AIRLINE):
        parts = splits_of(data, domain)
        asked = [query for split in parts for query in split.queries[: session.options.limit]]
        found = prompt_all(session, f"{domain}_llm", data.catalogs[domain].tools, parts[0].names, asked)
        figures[f"acc@1/{domain}@llm"] = mean(found.first())
        session.intervals[f"acc@1/{domain}@llm"] = wilson(found.first())
    return figures


def splits_of(data: TauBench, domain: str) -> tuple[Split, ...]:
    """The one split of retail, the five of airline. Pure."""
    catalog = data.catalogs[domain]
    if domain == RETAIL:
        return (steps_split(RETAIL, catalog, data.train, data.test),)
    return tuple(
        steps_split(
            f"{AIRLINE}{fold}",
            catalog,
            [decision for decision in data.airline if decision.task % FOLDS != fold],
            [decision for decision in data.airline if decision.task % FOLDS == fold],
        )
        for fold in range(FOLDS)
    )


def steps_split(
    name: str, catalog: Compendium, known: Iterable[Decision], asked: Iterable[Decision]
) -> Split:
    """Decisions that are known, as experience of five clients, and decisions that are asked. Pure."""
    names = {tool.id: alias(tool.title) for tool in catalog.tools}
    ids = {judged: tool for tool, judged in names.items()}
    clients = {task: CLIENTS[at % len(CLIENTS)] for at, task in enumerate(sorted({d.task for d in known}))}
    return Split(
        name,
        catalog,
        tuple(Item(clients[d.task], d.state, ids[d.tool]) for d in known),
        tuple(Query(d.id, d.state, name, frozenset({d.tool})) for d in asked),
        names,
        dict.fromkeys(CLIENTS, frozenset(names)),
    )


def _read(session: Session) -> TauBench:
    folder = session.dataset(taubench.NAME)
    for name, path in files_of(taubench.NAME, folder, taubench.FILES).items():
        session.record_input(f"{taubench.NAME}/{name}", path)
    return session.once(taubench.NAME, lambda: taubench.read_taubench(folder))


TAUBENCH = Benchmark(
    "taubench",
    "the next call of tau-bench's retail and airline agents, those so far being given",
    (
        Part(("acc@1/*@*",), measure),
        Part(("acc@1/*@llm",), plain_llm, lambda options: options.llm != "none"),
    ),
)
