"""Field projection: identifiers, concepts, groups; everything where the request names nothing."""

from __future__ import annotations

from harbour import SOIL, TIDES, TOOLS
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import Endpoint, ResponseField
from compendia.router.project import project, source_types

ENDPOINTS = {tool.id: tool.endpoints[0] for tool in TOOLS if tool.endpoints}


def _kept(endpoint: Endpoint, text: str, aliases: tuple[str, ...] = ()) -> dict[str, str]:
    return {field.path: field.why for field in project(endpoint, text, aliases)}


def test_a_named_concept_brings_its_group_and_the_identifiers() -> None:
    assert _kept(ENDPOINTS[TIDES], "the water level at Visby") == {
        "station_id": "identifier",
        "events[].time": "group",
        "events[].height": "concept",
    }


def test_a_concept_alias_of_the_tool_counts() -> None:
    kept = _kept(ENDPOINTS[TIDES], "潮高", ("height=潮高",))
    assert kept["events[].height"] == "concept"


def test_an_unclear_request_keeps_every_field() -> None:
    kept = _kept(ENDPOINTS[TIDES], "what about tomorrow?")
    assert set(kept.values()) == {"identifier", "all"}
    assert len(kept) == len(ENDPOINTS[TIDES].response_fields)


def test_a_source_that_is_asked_for_leaves_out_the_others() -> None:
    assert set(_kept(ENDPOINTS[SOIL], "measured moisture")) == {"moisture"}
    assert "forecast_moisture" not in _kept(ENDPOINTS[SOIL], "anything measured")
    assert source_types("published or experimental values") == {"literature", "experimental"}


def test_a_named_structure_brings_what_is_in_it() -> None:
    endpoint = Endpoint(
        name="e",
        response_fields=(
            ResponseField(path="address", type="object"),
            ResponseField(path="address.city"),
            ResponseField(path="addressee"),
        ),
    )
    assert _kept(endpoint, "the address please") == {"address": "concept", "address.city": "concept"}


def test_units_licences_and_meaning_are_carried() -> None:
    height = next(f for f in project(ENDPOINTS[TIDES], "height") if f.path == "events[].height")
    assert (height.unit, height.licences, height.source_type) == ("m", ("CC-BY-4.0",), "measured")


@given(st.text(max_size=80))
def test_only_declared_fields_each_once_in_order(text: str) -> None:
    for endpoint in ENDPOINTS.values():
        declared = [field.path for field in endpoint.response_fields]
        kept = [field.path for field in project(endpoint, text)]
        assert kept == [path for path in declared if path in kept]
        assert kept or not declared
