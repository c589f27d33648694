"""A merge in which every kind of conflict occurs, written by hand."""

from leaves import TEXTS, leaf, tool

from compendia.aggregator.view import Contribution, Equivocation
from compendia.contract import Annex, CallTemplate, Precaution, Provenance, Scenario, Usage

FORECAST, HISTORY, CONVERT = "acme/weather/forecast", "acme/weather/history", "globex/money/convert"

GOLDEN: list[Contribution] = [
    # ada was granted the publisher acme: her definition counts, and she is wrong about nothing.
    leaf(
        "ada",
        tools=(
            tool(
                FORECAST,
                "Forecasts the weather.",
                licences=("CC-BY-4.0",),
                provenance=(Provenance(origin="Acme API", version="1"),),
            ),
            tool(CONVERT, "Converts money."),
        ),
        usage=(Usage(tool=FORECAST, successes=9, failures=1),),
        scenarios=(
            Scenario(tool=FORECAST, text=TEXTS[0], endpoint="call", count=9),
            Scenario(tool=CONVERT, text=TEXTS[3]),
        ),
        templates=(CallTemplate(tool=FORECAST, endpoint="call", arguments={"place": "<TEXT>"}, count=9),),
    ),
    # bee disagrees about definition, licence and version, and agrees by meaning about the scenario.
    leaf(
        "bee",
        tools=(
            tool(
                FORECAST,
                "Forecasts everything.",
                licences=("MIT",),
                provenance=(Provenance(origin="Acme API", version="2"),),
            ),
            tool(CONVERT, "Converts money."),
        ),
        usage=(Usage(tool=FORECAST, successes=3, failures=2),),
        scenarios=(Scenario(tool=FORECAST, text=TEXTS[1], endpoint="call", count=3),),
        precautions=(Precaution(tool=CONVERT, text=TEXTS[3], evidence="rates are a day old"),),
    ),
    # cyd is alone in saying "do not", and outvoted on the description of the tool nobody owns.
    leaf(
        "cyd",
        tools=(
            tool(FORECAST, "Forecasts the weather."),
            tool(CONVERT, "Converts units."),
            tool(HISTORY, "Past weather."),
        ),
        precautions=(
            Precaution(tool=FORECAST, text=TEXTS[0], kind="unsafe", evidence="wrong at sea", severity=3),
        ),
        annex=(Annex(tool=CONVERT, key="region", value="EU"),),
    ),
    # dot reached two edges with different bytes: neither counts.
    leaf("dot", tools=(tool(HISTORY, "One thing."),)),
    leaf("dot", tools=(tool(HISTORY, "Another."),)),
]
REFUSED = [Equivocation("bee", 1, kept=GOLDEN[1].digest, refused="f" * 64)]
