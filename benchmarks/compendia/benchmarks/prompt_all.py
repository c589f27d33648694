"""Prompt-all: the LLM is shown every tool, and nothing is retrieved.

In the Synapse paper a hosted model reads all tools in one prompt. The small local one cannot choose among
hundreds, so here it ranks the card of every tool by how much that card makes the query likelier, the score
by which it reranks. It reads documentation alone, as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from compendia.contract import ToolMetadata

from .benchmark import Session
from .datasets import Query
from .evaluation import Evaluation, K, keep
from .metrics import distinct
from .reranking import local_reranker

ARM = "prompt-all"
CARDS_AT_ONCE = 32
"""One pass over 199 cards takes up to half as long again as passes of so many; the scores are the same."""


def prompt_all(
    session: Session,
    log: str,
    tools: Sequence[ToolMetadata],
    names: Mapping[str, str],
    queries: Sequence[Query],
) -> Evaluation:
    """The tools under whose cards each query is likeliest, kept in a log of that name.

    names: tool id to judged name. Scores are kept by (model, card, query): a run that was stopped goes on
    where it was.
    """
    from compendia.router.render import render_card
    from compendia.router.rerank import permutation

    reranker = local_reranker(session)
    cards = [render_card(tool) for tool in tools]
    judged = [names[tool.id] for tool in tools]
    rankings = []
    for query in session.track(queries, f"{log} with the local LLM"):
        parts = [
            reranker.score(query.text.strip(), cards[start : start + CARDS_AT_ONCE])
            for start in range(0, len(cards), CARDS_AT_ONCE)
        ]
        rankings.append(distinct([judged[place] for place in permutation(np.concatenate(parts))], K))
    return keep(session, log, Evaluation(queries, rankings))
