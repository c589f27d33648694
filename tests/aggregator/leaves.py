"""Contributions for the merge tests: hand-written ones, and a hypothesis strategy over a small vocabulary."""

import hashlib
from collections.abc import Sequence

from hypothesis import strategies as st

from compendia.aggregator.view import Contribution
from compendia.contract import (
    Annex,
    CallTemplate,
    Compendium,
    Endpoint,
    Parameter,
    Precaution,
    Provenance,
    ResponseField,
    Scenario,
    SchemaDefinition,
    ToolMetadata,
    Usage,
    Window,
)
from compendia.contract.document import check, dumps

MONTHS = ("2026-01", "2026-02", "2026-03", "2026-04")
TOOLS = ("acme/weather/forecast", "acme/weather/history", "globex/money/convert")
TEXTS = (
    "weather in <TEXT> tomorrow",
    "weather in <TEXT> tomorrow?",
    "temperature last <DATE>",
    "convert <NUMBER> euro to dollar",
    "обменять <NUMBER> евро",
)
ORGS = ("ada", "bee", "cyd", "dot")


def window(month: int) -> Window:
    """The month of that number, 1 for January: windows of different rounds are disjoint."""
    return Window(start=f"{MONTHS[month - 1]}-01T00:00:00Z", end=f"{MONTHS[month]}-01T00:00:00Z")


def leaf(org: str, round: int = 1, **sections: object) -> Contribution:
    """A valid contribution whose digest is that of its document; its window is that of its round."""
    compendium = Compendium(org=org, window=window(round)).model_copy(update=sections)
    check(compendium)
    mark = hashlib.sha256(dumps(compendium).encode()).hexdigest()
    return Contribution(org, round, mark, compendium)


def tool(id: str, description: str = "Tells things.", **more: object) -> ToolMetadata:
    endpoint = Endpoint(
        name="call",
        title="Call",
        parameters=(Parameter(name="place", type="string", required=True),),
        response_fields=(ResponseField(path="value", type="number", unit="K"),),
    )
    return ToolMetadata(
        id=id, title=id.rpartition("/")[2], description=description, endpoints=(endpoint,)
    ).model_copy(update=more)


_counts = st.integers(0, 5)
_some_text = st.sampled_from(TEXTS)


@st.composite
def tools(draw: st.DrawFn, id: str) -> ToolMetadata:
    schema = draw(st.sampled_from([None, {"$ref": "acme/weather/place"}]))
    endpoint = Endpoint(
        name="call",
        parameters=tuple(
            Parameter(
                name=name,
                type=draw(st.sampled_from(["string", "number", "any"])),
                required=draw(st.booleans()),
                json_schema=schema,
            )
            for name in draw(st.lists(st.sampled_from(["place", "day", "unit"]), unique=True))
        ),
        response_fields=tuple(
            ResponseField(path=path, unit=draw(st.sampled_from(["", "K", "C"])), licences=draw(_licences))
            for path in draw(st.lists(st.sampled_from(["value", "station.id"]), unique=True))
        ),
    )
    return ToolMetadata(
        id=id,
        description=draw(st.sampled_from(["", "Tells the weather.", "Tells anything."])),
        endpoints=(endpoint,),
        licences=draw(_licences),
        provenance=draw(
            st.sampled_from([(), (Provenance(origin="A"),), (Provenance(origin="B", version="2"),)])
        ),
    )


_licences = st.lists(st.sampled_from(["MIT", "CC-BY-4.0", "custom:Acme"]), unique=True, max_size=2).map(
    lambda found: tuple(sorted(found))
)


@st.composite
def leaves(draw: st.DrawFn, org: str, round: int) -> Contribution:
    names = draw(st.lists(st.sampled_from(TOOLS), unique=True, min_size=1))
    pairs = st.lists(st.tuples(st.sampled_from(names), _some_text), unique=True, max_size=6)
    return leaf(
        org,
        round,
        definitions=(
            SchemaDefinition(
                id="acme/weather/place", body={"type": draw(st.sampled_from(["string", "object"]))}
            ),
        ),
        tools=tuple(draw(tools(name)) for name in names),
        usage=tuple(Usage(tool=name, successes=draw(_counts), failures=draw(_counts)) for name in names),
        scenarios=tuple(
            Scenario(tool=n, text=t, count=draw(_counts), endpoint="call") for n, t in draw(pairs)
        ),
        precautions=tuple(
            Precaution(tool=n, text=t, count=draw(_counts), severity=draw(st.sampled_from([1, 2, 3])))
            for n, t in draw(pairs)
        ),
        templates=tuple(
            CallTemplate(tool=name, endpoint="call", arguments={"place": "<TEXT>"}, count=draw(_counts))
            for name in names
        ),
        annex=tuple(
            Annex(tool=name, key="region", value=draw(st.sampled_from(["EU", "US"]))) for name in names
        ),
    )


@st.composite
def rounds_of_leaves(draw: st.DrawFn) -> Sequence[Contribution]:
    """Up to four organizations over up to two rounds, at least one contribution."""
    slots = [(org, number) for org in ORGS for number in (1, 2)]
    chosen = draw(st.lists(st.sampled_from(slots), unique=True, min_size=1, max_size=5))
    return [draw(leaves(org, number)) for org, number in chosen]
