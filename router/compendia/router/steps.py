"""From a chosen tool to a planned step: its endpoint, arguments, fields, what to beware of, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compendia.contract import (
    Candidate,
    Endpoint,
    PlannedArgument,
    PlannedStep,
    Ranking,
    Scenario,
    ToolMetadata,
)
from compendia.text.encode import Encoder

from .arguments import fill_arguments
from .calibrate import relative
from .documents import endpoint_document, endpoint_title, tool_title
from .experience import Entry
from .project import project
from .query import EncodedQuery
from .retrieve import Revision
from .vectors import Scores, Vectors
from .weights import NEAR

BEWARE = 0.4
"""From which relative similarity on a warning is shown: earlier than it costs."""

USED, MISSED = 1.0, 1.5
"""What a value of the request that an endpoint takes, and a value that it misses, count in the choice."""

ALWAYS_SHOWN = frozenset({"deprecated", "unsafe"})


def plan_step(
    revision: Revision, encoder: Encoder, part: EncodedQuery, ranking: Ranking, tool_id: str
) -> PlannedStep | None:
    """The step by which a tool answers a part of the query; None for a tool without endpoints."""
    tool = revision.tool(tool_id)
    if not tool.endpoints:
        return None
    aliases = revision.aliases.get(tool_id, [])
    endpoint, arguments = choose_endpoint(revision, encoder, part, tool)
    return PlannedStep(
        tool=tool_id,
        endpoint=endpoint.name,
        title=endpoint.title,
        method=endpoint.method,
        path=endpoint.path,
        part=part.text,
        arguments=arguments,
        fields=project(endpoint, part.text, aliases),
        precautions=warnings(revision, part, tool),
        licences=tool.licences,
        provenance=tool.provenance,
        reasons=reasons(revision, part, ranking, tool, endpoint),
    )


def choose_endpoint(
    revision: Revision, encoder: Encoder, part: EncodedQuery, tool: ToolMetadata
) -> tuple[Endpoint, tuple[PlannedArgument, ...]]:
    """The endpoint that a request asks for, and its arguments.

    By words, by what worked for near requests, and by whether the request holds what it needs; by meaning
    where words tell the endpoints not apart, as in another language. Meaning beside words chose no
    better (0.616 to 0.624 of 250 ToolBench G3 decisions), and ten endpoints take longer to encode than
    everything else that a query needs.
    """
    aliases = revision.aliases.get(tool.id, [])
    filled = [
        fill_arguments(
            endpoint, part.text, part.values, revision.templates_of(tool.id, endpoint.name), aliases
        )
        for endpoint in tool.endpoints
    ]
    if len(filled) == 1:
        return tool.endpoints[0], filled[0]
    words = revision.index.lexical.texts_of_owner(part.tokens, revision.index.row[tool.id])
    meaning = (
        np.zeros_like(words) if words.any() else _endpoint_vectors(revision, encoder, tool) @ part.vector
    )
    worked = np.zeros(len(filled))
    for entry, closeness in near(revision, part, tool)[0]:
        for at, endpoint in enumerate(tool.endpoints):
            if isinstance(entry.record, Scenario) and entry.record.endpoint == endpoint.name:
                worked[at] = max(worked[at], closeness - NEAR)
    fit = np.asarray([_fit(arguments) for arguments in filled])
    scores = _standardized(meaning) + 2.0 * _standardized(words) + 12.0 * worked + fit
    best = int(np.argmax(np.round(scores, 5)))
    return tool.endpoints[best], filled[best]


def _fit(arguments: Sequence[PlannedArgument]) -> float:
    """What the request says that the endpoint can use, less what it needs and is not told."""
    told = sum(argument.source == "query" for argument in arguments)
    missing = sum(argument.required and argument.source == "missing" for argument in arguments)
    return USED * told - MISSED * missing


def near(
    revision: Revision, part: EncodedQuery, tool: ToolMetadata, k: int = 3
) -> tuple[list[tuple[Entry, float]], ...]:
    """The k scenarios, precautions and disputes of a tool nearest to a request, with relative similarity."""
    row = revision.index.row[tool.id]
    level = revision.background.level(part.masked_vector, part.masked)
    return tuple(
        [
            (entry, round(float(relative(cosine, level)), 5))
            for entry, cosine in part_of.of_tool(part.masked_vector, row, k)
        ]
        for part_of in (revision.index.scenarios, revision.index.precautions, revision.index.disputes)
    )


def warnings(revision: Revision, part: EncodedQuery, tool: ToolMetadata) -> tuple[str, ...]:
    """What whoever runs the step has to know: warnings near the request, what is deprecated or unsafe at any
    request, and licences about which the organizations disagree."""
    _, precautions, disputes = near(revision, part, tool, k=8)
    disputed = {entry.text for entry, _ in disputes}
    shown = [
        entry.warning
        for entry, closeness in (*(p for p in precautions if p[0].text not in disputed), *disputes)
        if closeness >= BEWARE or getattr(entry.record, "kind", "") in ALWAYS_SHOWN
    ]
    shown += [conflict.do_not_use_when() for conflict in revision.licence_disputes.get(tool.id, [])]
    return tuple(dict.fromkeys(shown))


def reasons(
    revision: Revision, part: EncodedQuery, ranking: Ranking, tool: ToolMetadata, endpoint: Endpoint
) -> tuple[str, ...]:
    """Why this tool, in sentences for a person."""
    chosen = next(c for c in ranking.candidates if c.tool == tool.id)
    told = [_documentation(chosen)]
    scenarios, precautions, disputes = near(revision, part, tool, k=1)
    for entry, closeness in scenarios:
        if closeness >= NEAR:
            told.append(f"It worked for a near request: {entry.text!r}{_voices(entry)}.")
    usage = revision.usage.get(tool.id)
    if usage is not None and (calls := max(0, usage.successes) + max(0, usage.failures)):
        told.append(f"{max(0, usage.successes)} of about {calls} known calls succeeded.")
    if any(closeness >= NEAR for _, closeness in (*precautions, *disputes)):
        told.append("A warning lies near the request and counted against it, but no other tool fits better.")
    if len(tool.endpoints) > 1:
        told.append(f"Of its {len(tool.endpoints)} endpoints, {endpoint_title(endpoint)!r} fits best.")
    rival = next((c for c in ranking.candidates if c.tool != tool.id), None)
    if rival is not None:
        name = tool_title(revision.tool(rival.tool))
        told.append(f"The next best is {name} ({rival.tool}), {_gap(chosen, rival)}.")
    return tuple(told)


def _documentation(chosen: Candidate) -> str:
    meaning = chosen.features["description_meaning"]
    words = chosen.features["description_words"]
    if meaning == 0 and words == 0:
        return "It is the only tool that the documentation can tell apart for this request."
    in_words = f"{words:+.1f} in words" if words else "its words tell nothing"
    return f"Its documentation lies {meaning:+.1f} deviations above the average rival in meaning, {in_words}."


def _voices(entry: Entry) -> str:
    support = getattr(entry.record, "support", None)
    return f" ({support} organization{'s' if support != 1 else ''})" if support else ""


def _gap(chosen: Candidate, rival: Candidate) -> str:
    behind = chosen.score - rival.score
    return f"{behind:.2f} behind" if behind >= 0 else f"ahead by {-behind:.2f} before the reranker"


def _endpoint_vectors(revision: Revision, encoder: Encoder, tool: ToolMetadata) -> Vectors:
    # Encoded when first needed: most endpoints of a large catalog are never asked for.
    if tool.id not in revision.endpoint_vectors:
        texts = [endpoint_document(tool, endpoint) for endpoint in tool.endpoints]
        revision.endpoint_vectors[tool.id] = encoder.encode_documents(texts)
    return revision.endpoint_vectors[tool.id]


def _standardized(scores: Scores) -> Scores:
    deviation = float(scores.std())
    return (scores - scores.mean()) / deviation if deviation > 1e-6 else np.zeros_like(scores)
