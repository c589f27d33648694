"""Arguments come from the query, a template, the default; what nobody said is missing, never invented."""

from __future__ import annotations

from typing import Any

import pytest
from harbour import FERRY, MONEY, PARCEL, SOIL, TIDES, TOOLS

from compendia.contract import CallTemplate, Endpoint, Parameter
from compendia.router.arguments import fill_arguments, lacking
from compendia.router.understand import values

CROSSING = {"from_port": ("Turku", "query"), "to_port": ("Visby", "query")}
ENDPOINTS = {tool.id: tool.endpoints[0] for tool in TOOLS if tool.endpoints}


def _endpoint(**types: str) -> Endpoint:
    """An endpoint that requires parameters of these types."""
    made = tuple(Parameter.model_validate({"name": n, "type": t, "required": True}) for n, t in types.items())
    return Endpoint(name="get", parameters=made)


def _filled(endpoint: Endpoint, text: str, **more: Any) -> dict[str, tuple[object, str]]:
    return {a.name: (a.value, a.source) for a in fill_arguments(endpoint, text, values(text), **more)}


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        (TIDES, "Tide in visby on 3 May 2026", {"port": ("Visby", "query"), "date": ("2026-05-03", "query")}),
        (TIDES, "High water somewhere", {"port": (None, "missing"), "date": (None, "missing")}),
        (
            TIDES,
            "Mean level at Turku",
            {"port": ("Turku", "query"), "date": (None, "missing"), "datum": ("mean", "query")},
        ),
        (FERRY, "Ferry from Turku to Visby", CROSSING),
        (FERRY, "Ferry to Visby from Turku", CROSSING),
        (
            MONEY,
            "How much is 2,400 EUR in SEK?",
            {"amount": (2400, "query"), "from_currency": ("EUR", "query"), "to_currency": ("SEK", "query")},
        ),
        (SOIL, "Soil at Uppsala at 30 cm", {"place": ("Uppsala", "query"), "depth": (30, "query")}),
        (SOIL, "Soil at Uppsala at 30 km", {"place": ("Uppsala", "query"), "depth": (None, "missing")}),
        (PARCEL, "Where is KO774120093PL?", {"tracking_number": ("KO774120093PL", "query")}),
    ],
)  # fmt: skip
def test_values_find_their_parameter(tool: str, text: str, expected: dict[str, object]) -> None:
    assert _filled(ENDPOINTS[tool], text) == expected


def test_an_alias_stands_for_an_enum_value() -> None:
    found = _filled(ENDPOINTS[TIDES], "图尔库2026年5月3日的潮汐", aliases=["Turku=图尔库"])
    assert found == {"port": ("Turku", "query"), "date": ("2026-05-03", "query")}


def test_templates_give_words_but_no_placeholders() -> None:
    template = CallTemplate(
        tool=PARCEL, endpoint="track", arguments={"tracking_number": "<ID>", "detail": "short", "gone": "x"}
    )
    found = _filled(ENDPOINTS[PARCEL], "Where is it?", templates=[template])
    assert found == {"tracking_number": (None, "missing"), "detail": ("short", "template")}


def test_a_template_cannot_leave_the_enum() -> None:
    template = CallTemplate(tool=PARCEL, endpoint="track", arguments={"detail": "gossip"})
    assert "detail" not in _filled(ENDPOINTS[PARCEL], "Where is it?", templates=[template])


def test_required_defaults_are_used_and_bounds_are_kept() -> None:
    endpoint = Endpoint(
        name="e",
        parameters=(
            Parameter(name="page", type="integer", required=True, default=1),
            Parameter(name="share", type="number", required=True, json_schema={"maximum": 1}),
        ),
    )
    assert _filled(endpoint, "a share of 7") == {"page": (1, "default"), "share": (None, "missing")}
    assert _filled(endpoint, "a share of 0.5") == {"page": (1, "default"), "share": (0.5, "query")}


def test_one_value_serves_one_parameter() -> None:
    endpoint = Endpoint(
        name="e",
        parameters=(
            Parameter(name="width", type="integer", required=True),
            Parameter(name="height", type="integer", required=True),
        ),
    )
    found = _filled(endpoint, "a box of width 3")
    assert found == {"width": (3, "query"), "height": (None, "missing")}


@pytest.mark.parametrize(
    ("tools", "text", "count"),
    [
        ([TIDES], "High water somewhere", 2),
        ([TIDES], "High water at Turku", 1),
        ([TIDES], "High water at <TEXT> somewhere", 1),
        ([TIDES], "High water at Turku on <DATE>", 0),
        ([TIDES], "High water at Turku next Friday", 0),
        ([TIDES], "明天 Turku 的高潮是什么时候", 0),
        ([TIDES], "High water next Friday", 1),
        ([TIDES, FERRY], "High water at Turku", 1),
        ([FERRY], "Ferry from Turku to Visby", 0),
        ([], "High water", 0),
    ],
)
def test_what_a_request_lacks_for_the_endpoint_that_needs_least(
    tools: list[str], text: str, count: int
) -> None:
    assert lacking([ENDPOINTS[tool] for tool in tools], text, values(text)) == count


@pytest.mark.parametrize("day", ["tomorrow", "on Monday", "next Friday", "on 3 May", "on May 3rd"])
def test_a_day_without_a_year_is_neither_made_up_nor_taken_for_a_place(day: str) -> None:
    endpoint = _endpoint(city="string", date="string")
    missing = (None, "missing")
    assert _filled(endpoint, f"how warm is it {day}") == {"city": missing, "date": missing}


def test_a_placeholder_is_one_value_and_what_no_text_can_give_is_lacking_as_in_a_plan() -> None:
    hidden = "weather in <TEXT>"
    assert lacking([_endpoint(city="string", date="string")], hidden, values(hidden)) == 1
    assert lacking([_endpoint(city="string")], hidden, values(hidden)) == 0
    both = _endpoint(items="array", urgent="boolean")
    planned = fill_arguments(both, "order it", values("order it"))
    assert lacking([both], "order it", values("order it")) == 2 == sum(a.source == "missing" for a in planned)
    assert lacking([], "anything", ()) == 0
