"""A synthetic tool catalogue of any size, pure and seeded: for speed, never for accuracy.

Believable in what costs time: texts of realistic length and vocabulary overlap, tools that several
organizations share, requests that paraphrase each other, some of them contradicted by a precaution.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from compendia.contract import (
    CallTemplate,
    Compendium,
    Endpoint,
    Parameter,
    Precaution,
    ResponseField,
    Scenario,
    ToolMetadata,
    Usage,
    Window,
)

ACTIONS = [
    "list",
    "find",
    "fetch",
    "convert",
    "compare",
    "track",
    "estimate",
    "translate",
    "summarise",
    "schedule",
    "book",
    "cancel",
    "validate",
    "render",
    "resolve",
    "monitor",
    "forecast",
    "classify",
    "extract",
    "upload",
    "share",
    "rank",
    "audit",
    "reconcile",
]
THINGS = [
    "invoice",
    "parcel",
    "flight",
    "recipe",
    "concert",
    "molecule",
    "patent",
    "stock",
    "currency",
    "timetable",
    "parking",
    "permit",
    "podcast",
    "playlist",
    "sensor",
    "turbine",
    "warehouse",
    "passport",
    "prescription",
    "mortgage",
    "auction",
    "domain",
    "certificate",
    "satellite",
    "glacier",
    "vineyard",
    "ferry",
    "marathon",
    "museum",
    "crossword",
    "tide",
    "bridge",
    "orchard",
    "library",
    "donation",
    "subtitle",
    "fossil",
    "genome",
    "tram",
    "harvest",
    "pension",
    "lighthouse",
    "comet",
    "telescope",
    "kiln",
    "aquifer",
]
QUALITIES = [
    "daily",
    "regional",
    "historical",
    "certified",
    "nearby",
    "seasonal",
    "archived",
    "refundable",
    "verified",
    "encrypted",
    "multilingual",
    "wholesale",
    "municipal",
    "overdue",
    "experimental",
    "public",
    "premium",
    "draft",
    "live",
    "cached",
]
PLACES = [
    "Lisbon",
    "Tromso",
    "Nairobi",
    "Kyoto",
    "Cusco",
    "Hobart",
    "Tallinn",
    "Accra",
    "Winnipeg",
    "Izmir",
    "Da-Nang",
    "Graz",
    "Oaxaca",
    "Leuven",
    "Bergen",
    "Pune",
    "Valdivia",
    "Gdansk",
    "Perth",
    "Fez",
]
FIELDS = [
    "id",
    "name",
    "status",
    "price",
    "amount",
    "region",
    "created_at",
    "updated_at",
    "owner",
    "unit",
    "currency",
    "score",
    "url",
    "count",
]
OPENERS = (
    "I need to {a} the {q} {t} records for {p}.",
    "Could you {a} every {q} {t} near {p} before <DATE>?",
    "Please {a} a {q} {t} in {p} and tell me its {f}.",
    "Our team in {p} wants to {a} the {t} whose {f} changed, {q} ones only.",
    "What is the best way to {a} the {q} {t} of {p} by {f}?",
)
WINDOW = Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z")
PARAPHRASE_SHARE = 0.3  # of the requests, how many repeat another organization's in other words
COMMON_REQUESTS = 6  # what several organizations ask of one tool
PRECAUTION_SHARE = 0.08


def tool(seed: int, number: int) -> ToolMetadata:
    """The catalogue's tool of this number: the same whoever asks, so that organizations meet in it."""
    draw = random.Random(f"{seed}/tool/{number}")
    thing, quality = draw.choice(THINGS), draw.choice(QUALITIES)
    endpoints = []
    for index, action in enumerate(draw.sample(ACTIONS, draw.randint(1, 5))):
        endpoints.append(
            Endpoint(
                name=f"{action}_{thing}_{index}",
                title=f"{action}{thing.title()}",
                description=_sentence(draw, action, quality, thing),
                method=draw.choice(("GET", "POST")),
                path=f"/{thing}s/{action}",
                parameters=tuple(
                    Parameter(
                        name=name,
                        type="string",
                        required=draw.random() < 0.4,
                        description=f"the {thing}'s {name}",
                    )
                    for name in draw.sample(FIELDS, draw.randint(1, 4))
                ),
                response_fields=tuple(
                    ResponseField(path=f"data[].{name}", type="string") for name in draw.sample(FIELDS, 6)
                ),
            )
        )
    return ToolMetadata(
        id=f"provider{number % 97}/{thing}s/{quality}_{thing}_{number}",
        title=f"{quality.title()} {thing.title()} {number}",
        description=_sentence(draw, draw.choice(ACTIONS), quality, thing),
        category=thing,
        endpoints=tuple(endpoints),
    )


def requests(seed: int, number: int, org: str, count: int) -> Iterator[str]:
    """Requests for a tool as one organization masked them; some are paraphrases of what others also ask."""
    shared, own = random.Random(f"{seed}/shared/{number}"), random.Random(f"{seed}/{org}/{number}")
    thing = random.Random(f"{seed}/tool/{number}").choice(THINGS)
    common = [_request(shared, thing) for _ in range(COMMON_REQUESTS)]
    for _ in range(count):
        if own.random() < PARAPHRASE_SHARE:
            words = own.choice(common).split()
            yield " ".join([own.choice(("Hi,", "Hello,", "Today", "Again:")), *words])
        else:
            yield _request(own, thing)


def popularity(seed: int, number: int) -> float:
    """How much a tool is used next to others: a few very much, most hardly (Pareto, capped)."""
    return min(random.Random(f"{seed}/popularity/{number}").paretovariate(1.1), 100.0)


def contribution(seed: int, org: str, tools: range, scenarios: int) -> Compendium:
    """One organization's compendium: `scenarios` requests, spread over its tools by their popularity.

    A share of them are precautions instead (`PRECAUTION_SHARE`), of the same wording as other
    organizations' scenarios, so that stances really are disputed.
    """
    numbers = list(tools)
    made = {number: tool(seed, number) for number in numbers}
    draw = random.Random(f"{seed}/{org}")
    found: dict[tuple[str, str], Scenario | Precaution] = {}
    weights = [popularity(seed, number) for number in numbers]
    total, passed, given = sum(weights), 0.0, 0
    for number, weight in zip(numbers, weights, strict=True):
        passed += weight
        share = round(scenarios * passed / total) - given
        given += share
        asked = requests(seed, number, org, share * 4 + 8)
        taken = 0
        for text in asked:
            key = (made[number].id, text)
            if taken == share or key in found:
                continue
            taken += 1
            if draw.random() < PRECAUTION_SHARE:
                found[key] = Precaution(tool=key[0], text=text, evidence="answered with HTTP <NUMBER>")
            else:
                endpoint = draw.choice(made[number].endpoints).name
                found[key] = Scenario(tool=key[0], text=text, endpoint=endpoint, count=draw.randint(1, 9))
    used = list(found.values())
    return Compendium(
        org=org,
        window=WINDOW,
        tools=tuple(made.values()),
        usage=tuple(
            Usage(tool=t.id, successes=draw.randint(0, 400), failures=draw.randint(0, 40))
            for t in made.values()
        ),
        scenarios=tuple(entry for entry in used if isinstance(entry, Scenario)),
        precautions=tuple(entry for entry in used if isinstance(entry, Precaution)),
        templates=tuple(_template(t) for t in made.values()),
    )


def _template(made: ToolMetadata) -> CallTemplate:
    endpoint = made.endpoints[0]
    return CallTemplate(
        tool=made.id, endpoint=endpoint.name, arguments={p.name: "<TEXT>" for p in endpoint.parameters}
    )


def _request(draw: random.Random, thing: str) -> str:
    return draw.choice(OPENERS).format(
        a=draw.choice(ACTIONS),
        q=draw.choice(QUALITIES),
        t=thing,
        p=draw.choice(PLACES),
        f=draw.choice(FIELDS),
    )


def _sentence(draw: random.Random, action: str, quality: str, thing: str) -> str:
    other = draw.sample(THINGS, 2)
    return (
        f"{action.title()} {quality} {thing} data by {draw.choice(FIELDS)} and {draw.choice(FIELDS)}; covers "
        f"{draw.choice(PLACES)} and {draw.choice(PLACES)}, with links to each {other[0]} and {other[1]}."
    )
