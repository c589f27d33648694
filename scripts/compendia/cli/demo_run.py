"""The demo: the main job once through, every program a process of its own on loopback.

Three organizations import, build and publish; the aggregator merges and logs conflicts; two routers (one
for English, one for many languages) pull the snapshot and plan. This module only conducts: all work is done
by the commands that anyone can type, and the document it returns is made of what they answered.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from compendia.contract.errors import ErrorCode, error
from compendia.text.console import EXIT_FAILED, progress

from .demo_cast import (
    DATA,
    EQUIVOCATOR,
    GRANTS,
    ORGANIZATIONS,
    QUESTIONS,
    WINDOW,
    Organization,
    Question,
    Source,
)
from .demo_programs import Programs, Server

ANY_PORT = "127.0.0.1:0"
START_TIMEOUT_S = 180.0
ANSWER_TIMEOUT_S = 120.0
ENCODERS = tuple(dict.fromkeys(question.encoder for question in QUESTIONS))
Document = dict[str, Any]
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",  # models compute side by side: threads that wait for each other cost more
}


def perform(folder: Path) -> Document:
    """Run the demo with its files in `folder`; returns the document that `--json` prints."""
    clock = Clock()
    with Programs(folder, ENVIRONMENT) as programs:
        aggregator = _start_aggregator(programs)
        with ThreadPoolExecutor(len(ORGANIZATIONS)) as pool:
            with clock("import_and_build"):
                built = list(pool.map(lambda org: _build(programs, org), ORGANIZATIONS))
            with clock("aggregator_ready"):
                address = aggregator.address(START_TIMEOUT_S)
                programs.run("round", "round", "open", "-a", address, "--quorum", str(len(built)), "--json")
            routers = {encoder: _start_router(programs, encoder, address) for encoder in ENCODERS}
            with clock("publish"):
                receipts = pool.map(lambda org: _publish(programs, org, address), ORGANIZATIONS)
                for entry, receipt in zip(built, receipts, strict=True):
                    entry["receipt"] = receipt
                refusal = _equivocate(programs, address, built)
            with clock("merge"):
                closed = programs.run("round", "round", "close", "-a", address, "--json").document
                log = programs.run("conflicts", "conflicts", "-a", address, "--json").document
                pull = ("client", "pull", "-a", address, "--out", "snapshot.json")
                programs.run("pull", *pull)
            with clock("routers_ready"):
                addresses = {
                    name: _await_revision(programs, router, closed["revision"])
                    for name, router in routers.items()
                }
            with clock("route"):
                # One question after the other, as a person asks, but of both routers at once.
                answers = pool.map(lambda encoder: _ask_all(programs, encoder, addresses[encoder]), ENCODERS)
                answered = {plan["query"]: plan for plans in answers for plan in plans}
                plans = [answered[question.query] for question in QUESTIONS]
    _check_plans(plans, folder / "snapshot.json")
    return {
        "organizations": built,
        "round": {**closed, "refused": refusal},
        "conflicts": log["conflicts"],
        "plans": plans,
        "timings_s": clock.timings_s(),
    }


class Clock:
    """Wall seconds of each named part of the demo, and shows on stderr what is under way."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._parts: dict[str, float] = {}

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        started = time.monotonic()
        with progress(part.replace("_", " ")):
            yield
        self._parts[part] = time.monotonic() - started

    def timings_s(self) -> dict[str, float]:
        rounded = {part: round(seconds, 2) for part, seconds in self._parts.items()}
        return {**rounded, "total": round(time.monotonic() - self._started, 2)}


def _start_aggregator(programs: Programs) -> Server:
    grants = [word for publisher, org in GRANTS.items() for word in ("--grant", f"{publisher}={org}")]
    return programs.serve(
        "aggregator", "aggregator", "serve", "--db", "aggregator.db", "--address", ANY_PORT, *grants
    )


def _start_router(programs: Programs, encoder: str, aggregator: str) -> Server:
    # Vectors are kept between runs: the next one encodes nothing but the questions.
    words = ("--aggregator", aggregator, "--encoder", encoder, "--reranker", "local")
    return programs.serve(f"router-{encoder}", "router", "serve", *words, "--address", ANY_PORT)


def _build(programs: Programs, org: Organization) -> Document:
    """Import every source of an organization, then build its compendium from them and its experience."""
    sources = [_import(programs, org, source) for source in org.sources]
    log = DATA / f"{org.name}.jsonl"
    compendium = _compile(programs, org, sources, log, f"{org.name}.json")
    outcomes = Counter(json.loads(line)["outcome"] for line in log.read_text(encoding="utf-8").splitlines())
    return {
        "organization": org.name,
        "title": org.title,
        "about": org.about,
        "sources": sources,
        "experience": {"success": outcomes["success"], "failure": outcomes["failure"]},
        "compendium": compendium,
    }


def _import(programs: Programs, org: Organization, source: Source) -> Document:
    out = f"{org.name}-{Path(source.file).stem}.json"
    words = ["import", source.kind, str(DATA / source.file), "--org", org.name, "--out", out, "--json"]
    if source.publisher:
        words += ["--publisher", source.publisher]
    return {"kind": source.kind, "file": source.file, **programs.run(org.name, *words).document}


def _compile(
    programs: Programs, org: Organization, sources: Sequence[Document], log: Path, out: str
) -> Document:
    imported = [str(source["out"]) for source in sources]
    words = ("--experience", str(log), "--from", WINDOW[0], "--to", WINDOW[1], "--out", out, "--json")
    built: Document = programs.run(org.name, "client", "build", *imported, *words).document
    return built


def _publish(programs: Programs, org: Organization, aggregator: str) -> Document:
    words = ("client", "publish", f"{org.name}.json", "-a", aggregator, "--json")
    receipt: Document = programs.run(org.name, *words).document
    return receipt


def _equivocate(programs: Programs, aggregator: str, built: Sequence[Document]) -> Document:
    """Let one organization send a second, changed compendium in the round; returns how it was refused."""
    org, entry = next(pair for pair in zip(ORGANIZATIONS, built, strict=True) if pair[0].name == EQUIVOCATOR)
    shorter = programs.folder / f"{org.name}-changed.jsonl"
    lines = (DATA / f"{org.name}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    shorter.write_text("".join(lines[:-1]), encoding="utf-8")
    changed = f"{org.name}-changed.json"
    _compile(programs, org, entry["sources"], shorter, changed)
    sent = programs.run(org.name, "client", "publish", changed, "-a", aggregator, refused=[EXIT_FAILED])
    if sent.code == 0:
        raise error(ErrorCode.INTERNAL, "a changed second publish in one round was accepted", "demo")
    code = re.search(r"\[([A-Z_]+)\]", sent.told)
    return {"organization": org.name, "code": code[1] if code else "", "message": sent.told.strip()}


def _await_revision(programs: Programs, router: Server, revision: str) -> str:
    """The router's address, once it answers from that revision."""
    address = router.address(START_TIMEOUT_S)
    give_up = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < give_up:
        status = programs.run("status", "router", "status", "--router", address, "--json").document
        if status["revision"] == revision:
            return address
        time.sleep(0.5)
    raise error(ErrorCode.DEADLINE, f"{router.name} did not take up {revision}; see {router.log}", "demo")


def _ask_all(programs: Programs, encoder: str, router: str) -> list[Document]:
    return [_ask(programs, question, router) for question in QUESTIONS if question.encoder == encoder]


def _ask(programs: Programs, question: Question, router: str) -> Document:
    words = ("route", question.query, "--router", router, "--timeout", f"{ANSWER_TIMEOUT_S:g}", "--json")
    plan = programs.run(f"questions-{question.encoder}", *words).document
    return {"about": question.about, "encoder": question.encoder, **plan}


def _check_plans(plans: Sequence[Document], snapshot_file: Path) -> None:
    """Hold every plan against the snapshot that it names; what is wrong goes into `problems`."""
    from compendia.contract import ToolPlan, check_plan
    from compendia.contract.document import snapshot_loads

    snapshot = snapshot_loads(snapshot_file.read_bytes())
    for entry in plans:
        plan = ToolPlan.model_validate({name: entry[name] for name in ToolPlan.model_fields})
        entry["problems"] = [str(problem) for problem in check_plan(plan, snapshot)]
