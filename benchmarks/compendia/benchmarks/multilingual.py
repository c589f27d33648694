"""`multilingual`: the same fifty requests in five languages over one catalog, by a multilingual encoder.

The catalog is the 527 tools of the 70 MCP servers in LiveMCPBench, most of them documented in English, some
in Chinese. `multilingual.jsonl` was written for this: fifty English requests, each for a tool of that
catalog, and what a person would say instead in Chinese, Russian, Spanish and Korean. Where two servers offer
the same, either counts. `gap` is acc@1 of English minus that of the other languages together, `gap/LANGUAGE`
minus that of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from .benchmark import Benchmark, Figures, Part, Session
from .datasets import Query, files_of
from .evaluation import Evaluation, keep, remembering
from .metrics import grouped, mean
from .snapshots import documentation_snapshot

LANGUAGES = ("en", "zh", "ru", "es", "ko")
DATASET, CATALOG = "mcp", "livemcpbench/tools.json"
ENCODER = "e5"


@dataclass(frozen=True)
class Request:
    """What is asked, by language, and the ids of the tools that are right."""

    tools: frozenset[str]
    texts: Mapping[str, str]


def requests() -> tuple[Request, ...]:
    """The fifty requests, in file order."""
    lines = files(__package__).joinpath("multilingual.jsonl").read_text(encoding="utf-8").splitlines()
    read = [json.loads(line) for line in lines]
    return tuple(
        Request(frozenset(row["tools"]), {language: row[language] for language in LANGUAGES}) for row in read
    )


def queries() -> tuple[Query, ...]:
    """Every request in every language, grouped by language."""
    return tuple(
        Query(f"{language}/{number}", request.texts[language], language, request.tools)
        for language in LANGUAGES
        for number, request in enumerate(requests())
    )


def measure(session: Session) -> Figures:
    """acc@1 and recall@5 by language, the gap, and by language the share of requests that are answered."""
    from compendia.client.importers import import_source
    from compendia.router.route import Router
    from compendia.text.encode import load_encoder

    source = files_of(DATASET, session.dataset(DATASET), [CATALOG])[CATALOG]
    session.record_input(f"{DATASET}/{CATALOG}", source)
    imported = import_source("mcp", source.read_bytes(), org="benchmark", source_name="livemcpbench")
    asked = queries()
    encoder = remembering(load_encoder(ENCODER, session.caches / "embeddings.sqlite"), asked)
    router = Router(documentation_snapshot(imported.compendium, encoder.fingerprint), encoder)
    rankings = [router.retrieve(query.text) for query in session.track(asked, "multilingual")]
    found = [[candidate.tool for candidate in ranking.candidates] for ranking in rankings]
    answered = [ranking.best_evidence >= ranking.threshold for ranking in rankings]
    figures = keep(session, "answers", Evaluation(asked, found)).figures()
    for language, hits in grouped(answered, [query.group for query in asked]).items():
        figures[f"answered/{language}"] = mean(hits)
    gaps = {
        f"gap/{language}": figures["acc@1/en"] - figures[f"acc@1/{language}"] for language in LANGUAGES[1:]
    }
    kept = {key: value for key, value in figures.items() if not key.endswith("/all")}
    return kept | gaps | {"gap": mean(list(gaps.values()))}


MULTILINGUAL = Benchmark(
    "multilingual",
    "fifty requests in Chinese, Russian, Spanish and Korean against their English originals",
    (Part(("acc@1/*", "recall@5/*", "answered/*", "gap*"), measure),),
)
