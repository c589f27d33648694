"""A small snapshot, written by hand: six tools of two publishers, some experience, two disagreements."""

from __future__ import annotations

from collections.abc import Iterable

from compendia.contract import (
    Annex,
    CallTemplate,
    Claim,
    Compendium,
    Conflict,
    Endpoint,
    LicenceConflict,
    Parameter,
    Precaution,
    Provenance,
    ResponseField,
    Scenario,
    Snapshot,
    StanceConflict,
    ToolMetadata,
    Usage,
    Window,
    seal,
)

TIDES = "harbour.example/water/tides"
FERRY = "harbour.example/traffic/ferries"
MONEY = "bank.example/rates/exchange"
SOIL = "lab.example/ground/soil"
PARCEL = "post.example/mail/parcels"
BARE = "post.example/mail/announcements"

_DATE = Parameter(
    name="date",
    location="query",
    type="string",
    required=True,
    json_schema={"type": "string", "format": "date"},
)
_PORTS = ("Aarhus", "Turku", "Visby")

TOOLS = (
    ToolMetadata(
        id=TIDES,
        title="Tide tables",
        description="High and low water at a harbour on a day.",
        category="Sea",
        licences=("CC-BY-4.0", "ODbL-1.0"),
        provenance=(Provenance(source_type="measured", origin="Gauge network", version="2026"),),
        endpoints=(
            Endpoint(
                name="get_tides",
                title="getTides",
                description="Times and heights of high and low water.",
                method="GET",
                path="/tides/{port}",
                effect="read",
                parameters=(
                    Parameter(name="port", location="path", type="string", required=True, enum=_PORTS),
                    _DATE,
                    Parameter(
                        name="datum", location="query", type="string", enum=("chart", "mean"), default="chart"
                    ),
                ),
                response_fields=(
                    ResponseField(path="station_id", type="string", identifier=True),
                    ResponseField(path="events[].time", type="string", group="event"),
                    ResponseField(
                        path="events[].height",
                        type="number",
                        unit="m",
                        group="event",
                        aliases=("water level",),
                        source_type="measured",
                        licences=("CC-BY-4.0",),
                    ),
                    ResponseField(path="remark", type="string"),
                ),
            ),
        ),
    ),
    ToolMetadata(
        id=FERRY,
        title="Ferry timetable",
        description="Departures of ferries between harbours.",
        category="Travel",
        licences=("MIT",),
        endpoints=(
            Endpoint(
                name="departures",
                title="departures",
                description="Next ferry departures from one harbour to another.",
                parameters=(
                    Parameter(name="from_port", type="string", required=True, enum=_PORTS),
                    Parameter(name="to_port", type="string", required=True, enum=_PORTS),
                    Parameter(
                        name="passengers", type="integer", unit="", default=1, json_schema={"minimum": 1}
                    ),
                ),
                response_fields=(ResponseField(path="[].ferry_number", type="string", identifier=True),),
            ),
            Endpoint(
                name="cancel_booking",
                title="cancelBooking",
                description="Cancels the booking of a ferry ticket.",
                effect="destructive",
                parameters=(Parameter(name="booking_id", type="string", required=True),),
            ),
        ),
    ),
    ToolMetadata(
        id=MONEY,
        title="Exchange rates",
        description="Converts an amount of money from one currency to another.",
        category="Finance",
        endpoints=(
            Endpoint(
                name="convert",
                title="convert",
                description="Converts an amount at the rate of the day.",
                parameters=(
                    Parameter(name="amount", type="number", required=True),
                    Parameter(name="from_currency", type="string", required=True, enum=("EUR", "SEK", "DKK")),
                    Parameter(name="to_currency", type="string", required=True, enum=("EUR", "SEK", "DKK")),
                ),
                response_fields=(
                    ResponseField(path="amount", type="number"),
                    ResponseField(path="rate", type="number"),
                ),
            ),
        ),
    ),
    ToolMetadata(
        id=SOIL,
        title="Soil samples",
        description="Moisture and temperature of the soil at a place.",
        category="Science",
        licences=("CC-BY-NC-4.0",),
        endpoints=(
            Endpoint(
                name="sample",
                title="sample",
                description="Soil moisture and soil temperature.",
                parameters=(
                    Parameter(name="place", type="string", required=True),
                    Parameter(name="depth", type="number", required=True, unit="cm"),
                ),
                response_fields=(
                    ResponseField(path="moisture", type="number", unit="%", source_type="measured"),
                    ResponseField(path="temperature", type="number", unit="°C", source_type="measured"),
                    ResponseField(
                        path="forecast_moisture", type="number", unit="%", source_type="calculated"
                    ),
                ),
            ),
        ),
    ),
    ToolMetadata(
        id=PARCEL,
        title="Parcel tracking",
        description="Where a parcel is now.",
        category="Logistics",
        endpoints=(
            Endpoint(
                name="track",
                title="track",
                description="Last scan of a parcel.",
                parameters=(
                    Parameter(name="tracking_number", type="string", required=True),
                    Parameter(name="detail", type="string", enum=("short", "full")),
                ),
                response_fields=(ResponseField(path="last_scan.place", type="string"),),
            ),
        ),
    ),
    ToolMetadata(id=BARE, title="Announcements", description="Notices on the post office door."),
)

SCENARIOS = (
    Scenario(tool=TIDES, text="When is high water in Visby on <DATE>?", endpoint="get_tides", support=2),
    Scenario(tool=MONEY, text="How much is <NUMBER> EUR in SEK?", endpoint="convert", support=1),
    Scenario(tool=PARCEL, text="Where is my parcel <ID>?", endpoint="track", support=3),
)
PRECAUTIONS = (
    Precaution(tool=PARCEL, text="Where is my pallet <ID>?", evidence="freight has no scan", severity=2),
    Precaution(tool=FERRY, text="Cancel every booking", kind="unsafe", severity=3),
)
CONFLICTS: tuple[Conflict, ...] = (
    StanceConflict(
        tool=TIDES,
        field="stance",
        winner=Claim(value="use", supporters=("north", "south")),
        dissent=(Claim(value="do_not", supporters=("east",)),),
        resolved_by="majority",
        text="Is the water at Turku deep enough in a storm?",
        reasons=("storm surges are not in the table",),
    ),
    LicenceConflict(
        tool=TIDES,
        field="licences",
        winner=None,
        dissent=(
            Claim(value="CC-BY-4.0", supporters=("north",)),
            Claim(value="ODbL-1.0", supporters=("east",)),
        ),
        resolved_by="kept_all",
    ),
)


def harbour(
    *,
    tools: Iterable[ToolMetadata] = TOOLS,
    scenarios: Iterable[Scenario] = SCENARIOS,
    precautions: Iterable[Precaution] = PRECAUTIONS,
    conflicts: Iterable[Conflict] = CONFLICTS,
    usage: Iterable[Usage] = (Usage(tool=PARCEL, successes=40, failures=2), Usage(tool=TIDES, successes=9)),
    round: int = 1,
) -> Snapshot:
    """The snapshot, with any part replaced; entries that name other tools than `tools` are left out."""
    kept = tuple(tools)
    known = {tool.id for tool in kept}
    compendium = Compendium(
        window=Window(start="2026-01-01T00:00:00Z", end="2026-02-01T00:00:00Z"),
        tools=kept,
        usage=tuple(u for u in usage if u.tool in known),
        scenarios=tuple(s for s in scenarios if s.tool in known),
        precautions=tuple(p for p in precautions if p.tool in known),
        templates=(
            CallTemplate(
                tool=PARCEL, endpoint="track", arguments={"tracking_number": "<ID>", "detail": "short"}
            ),
        )
        if PARCEL in known
        else (),
        annex=(Annex(tool=TIDES, key="concept_alias", value="Turku=图尔库"),) if TIDES in known else (),
    )
    return seal(
        parent="",
        round=round,
        policy="conflict_log",
        encoder="hashing",
        members=(),
        compendium=compendium,
        conflicts=tuple(conflicts),
    )
