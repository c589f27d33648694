"""Client build: what experience becomes, what it must not become, and whom a name means."""

from __future__ import annotations

import random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compendia.client.build import build, combine, masked_text
from compendia.client.experience import Outcome
from compendia.contract import (
    Annex,
    CallTemplate,
    CompendiaError,
    Compendium,
    Endpoint,
    ErrorCode,
    Parameter,
    Precaution,
    Scenario,
    ToolMetadata,
    Usage,
    Window,
)
from compendia.contract.compendium import MAX_TEXT
from compendia.contract.document import dumps

WINDOW = Window(start="2026-09-01T00:00:00Z", end="2026-10-01T00:00:00Z")
FERRY, FERRY_SEATS, TRAIN = (
    "sea.example/ferries/sailings",
    "sea.example/ferries/seats",
    "rail.example/trains/seats",
)


def _tool(id: str, title: str, *endpoints: Endpoint) -> ToolMetadata:
    return ToolMetadata(id=id, title=title, endpoints=endpoints or (Endpoint(name="call", title="Call It"),))


IMPORTED = Compendium(
    org="acme",
    tools=(
        _tool(
            FERRY,
            "Ferry Sailings",
            Endpoint(
                name="search",
                title="Search Sailings",
                parameters=(
                    Parameter(name="to", type="string", enum=("Turku", "Tallinn", 1)),
                    Parameter(name="seats", type="integer"),
                    Parameter(name="contact", type="string"),
                    Parameter(name="flexible", type="boolean"),
                    Parameter(
                        name="filter",
                        type="object",
                        json_schema={"properties": {"deck": {"type": "string"}, "tags": {"items": {}}}},
                    ),
                ),
            ),
            Endpoint(name="cancel"),
        ),
        _tool(FERRY_SEATS, "Seats"),
        _tool(TRAIN, "Seats"),
    ),
    annex=(Annex(tool=FERRY, key="concept_alias", value="harbour=port"),),
)


def _tried(
    query: str = "Ferry to Turku",
    outcome: Literal["success", "failure"] = "success",
    tool: str = FERRY,
    **more: Any,
) -> Outcome:
    return Outcome(query, tool, outcome, **{"endpoint": "search" if tool == FERRY else "", **more})


def _build(*outcomes: Outcome, **more: Any) -> Compendium:
    return build(IMPORTED, outcomes, window=WINDOW, **more)


def _problem(*outcomes: Outcome, **more: Any) -> tuple[ErrorCode, str, str]:
    with pytest.raises(CompendiaError) as caught:
        _build(*outcomes, **more)
    problem = caught.value.problems[0]
    return problem.code, problem.path, str(problem)


def test_every_tool_has_a_usage_row_used_or_not() -> None:
    made = _build(_tried(), _tried(outcome="failure"), _tried("again"))
    assert made.usage == (
        Usage(tool=TRAIN),
        Usage(tool=FERRY, successes=2, failures=1),
        Usage(tool=FERRY_SEATS),
    )
    assert made.window == WINDOW
    assert made.stage == "raw"


def test_no_experience_still_tells_nothing_by_its_absence() -> None:
    assert {usage.tool for usage in _build().usage} == {FERRY, FERRY_SEATS, TRAIN}


def test_equal_requests_after_masking_are_one_scenario() -> None:
    made = _build(_tried("Ferry on 2026-09-04"), _tried("Ferry  on 2026-09-11\n"), _tried("Ferry on Monday"))
    assert made.scenarios == (
        Scenario(tool=FERRY, text="Ferry on <DATE>", endpoint="search", count=2),
        Scenario(tool=FERRY, text="Ferry on Monday", endpoint="search"),
    )


def test_a_scenario_names_the_endpoint_most_often_used() -> None:
    made = _build(_tried(), _tried(endpoint="cancel"), _tried(endpoint="cancel"))
    assert [(s.endpoint, s.count) for s in made.scenarios] == [("cancel", 3)]


@pytest.mark.parametrize(
    ("comment", "kind", "severity"),
    [
        ("", "wrong_for", 1),
        ("knows ferries only, this was a train", "wrong_for", 1),
        ("endpoint is deprecated, use v2", "deprecated", 2),
        ("deleted the customer's booking", "unsafe", 3),
        ("429: rate limit reached", "limited", 1),
        ("timed out twice", "unreliable", 1),
        ("HTTP 503", "unreliable", 1),
        ("deprecated, and it deletes data", "unsafe", 3),
    ],
)
def test_a_failure_is_a_precaution_whose_kind_the_comment_tells(
    comment: str, kind: str, severity: int
) -> None:
    (made,) = _build(_tried("Train to Turku at 10:30", "failure", comment=comment)).precautions
    assert (made.text, made.kind, made.severity) == ("Train to Turku at <TIME>", kind, severity)
    assert made.evidence == masked_text(comment)
    assert made.endpoint == "search"


def test_evidence_is_masked() -> None:
    (made,) = _build(_tried(outcome="failure", comment="gave order AB-1234 to ann@example.com")).precautions
    assert made.evidence == "gave order <ID> to <EMAIL>"


def test_a_request_that_went_both_ways_keeps_both_sides() -> None:
    made = _build(_tried(), _tried(), _tried(outcome="failure", comment="sold out"))
    assert [s.count for s in made.scenarios] == [2]
    assert [(p.text, p.count, p.evidence) for p in made.precautions] == [("Ferry to Turku", 1, "sold out")]


def test_arguments_become_a_skeleton_without_a_typed_value() -> None:
    arguments = {
        "to": "Turku",
        "seats": "3",
        "contact": "ann@example.com",
        "flexible": True,
        "filter": {"deck": "upper deck please", "tags": ["a", "b", 3, 4], "secret": "sk-12345"},
        "token": "sk-live-abcdefgh",
    }
    (made,) = _build(_tried(arguments=arguments)).templates
    assert made == CallTemplate(
        tool=FERRY,
        endpoint="search",
        arguments={
            "to": "Turku",
            "seats": "<NUMBER>",
            "contact": "<EMAIL>",
            "flexible": True,
            "filter": {"deck": "<TEXT>", "tags": ["<NUMBER>", "<TEXT>"]},
        },
    )


@pytest.mark.parametrize(
    ("value", "kept"),
    [("Turku", "Turku"), ("turku", "<TEXT>"), (1, 1), (True, True), ("Ann Lee", "<TEXT>"), (None, None)],
)
def test_only_words_of_the_enum_stay(value: object, kept: object) -> None:
    (made,) = _build(_tried(arguments={"to": value})).templates
    assert made.arguments["to"] is kept or made.arguments["to"] == kept


JSON = st.recursive(
    st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["contact", "seats", "filter", "other"]), JSON, min_size=1))
def test_nothing_that_was_typed_passes(arguments: dict[str, Any]) -> None:
    for template in _build(_tried(arguments=arguments)).templates:
        for leaf in _leaves(template.arguments):
            assert leaf in {"<NUMBER>", "<TEXT>", "<ID>", "<URL>", "<EMAIL>", "<DATE>", "<TIME>", "<PHONE>"}


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for child in value.values() for leaf in _leaves(child)]
    return [leaf for child in value for leaf in _leaves(child)] if isinstance(value, list) else [value]


def test_failed_calls_make_no_template() -> None:
    assert _build(_tried(outcome="failure", arguments={"to": "Turku"})).templates == ()


def test_equal_skeletons_are_counted() -> None:
    made = _build(_tried(arguments={"seats": 1}), _tried("other", arguments={"seats": 7}))
    assert [(t.arguments, t.count) for t in made.templates] == [({"seats": "<NUMBER>"}, 2)]


@pytest.mark.parametrize(
    "name", [FERRY, "sailings", "Ferry Sailings", "ferry_sailings", "ferries/sailings", "FERRY-SAILINGS"]
)
def test_a_tool_may_be_called_by_any_name_that_only_it_has(name: str) -> None:
    assert _build(_tried(tool=name, endpoint="search")).scenarios[0].tool == FERRY


@pytest.mark.parametrize(
    ("endpoint", "meant"),
    [("search", "search"), ("Search Sailings", "search"), ("CANCEL", "cancel"), ("", "")],
)
def test_an_endpoint_may_be_called_by_name_or_title(endpoint: str, meant: str) -> None:
    assert _build(_tried(endpoint=endpoint)).scenarios[0].endpoint == meant


def test_the_only_endpoint_need_not_be_named() -> None:
    assert _build(_tried(tool=TRAIN)).scenarios[0].endpoint == "call"


def test_an_unknown_tool_is_answered_with_what_comes_near() -> None:
    code, path, told = _problem(_tried(), _tried(tool="salings", place="log:2"))
    assert (code, path) == (ErrorCode.UNKNOWN_TOOL, "log:2.tool")
    assert f"did you mean {FERRY}" in told


def test_a_name_of_two_tools_is_refused_with_both_ids() -> None:
    code, path, told = _problem(_tried(tool="Seats", place="log:1"))
    assert (code, path) == (ErrorCode.UNKNOWN_TOOL, "log:1.tool")
    assert FERRY_SEATS in told
    assert TRAIN in told


def test_an_unknown_endpoint_is_answered_with_what_comes_near() -> None:
    code, path, told = _problem(_tried(endpoint="serch", place="log:1"))
    assert (code, path) == (ErrorCode.UNKNOWN_ENDPOINT, "log:1.endpoint")
    assert "did you mean search" in told


def test_every_bad_name_is_told_at_once() -> None:
    with pytest.raises(CompendiaError) as caught:
        _build(_tried(tool="x"), _tried(), _tried(tool="y"))
    assert len(caught.value.problems) == 2


def test_a_time_outside_the_window_is_refused() -> None:
    code, path, _ = _problem(_tried(time="2026-10-01T00:00:00Z", place="log:1"))
    assert (code, path) == (ErrorCode.OUT_OF_RANGE, "log:1.time")


def test_tools_of_a_pinned_snapshot_may_be_named() -> None:
    known = {"bus.example/buses/timetable": ["lookup"]}
    bus = _tried("Bus to Turku at 10:30", tool="timetable", endpoint="", arguments={"stop": "Market"})
    made = _build(bus, known=known, pinned="r3-0123456789abcdef")
    assert made.pinned == "r3-0123456789abcdef"
    assert Usage(tool="bus.example/buses/timetable", successes=1) in made.usage
    assert made.templates == (
        CallTemplate(tool="bus.example/buses/timetable", endpoint="lookup", arguments={"stop": "<TEXT>"}),
    )


def test_known_tools_need_their_revision() -> None:
    assert _problem(known={"a/b/c": []})[0] is ErrorCode.USAGE
    assert _problem(pinned="r1-0123456789abcdef")[0] is ErrorCode.USAGE


def test_what_the_source_says_is_kept() -> None:
    own = Precaution(tool=FERRY, text="Ferry to Turku", kind="deprecated", evidence="says its publisher")
    imported = IMPORTED.model_copy(update={"precautions": (own,)})
    made = build(imported, [_tried(outcome="failure"), _tried("x", "failure")], window=WINDOW)
    assert own in made.precautions
    assert len(made.precautions) == 2
    assert made.annex == IMPORTED.annex


def test_a_built_compendium_is_not_built_again() -> None:
    with pytest.raises(CompendiaError) as caught:
        build(_build(), [], window=WINDOW)
    assert caught.value.code is ErrorCode.USAGE


@given(st.integers())
def test_the_order_of_the_log_does_not_matter(seed: int) -> None:
    outcomes = [
        _tried(),
        _tried(outcome="failure", comment="slow"),
        _tried(outcome="failure", comment="empty"),
        _tried("to 5 places", endpoint="cancel"),
        _tried("to 6 places", arguments={"seats": 1}),
        _tried("seat", tool=TRAIN),
    ]
    shuffled = random.Random(seed).sample(outcomes, len(outcomes))
    assert dumps(_build(*shuffled)) == dumps(_build(*outcomes))


def test_a_masked_text_is_cut_between_placeholders() -> None:
    text = masked_text("1 " * (MAX_TEXT // 2))
    assert len(text) <= MAX_TEXT
    assert set(text.removesuffix("…").split()) == {"<NUMBER>"}


def test_invisible_characters_do_not_hide_a_number_from_the_masker() -> None:
    assert masked_text("code 12\u200b34\u202e") == "code <NUMBER>"


def test_several_sources_are_combined() -> None:
    other = Compendium(org="acme", tools=(_tool("bus.example/buses/timetable", "Timetable"),))
    made = combine([IMPORTED, other, other])
    assert len(made.tools) == len(IMPORTED.tools) + 1
    assert made.annex == IMPORTED.annex


@pytest.mark.parametrize(
    ("sources", "code"),
    [
        ([], ErrorCode.USAGE),
        ([IMPORTED, Compendium(org="other")], ErrorCode.USAGE),
        ([IMPORTED, Compendium(org="acme", tools=(_tool(FERRY, "Other"),))], ErrorCode.DUPLICATE_ENTRY),
    ],
)
def test_sources_that_do_not_go_together_are_refused(sources: list[Compendium], code: ErrorCode) -> None:
    with pytest.raises(CompendiaError) as caught:
        combine(sources)
    assert caught.value.code is code
