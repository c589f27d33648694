"""Why a query is routed as it is: what each feature added for every candidate, from the plan alone.

A plan carries its rankings, so an explanation can be made wherever the plan has arrived.
"""

from __future__ import annotations

from typing import Any

from compendia.contract import Candidate, Ranking, ToolPlan


def explanation(plan: ToolPlan) -> dict[str, Any]:
    """One document: for every part of the query the winner and the candidates that lost, best first.

    Contributions are weight x feature and add up to the score, which is retrieval's; `behind` is the distance
    to the winner's score, negative where the reranker put a lower score first.
    """
    parts = [step.part for step in plan.steps] or [plan.query]
    return {
        "query": plan.query,
        "revision": plan.revision,
        "abstained": plan.abstained,
        "why": plan.why,
        "parts": [_part(part, ranking) for part, ranking in zip(parts, plan.rankings, strict=True)],
        "steps": [
            {
                "tool": step.tool,
                "endpoint": step.endpoint,
                "reasons": list(step.reasons),
                "precautions": list(step.precautions),
            }
            for step in plan.steps
        ],
    }


def _part(part: str, ranking: Ranking) -> dict[str, Any]:
    return {
        "part": part,
        "evidence": ranking.best_evidence,
        "threshold": ranking.threshold,
        "weights": ranking.weights,
        "candidates": [_lost(candidate, ranking) for candidate in ranking.candidates],
    }


def _lost(candidate: Candidate, ranking: Ranking) -> dict[str, Any]:
    winner, weights = ranking.candidates[0], ranking.weights
    return {
        "tool": candidate.tool,
        "score": candidate.score,
        "behind": round(winner.score - candidate.score, 5),
        "rerank_score": candidate.rerank_score,
        "contributions": {
            name: round(weights[name] * value, 5)
            for name, value in candidate.features.items()
            if name in weights
        },
        "features": candidate.features,
    }
