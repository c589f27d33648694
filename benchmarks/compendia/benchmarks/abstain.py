"""`abstain`: whether the router declines what none of the functions at hand can do, and nothing else.

BFCL's live questions, each with its own functions as the whole catalog: imported, sealed as a snapshot, taken
up by the router, asked. `declined` is the share of `irrelevance` whose evidence lies below a threshold, and
`false_rejects` that of `multiple`. One threshold is set on a hash-half of `multiple` so that 5 % of it are
rejected, and false rejects are counted on the other half; the `/snapshot` figures take for each question
the threshold that its snapshot gives, which knows no question. `@cosine` is the best cosine of question and
documentation in place of the evidence, with a threshold set in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compendia.contract import Compendium

from . import bfcl
from .benchmark import Benchmark, Figures, Part, Session
from .bfcl import Bfcl, Question
from .datasets import files_of
from .evaluation import QueryMemory, open_encoder, remembering_texts
from .metrics import mean

if TYPE_CHECKING:
    from compendia.router.route import Router

FALSE_REJECTS = 0.05


@dataclass(frozen=True)
class Judged:
    """Of one question: the router's evidence, its snapshot's threshold, and the best cosine."""

    question: Question
    evidence: float
    threshold: float
    cosine: float

    def values(self) -> dict[str, float]:
        """What a threshold can be set on, by the suffix of its figures."""
        return {"": self.evidence, "@cosine": self.cosine}


def measure(session: Session) -> Figures:
    """Both thresholds over both files, and the cosine alone."""
    data = read(session)
    in_scope = judge_all(session, data.multiple, "multiple")
    out_of_scope = judge_all(session, data.irrelevance, "irrelevance")
    figures: dict[str, float] = {}
    for suffix in ("", "@cosine"):
        held = {half: _values(in_scope, suffix, half) for half in (0, 1)}
        level = float(np.quantile(held[0], FALSE_REJECTS))
        session.notes[f"threshold{suffix}"] = level
        figures[f"declined{suffix}"] = _share_below(_values(out_of_scope, suffix), level)
        figures[f"false_rejects{suffix}"] = _share_below(held[1], level)
    for name, judged in (("declined", out_of_scope), ("false_rejects", in_scope)):
        figures[f"{name}/snapshot"] = mean([j.evidence < j.threshold for j in judged])
    return figures


def read(session: Session) -> Bfcl:
    """The questions, in a sample of `--limit` of each file, their files noted."""
    folder = session.dataset(bfcl.NAME)
    for name, path in files_of(bfcl.NAME, folder, bfcl.FILES).items():
        session.record_input(f"{bfcl.NAME}/{name}", path)
    data, limit = bfcl.read_bfcl(folder), session.options.limit
    session.notes["questions"] = {"multiple": len(data.multiple), "irrelevance": len(data.irrelevance)}
    return Bfcl(data.multiple[:limit], data.irrelevance[:limit])


def judge_all(session: Session, questions: Sequence[Question], label: str) -> list[Judged]:
    """What the router makes of each question over its own functions."""
    from compendia.router.route import Router

    from .snapshots import documentation_snapshot

    encoder = remembering_texts(open_encoder(session), [question.text for question in questions])
    catalogs = [catalog(question) for question in questions]
    _encode_documents(encoder, catalogs)
    router: Router | None = None
    judged = []
    with session.log(label) as log:
        for question, compendium in session.track(list(zip(questions, catalogs, strict=True)), label):
            snapshot = documentation_snapshot(compendium, encoder.fingerprint)
            if router is None:
                router = Router(snapshot, encoder)
            router.refresh(snapshot)
            found = _judge(router, question)
            judged.append(found)
            log.write(query=question.id, evidence=found.evidence, threshold=found.threshold, **_cosine(found))
    return judged


def catalog(question: Question) -> Compendium:
    """The functions of a question through the importer."""
    from compendia.client.importers import import_source

    return import_source("functions", question.functions, org="benchmark", source_name=bfcl.NAME).compendium


def _judge(router: Router, question: Question) -> Judged:
    ranking = router.retrieve(question.text)
    index = router.revision.index
    vector = router.encoder.encode_queries([question.text.strip()])[0]
    cosines = index.documents.search(vector[None], 1)[0]
    return Judged(question, ranking.best_evidence, ranking.threshold, float(cosines.max(initial=-1.0)))


def _values(judged: Sequence[Judged], suffix: str, half: int | None = None) -> NDArray[np.float64]:
    chosen = [j for j in judged if half is None or j.question.half == half]
    return np.asarray([j.values()[suffix] for j in chosen], np.float64)


def _share_below(values: NDArray[np.float64], level: float) -> float:
    return mean([float(value < level) for value in values])


def _cosine(judged: Judged) -> dict[str, float]:
    return {"cosine": round(judged.cosine, 5)}


def _encode_documents(encoder: QueryMemory, catalogs: Sequence[Compendium]) -> None:
    """All documents in one batch, so that every router finds them in the cache."""
    from compendia.router.documents import tool_document

    encoder.encode_documents(sorted({tool_document(tool) for c in catalogs for tool in c.tools}))


def weights(session: Session) -> Figures:
    """The weights of the evidence, fitted again (`abstain_fit`)."""
    from .abstain_fit import weights

    return weights(session)


ABSTAIN = Benchmark(
    "abstain",
    "whether requests that no function can answer are declined (BFCL), and how many others",
    (
        Part(("declined*", "false_rejects*"), measure),
        Part(
            ("weight/*",),
            weights,
            lambda options: any(key.startswith("weight") for key in options.only),
        ),
    ),
)
