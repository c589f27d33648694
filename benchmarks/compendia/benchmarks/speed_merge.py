"""The merge of many organizations' contributions into one sealed snapshot: seconds, and whether bytes agree.

Run as a program it prints the digest of one merge, which `same_bytes` compares with its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, Snapshot, error
from compendia.contract.document import dumps, snapshot_dumps
from compendia.text.encode import HashingEncoder
from compendia.text.spans import Text

from .benchmark import Figures, Session
from .catalog import contribution
from .metrics import median

if TYPE_CHECKING:
    from compendia.aggregator.executor import Executor
    from compendia.aggregator.view import Contribution

SCENARIOS = 28_000
TOOLS = 3_180
ORGS = ("atlas", "borealis", "cumulus", "delta", "estuary")
OVERLAP = 0.25  # share of an organization's tools that its right neighbour has as well
RUNS = 3
ROUND = 1


class GivenEmbeddings:
    """An encoder whose vectors are computed beforehand; a text it was not given raises KeyError."""

    def __init__(self, texts: Sequence[str]) -> None:
        encoder = HashingEncoder()
        self.fingerprint = encoder.fingerprint
        self.dimension = encoder.dimension
        distinct = sorted(set(texts))
        self._row: dict[Text, int] = {text: row for row, text in enumerate(distinct)}
        self._vectors = encoder.encode_documents(distinct)

    def encode_queries(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        return self._vectors[[self._row[text] for text in texts]]


def contributions(seed: int, scenarios: int) -> list[Contribution]:
    """Five organizations' leaves that hold `scenarios` scenarios and precautions in all, about as many tools
    as published for that number. Each organization shares a quarter of its tools with the next."""
    from compendia.aggregator.view import Contribution

    tools = max(len(ORGS), TOOLS * scenarios // SCENARIOS)
    leaves = []
    for place, org in enumerate(ORGS):
        start, end = tools * place // len(ORGS), tools * (place + 1) // len(ORGS)
        shared = round((end - start) * OVERLAP) if place + 1 < len(ORGS) else 0
        share = scenarios * (place + 1) // len(ORGS) - scenarios * place // len(ORGS)
        compendium = contribution(seed, org, range(start, end + shared), share)
        mark = hashlib.sha256(dumps(compendium).encode()).hexdigest()
        leaves.append(Contribution(org, ROUND, mark, compendium))
    return leaves


def embeddings(leaves: Sequence[Contribution]) -> GivenEmbeddings:
    """Vectors of every text that the merge clusters."""
    texts = [scenario.text for leaf in leaves for scenario in leaf.compendium.scenarios]
    return GivenEmbeddings(
        texts + [caution.text for leaf in leaves for caution in leaf.compendium.precautions]
    )


def merge(leaves: Sequence[Contribution], encoder: GivenEmbeddings, executor: Executor) -> Snapshot:
    """The sealed snapshot."""
    from compendia.aggregator.view import view

    return view(leaves, grants={}, encoder=encoder, executor=executor, round=ROUND)


def digest(snapshot: Snapshot) -> str:
    """SHA-256 of the snapshot's canonical bytes."""
    return hashlib.sha256(snapshot_dumps(snapshot).encode()).hexdigest()


def seconds(session: Session) -> Figures:
    """Median wall seconds of the merge, sealing included, embeddings given, in this process alone."""
    from compendia.aggregator.executor import SerialExecutor

    scenarios = session.options.limit or SCENARIOS
    leaves = contributions(session.options.seed, scenarios)
    encoder = embeddings(leaves)
    taken, computed = [], []
    for _ in session.track(range(RUNS), "merge"):
        started, busy = time.perf_counter(), time.process_time()
        snapshot = merge(leaves, encoder, SerialExecutor())
        taken.append(time.perf_counter() - started)
        computed.append(time.process_time() - busy)
    merged = snapshot.compendium
    session.notes["merge"] = {
        "runs_s": [round(value, 3) for value in taken],
        "runs_cpu_s": [round(value, 3) for value in computed],
        "tools": len(merged.tools),
        "said": scenarios,
        "clusters": len(merged.scenarios) + len(merged.precautions),
        "conflicts": len(snapshot.conflicts),
        "embeddings": encoder.fingerprint,
        "executor": "serial",
    }
    return {f"merge_s/{scenarios}": median(taken)}


def same_bytes(session: Session) -> Figures:
    """1 where merges in other arrival orders, by a process pool, and in a fresh process, give equal bytes."""
    from compendia.aggregator.executor import ProcessExecutor, SerialExecutor

    seed, scenarios = session.options.seed, session.options.limit or SCENARIOS
    leaves = contributions(seed, scenarios)
    encoder = embeddings(leaves)
    shuffled = random.Random(seed).sample(leaves, len(leaves))
    found = {
        "in order": digest(merge(leaves, encoder, SerialExecutor())),
        "shuffled": digest(merge(shuffled, encoder, SerialExecutor())),
        "another process": _digest_elsewhere(seed, scenarios),
    }
    with ProcessExecutor(2) as pool:
        found["reversed, in a pool of processes"] = digest(merge(leaves[::-1], encoder, pool))
    session.notes["merge_digests"] = found
    return {"merge_same_bytes": int(len(set(found.values())) == 1)}


def _digest_elsewhere(seed: int, scenarios: int) -> str:
    # Another hash seed, so that an order which leans on a set's would show.
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    command = [sys.executable, "-m", __name__, json.dumps({"seed": seed, "scenarios": scenarios})]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    if done.returncode:
        raise error(ErrorCode.INTERNAL, f"the merge elsewhere failed: {done.stderr[-500:]}", "merge")
    return done.stdout.strip()


def main(arguments: str) -> str:
    """The digest of one merge in the reverse order of arrival; `arguments`: JSON of seed and scenarios."""
    from compendia.aggregator.executor import SerialExecutor

    leaves = contributions(**json.loads(arguments))[::-1]
    return digest(merge(leaves, embeddings(leaves), SerialExecutor()))


if __name__ == "__main__":
    sys.stdout.write(main(sys.argv[1]) + "\n")
