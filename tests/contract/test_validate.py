"""Validation: one case for each thing that is refused, with its code and its place."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from compendia.contract import SCHEMA_VERSION, CompendiaError, ErrorCode, document, strict_json
from compendia.contract.compendium import MAX_COUNT, MAX_TEXT, NOISED_BOUNDS
from compendia.contract.validate import Validator

GOOD: dict[str, Any] = {
    "schema_version": SCHEMA_VERSION,
    "org": "acme",
    "window": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"},
    "definitions": [
        {"id": "sea.example/ferries/place", "body": {"items": {"$ref": "sea.example/ferries/place"}}}
    ],
    "tools": [
        {
            "id": "sea.example/ferries/sailings",
            "licences": ["MIT"],
            "endpoints": [
                {
                    "name": "search",
                    "parameters": [{"name": "to", "json_schema": {"$ref": "sea.example/ferries/place"}}],
                    "response_fields": [{"path": "[].ship", "schema_ref": "sea.example/ferries/place"}],
                }
            ],
        }
    ],
    "usage": [{"tool": "sea.example/ferries/sailings", "successes": 3, "failures": 1}],
    "scenarios": [{"tool": "sea.example/ferries/sailings", "text": "Ferry to <TEXT>", "endpoint": "search"}],
    "precautions": [{"tool": "sea.example/ferries/sailings", "text": "Train to <TEXT>", "severity": 2}],
    "templates": [
        {"tool": "sea.example/ferries/sailings", "endpoint": "search", "arguments": {"to": "<TEXT>"}}
    ],
    "annex": [{"tool": "sea.example/ferries/sailings", "key": "region", "value": "Baltic"}],
}

OTHER = "sea.example/ferries/other"

# (place that is changed, its new value, code, path of the problem if it is another)
REFUSED: list[tuple[str, Any, ErrorCode, str]] = [
    # references
    ("usage.0.tool", OTHER, ErrorCode.UNKNOWN_TOOL, "usage[0].tool"),
    ("scenarios.0.tool", OTHER, ErrorCode.UNKNOWN_TOOL, "scenarios[0].tool"),
    ("precautions.0.tool", OTHER, ErrorCode.UNKNOWN_TOOL, "precautions[0].tool"),
    ("templates.0.tool", OTHER, ErrorCode.UNKNOWN_TOOL, "templates[0].tool"),
    ("annex.0.tool", OTHER, ErrorCode.UNKNOWN_TOOL, "annex[0].tool"),
    ("scenarios.0.endpoint", "cancel", ErrorCode.UNKNOWN_ENDPOINT, "scenarios[0].endpoint"),
    ("precautions.0.endpoint", "cancel", ErrorCode.UNKNOWN_ENDPOINT, "precautions[0].endpoint"),
    ("templates.0.endpoint", "cancel", ErrorCode.UNKNOWN_ENDPOINT, "templates[0].endpoint"),
    ("definitions.0.body", {"$ref": OTHER}, ErrorCode.UNRESOLVED_REF, "definitions[0].body"),
    (
        "tools.0.endpoints.0.parameters.0.json_schema",
        {"anyOf": [{}, {"$ref": OTHER}]},
        ErrorCode.UNRESOLVED_REF,
        "tools[0].endpoints[0].parameters[0].json_schema",
    ),
    (
        "tools.0.endpoints.0.response_fields.0.schema_ref",
        OTHER,
        ErrorCode.UNRESOLVED_REF,
        "tools[0].endpoints[0].response_fields[0].schema_ref",
    ),
    # ranges
    ("usage.0.successes", -1, ErrorCode.OUT_OF_RANGE, "usage[0].successes"),
    ("usage.0.failures", MAX_COUNT + 1, ErrorCode.OUT_OF_RANGE, "usage[0].failures"),
    ("scenarios.0.count", -1, ErrorCode.OUT_OF_RANGE, "scenarios[0].count"),
    ("precautions.0.count", 2**60, ErrorCode.OUT_OF_RANGE, "precautions[0].count"),
    ("precautions.0.severity", 4, ErrorCode.BAD_FIELD, "precautions[0].severity"),
    ("window.end", "2026-01-01T00:00:00Z", ErrorCode.OUT_OF_RANGE, "window"),
    ("window.end", "2026-02-30T00:00:00Z", ErrorCode.BAD_FIELD, "window.end"),
    ("window.start", "2026-01-01", ErrorCode.BAD_FIELD, "window.start"),
    ("window.start", "２０２６-01-01T00:00:00Z", ErrorCode.BAD_FIELD, "window.start"),
    # numbers
    ("usage.0.successes", "NaN", ErrorCode.NOT_A_NUMBER, "usage[0].successes"),
    ("usage.0.successes", "-Infinity", ErrorCode.NOT_A_NUMBER, "usage[0].successes"),
    ("usage.0.successes", 1.0, ErrorCode.BAD_FIELD, "usage[0].successes"),
    ("usage.0.successes", "3", ErrorCode.BAD_FIELD, "usage[0].successes"),
    ("usage.0.successes", True, ErrorCode.BAD_FIELD, "usage[0].successes"),
    # ids
    ("org", "Acme", ErrorCode.BAD_ID, "org"),
    ("org", "", ErrorCode.BAD_ID, "org"),
    ("tools.0.id", "sea.example/ferries/s\u0430ilings", ErrorCode.BAD_ID, "tools[0].id"),
    ("tools.0.id", "sea.example/ferries/Sailings", ErrorCode.BAD_ID, "tools[0].id"),
    ("tools.0.id", "sea.example/ferries/" + "s" * 65, ErrorCode.BAD_ID, "tools[0].id"),
    ("tools.0.id", "sailings", ErrorCode.BAD_ID, "tools[0].id"),
    ("tools.0.endpoints.0.name", "Search It", ErrorCode.BAD_ID, "tools[0].endpoints[0].name"),
    ("annex.0.key", "Region", ErrorCode.BAD_ID, "annex[0].key"),
    # licences
    ("tools.0.licences", ["free"], ErrorCode.BAD_LICENCE, "tools[0].licences[0]"),
    ("scenarios.0.licences", ["MIT", "MIT OR"], ErrorCode.BAD_LICENCE, "scenarios[0].licences[1]"),
    # texts
    ("scenarios.0.text", "\ud800", ErrorCode.BAD_TEXT, "scenarios[0].text"),
    ("precautions.0.evidence", "\0", ErrorCode.BAD_TEXT, "precautions[0].evidence"),
    ("scenarios.0.text", "x" * (MAX_TEXT + 1), ErrorCode.BAD_FIELD, "scenarios[0].text"),
    # annex types
    ("annex.0.value", 7, ErrorCode.BAD_FIELD, "annex[0].value"),
    (
        "annex.0",
        {"tool": GOOD["tools"][0]["id"], "key": "planet", "value": 1},
        ErrorCode.BAD_FIELD,
        "annex[0].key",
    ),
    (
        "annex.0",
        {"tool": GOOD["tools"][0]["id"], "key": "cost_per_call", "value": "NaN"},
        ErrorCode.NOT_A_NUMBER,
        "annex[0].value",
    ),
    (
        "annex.0",
        {"tool": GOOD["tools"][0]["id"], "key": "rate_limit_per_minute", "value": True},
        ErrorCode.BAD_FIELD,
        "annex[0].value",
    ),
    (
        "annex.0",
        {"tool": GOOD["tools"][0]["id"], "key": "same_as", "value": "sailings"},
        ErrorCode.BAD_ID,
        "annex[0].value",
    ),
    # shape
    ("schema_version", SCHEMA_VERSION + 1, ErrorCode.SCHEMA_VERSION, "schema_version"),
    ("schema_version", str(SCHEMA_VERSION), ErrorCode.SCHEMA_VERSION, "schema_version"),
    ("schema_version", True, ErrorCode.SCHEMA_VERSION, "schema_version"),
    ("schema_version", None, ErrorCode.SCHEMA_VERSION, "schema_version"),
    ("colour", "red", ErrorCode.BAD_FIELD, "colour"),
    ("tools.0.colour", "red", ErrorCode.BAD_FIELD, "tools[0].colour"),
    ("tools.0.endpoints.0.effect", "magic", ErrorCode.BAD_FIELD, "tools[0].endpoints[0].effect"),
    ("tools", {}, ErrorCode.BAD_FIELD, "tools"),
    ("tools.0", "sailings", ErrorCode.BAD_FIELD, "tools[0]"),
    ("stage", "cooked", ErrorCode.BAD_FIELD, "stage"),
    ("window", None, ErrorCode.BAD_FIELD, "window"),
    ("scenarios.0.support", 3, ErrorCode.COMPUTED_FIELD, "scenarios[0].support"),
    ("usage.0.support", 1, ErrorCode.COMPUTED_FIELD, "usage[0].support"),
]


def _changed(place: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(GOOD)
    *steps, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    node: Any = changed
    for step in steps:
        node = node[step]
    node[last] = value
    return changed


def _problems(data: Any, **options: Any) -> list[tuple[ErrorCode, str]]:
    with pytest.raises(CompendiaError) as caught:
        document.from_json(data, **options)
    assert all(problem.message and "Fix: " in str(problem) for problem in caught.value.problems)
    return [(problem.code, problem.path) for problem in caught.value.problems]


def test_the_good_one_is_good() -> None:
    assert document.loads(strict_json.canonical(GOOD)).org == "acme"


@pytest.mark.parametrize(("place", "value", "code", "path"), REFUSED)
def test_refused(place: str, value: Any, code: ErrorCode, path: str) -> None:
    problems = _problems(_changed(place, value))
    assert problems[0] == (code, path)
    # Without its tool, what refers to the tool is at a loss as well; nothing else is.
    lost = {ErrorCode.UNKNOWN_TOOL} if place in {"tools.0", "tools.0.id"} else set()
    assert {code for code, _ in problems[1:]} == lost


@pytest.mark.parametrize(
    "section", ["definitions", "tools", "usage", "scenarios", "precautions", "templates", "annex"]
)
def test_a_second_entry_of_one_key_is_refused(section: str) -> None:
    twice = {**GOOD, section: [*GOOD[section], *GOOD[section]]}
    assert _problems(twice) == [(ErrorCode.DUPLICATE_ENTRY, f"{section}[1]")]


@pytest.mark.parametrize("part", ["parameters", "response_fields"])
def test_a_second_part_of_one_key_is_refused(part: str) -> None:
    entries = GOOD["tools"][0]["endpoints"][0][part]
    changed = _changed(f"tools.0.endpoints.0.{part}", [*entries, *entries])
    assert _problems(changed) == [(ErrorCode.DUPLICATE_ENTRY, f"tools[0].endpoints[0].{part}[1]")]


def test_a_required_field_is_missed() -> None:
    assert _problems({**GOOD, "scenarios": [{"tool": "sea.example/ferries/sailings"}]}) == [
        (ErrorCode.BAD_FIELD, "scenarios[0].text")
    ]


@pytest.mark.parametrize("data", [None, [], "acme", 7])
def test_what_is_no_object_is_refused(data: Any) -> None:
    assert _problems(data) == [(ErrorCode.BAD_FIELD, "$")]


def test_a_wrong_version_names_both_and_nothing_else() -> None:
    with pytest.raises(CompendiaError, match=r"version 2.*version 1"):
        document.from_json({"schema_version": 2, "whatever": 1})


@pytest.mark.parametrize("value", NOISED_BOUNDS)
def test_noised_counts_are_signed_within_their_own_range(value: int) -> None:
    noised = _changed("usage.0.successes", value) | {"stage": "noised"}
    assert document.from_json(noised).usage[0].successes == value
    over = _changed("usage.0.successes", value + (1 if value > 0 else -1)) | {"stage": "noised"}
    assert _problems(over) == [(ErrorCode.OUT_OF_RANGE, "usage[0].successes")]


def test_a_merge_may_carry_support_and_sums_of_many() -> None:
    merged = _changed("usage.0.support", 9) | {"org": ""}
    merged["usage"][0]["successes"] = 9 * MAX_COUNT
    assert document.from_json(merged, computed_allowed=True).usage[0].support == 9


def test_tools_of_the_pinned_snapshot_may_be_named() -> None:
    known = {OTHER: ["search"]}
    assert document.from_json(_changed("scenarios.0.tool", OTHER), known).scenarios[0].tool == OTHER
    changed = _changed("scenarios.0.tool", OTHER)
    changed["scenarios"][0]["endpoint"] = "cancel"
    assert _problems(changed, known=known) == [(ErrorCode.UNKNOWN_ENDPOINT, "scenarios[0].endpoint")]


def test_a_key_of_ones_own_may_hold_anything() -> None:
    tool = GOOD["tools"][0]["id"]
    own = {"tool": tool, "key": "x-own", "value": {"a": [None, 1.5, "x"]}}
    assert document.from_json({**GOOD, "annex": [own]}).annex[0].value == own["value"]


def test_all_mistakes_are_told_at_once() -> None:
    changed = _changed("usage.0.successes", -1)
    changed["scenarios"][0]["tool"] = OTHER
    changed["tools"][0]["licences"] = ["free"]
    codes = {code for code, _ in _problems(changed)}
    assert codes == {ErrorCode.OUT_OF_RANGE, ErrorCode.UNKNOWN_TOOL, ErrorCode.BAD_LICENCE}


def test_a_tool_that_is_refused_is_the_only_thing_blamed() -> None:
    assert _problems(_changed("tools.0.colour", "red")) == [(ErrorCode.BAD_FIELD, "tools[0].colour")]


def test_a_hopeless_document_is_given_up_on() -> None:
    junk = {**GOOD, "scenarios": [{"text": str(number)} for number in range(1000)]}
    assert len(_problems(junk)) == 20


def test_records_may_come_in_any_order() -> None:
    validator = Validator()
    validator.header({key: GOOD[key] for key in ("schema_version", "org", "window")})
    for section in ("annex", "templates", "precautions", "scenarios", "usage", "tools", "definitions"):
        for index, record in enumerate(GOOD[section]):
            assert validator.record(section, index, record) is not None
    validator.finish()
    assert validator.problems == []


def test_an_unknown_section_is_refused() -> None:
    validator = Validator()
    assert validator.record("secrets", 0, {}) is None
    assert [(p.code, p.path) for p in validator.problems] == [(ErrorCode.BAD_FIELD, "secrets[0]")]


@pytest.mark.parametrize("depth", [100, 260, 900, 5_000])
def test_deep_values_are_read_or_refused_with_one_message(depth: int) -> None:
    body = "[" * depth + "]" * depth
    text = '{"schema_version":1,"org":"acme","definitions":[{"id":"a/b/c","body":' + body + "}]}"
    if depth == 100:
        assert document.dumps(document.loads(text)).count("[") == depth + 1
        return
    with pytest.raises(CompendiaError, match="nested too deeply") as caught:
        document.loads(text)
    assert len(caught.value.problems) == 1
