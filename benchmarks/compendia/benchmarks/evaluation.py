"""What every accuracy benchmark shares: asking a router, keeping its answers, judging them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .benchmark import Session
from .datasets import Query
from .leaks import without_leaks
from .metrics import distinct, grouped, hit_at_k, mean, wilson
from .splits import Split

if TYPE_CHECKING:
    from compendia.router.route import Router
    from compendia.text.encode import Encoder, Vectors
    from compendia.text.spans import Text

K = 5
DEPTH = 20
"""Candidates asked for, so that K distinct names are left after aliases collapse."""
RESAMPLES = 10_000


@dataclass(frozen=True)
class Evaluation:
    """What one system answered: the first K distinct tool names per query."""

    queries: Sequence[Query]
    rankings: Sequence[Sequence[str]]

    def first(self) -> list[bool]:
        """Per query, whether the first tool is gold."""
        return self.within(1)

    def within(self, k: int) -> list[bool]:
        """Per query, whether a gold tool is among the first k."""
        pairs = zip(self.queries, self.rankings, strict=True)
        return [hit_at_k(found, query.gold, k) for query, found in pairs]

    def figures(self) -> dict[str, float]:
        """acc@1 and recall@5 in all columns."""
        return {key: mean(hits) for key, hits in self._columns().items()}

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Their 95 % intervals."""
        return {key: wilson(hits) for key, hits in self._columns().items()}

    def of_group(self, group: str) -> Evaluation:
        """The same over the queries of one group."""
        pairs = [pair for pair in zip(self.queries, self.rankings, strict=True) if pair[0].group == group]
        return Evaluation([query for query, _ in pairs], [found for _, found in pairs])

    def _columns(self) -> dict[str, list[bool]]:
        groups = [query.group for query in self.queries]
        measured = {"acc@1": self.first(), f"recall@{K}": self.within(K)}
        return {
            f"{metric}/{group}": found
            for metric, hits in measured.items()
            for group, found in grouped(hits, groups).items()
        }


class QueryMemory:
    """An encoder that keeps every query's vector for as long as it lives, for many routers asked alike."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: dict[Text, Vectors] = {}
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        return self._encoder.encode_documents(texts)

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        from compendia.text.spans import by_length

        missing = sorted({text for text in texts if text not in self._vectors}, key=by_length)
        self._vectors |= zip(missing, self._encoder.encode_queries(missing), strict=True)
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([self._vectors[text] for text in texts])


def remembering(encoder: Encoder, queries: Sequence[Query]) -> QueryMemory:
    """The encoder with everything a router encodes of the queries encoded already, in one batch."""
    return remembering_texts(encoder, [query.text for query in queries])


def remembering_texts(encoder: Encoder, texts: Sequence[str]) -> QueryMemory:
    """The same for the texts of queries."""
    from compendia.router.query import encode_all, read_query
    from compendia.router.understand import sentences

    memory = QueryMemory(encoder)
    read = [read_query(text) for text in texts]
    encode_all([*read, *(part for text in read for part in sentences(text))], memory)
    return memory


def read_split(session: Session, name: str, encoder: Encoder, seed: int | None = None) -> Split:
    """A split of the datasets, `cleaned`."""
    drawn = session.options.seed if seed is None else seed
    return cleaned(session, session.split(name, drawn), encoder, f"{name}/{drawn}")


def cleaned(session: Session, split: Split, encoder: Encoder, name: str) -> Split:
    """A split without the experience that leaks into its queries, made once; the manifest says under
    `split/NAME` what went."""
    clean, found = session.once(f"clean/{name}", lambda: without_leaks(split, encoder))
    session.notes[f"split/{name}"] = {
        "tools": len(set(clean.names.values())),
        "experience": len(clean.experience),
        "tools_with_experience": len(clean.experienced()),
        "queries": len(clean.queries),
        "leaks": found.counts(),
    }
    return clean


def open_encoder(session: Session) -> Encoder:
    """The encoder asked for; vectors of documents, never of queries, are kept for later runs."""
    from compendia.text.encode import load_encoder

    return load_encoder(session.options.encoder, session.caches / "embeddings.sqlite")


def ask(router: Router, names: Mapping[str, str], query: Query, depth: int = DEPTH) -> list[str]:
    """The judged names of the first K distinct tools that the router retrieves among `depth`."""
    ranking = router.retrieve(query.text, depth)
    return distinct([names[candidate.tool] for candidate in ranking.candidates], K)


def keep(session: Session, log: str, evaluation: Evaluation) -> Evaluation:
    """Leave every single answer in the log, which `bench tables` reads."""
    with session.log(log) as lines:
        for query, found in zip(evaluation.queries, evaluation.rankings, strict=True):
            lines.write(query=query.id, group=query.group, gold=sorted(query.gold), found=list(found))
    return evaluation


def named(session: Session, evaluation: Evaluation, form: str, metrics: Sequence[str]) -> dict[str, float]:
    """Figures of some metrics under other keys, their intervals going to the manifest. `form` holds
    `{metric}` and `{group}`."""
    ends, figures = evaluation.intervals(), dict[str, float]()
    for key, value in evaluation.figures().items():
        metric, group = key.split("/")
        if metric in metrics:
            name = form.format(metric=metric, group=group)
            figures[name], session.intervals[name] = value, ends[key]
    return figures


def ask_all(
    session: Session, log: str, router: Router, names: Mapping[str, str], queries: Sequence[Query]
) -> Evaluation:
    """The router's answers to all queries, kept in a log of that name."""
    answers = [ask(router, names, query) for query in session.track(queries, log)]
    return keep(session, log, Evaluation(queries, answers))
