"""Every system that a split can be asked under: ours by how experience travels, and the plain arms.

`federated` is what the project offers; `local-only` and `local-own` answer once per client.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compendia.contract import ErrorCode, Snapshot, error

from .arms import ARMS, DOCUMENTATION_ARMS, material, rank_all
from .benchmark import Session
from .datasets import Query
from .evaluation import Evaluation, K, ask_all, keep
from .metrics import mean
from .snapshots import centralized, docs_only, federated, local_only
from .splits import Split

if TYPE_CHECKING:
    from compendia.text.encode import Encoder

FEDERATED = "federated"
LOCAL = ("local-only", "local-own")
ROUTER_ARMS = (FEDERATED, "centralized", "docs-only", *LOCAL)
PLAIN_ARMS = ("paper", "svm", *DOCUMENTATION_ARMS)


def answers(
    session: Session,
    split: Split,
    arm: str,
    queries: Sequence[Query],
    encoder: Encoder,
    log: str,
) -> tuple[Evaluation, ...]:
    """What a system answers, kept in logs of that name: one evaluation, or one per client. Raises USAGE."""
    if arm in ARMS:
        texts = [query.text for query in queries]
        rankings = rank_all(arm, material(split), texts, encoder, K)
        return (keep(session, log, Evaluation(queries, rankings)),)
    from compendia.router.route import Router

    found = []
    for mark, snapshot in snapshots_of(split, arm, encoder):
        router = Router(snapshot, encoder)
        found.append(ask_all(session, log + mark, router, split.names, queries))
    return tuple(found)


def snapshots_of(split: Split, arm: str, encoder: Encoder) -> list[tuple[str, Snapshot]]:
    """The snapshots that an arm's routers serve, each with what tells its log from the others."""
    match arm:
        case "federated":
            return [("", federated(split, encoder))]
        case "centralized":
            return [("", centralized(split, encoder.fingerprint))]
        case "docs-only":
            return [("", docs_only(split, encoder.fingerprint))]
        case "local-only" | "local-own":
            own = arm == "local-own"
            return [
                (f"_{client}", local_only(split, client, encoder, own_tools=own))
                for client in sorted(split.holdings)
            ]
    raise unknown_arm(arm, (*ROUTER_ARMS, *PLAIN_ARMS))


def unknown_arm(arm: str, known: Sequence[str]) -> Exception:
    """The error for an arm that a benchmark does not have."""
    return error(ErrorCode.USAGE, f"there is no arm {arm!r}", "--arm", f"use one of all, {', '.join(known)}")


def chosen(arms: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The arms asked for, `all` being every one, each once. Raises USAGE for one that does not exist."""
    if "all" in arms:
        return tuple(known)
    for arm in arms:
        if arm not in known:
            raise unknown_arm(arm, known)
    return tuple(dict.fromkeys(arms))


def mean_figures(evaluations: Sequence[Evaluation]) -> dict[str, float]:
    """The figures of one system; of several clients, their mean."""
    each = [evaluation.figures() for evaluation in evaluations]
    return {key: mean([figures[key] for figures in each]) for key in each[0]}
