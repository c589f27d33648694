"""Word coverage: shares of the request and of the name, and where they mean something."""

from __future__ import annotations

import numpy as np
from harbour import TIDES, TOOLS
from hypothesis import given
from hypothesis import strategies as st

from compendia.contract import Endpoint, Parameter, ToolMetadata
from compendia.router.coverage import Coverage, WordCoverage
from compendia.router.reading import read_tools
from compendia.text.tokenize import tokenize

WEATHER = ToolMetadata(
    id="a/b/weather",
    title="Weather",
    description="What the weather will be in a city.",
    endpoints=(
        Endpoint(
            name="forecast",
            title="getForecast",
            parameters=(
                Parameter(name="city", description="Name of the town."),
                Parameter(name="unit", enum=("kelvin",)),
            ),
        ),
        Endpoint(name="storms", title="listStorms"),
    ),
)
BARE = ToolMetadata(id="a/b/coin", title="Coin flip")


def covered(text: str, *tools: ToolMetadata) -> Coverage:
    return WordCoverage(read_tools(tools)).of(text, tokenize(text), np.arange(len(tools)))


def test_words_of_parameters_and_their_values_count() -> None:
    found = covered("Forecast for a town in kelvin", WEATHER, BARE)
    assert found.said.tolist() == [1.0, 0.0]


def test_the_best_endpoint_gives_the_share_of_the_name() -> None:
    storms = covered("list storms weather", WEATHER, BARE).named
    assert storms[0] > covered("weather", WEATHER, BARE).named[0] > 0
    assert storms[1] == 0.0
    assert covered("flip a coin", WEATHER, BARE).named.tolist() == [0.0, 1.0]


def test_a_number_is_no_word() -> None:
    assert covered("weather 2026", WEATHER).said.tolist() == [1.0]


def test_only_english_requests_and_documentation_can_be_compared() -> None:
    english, spanish = "What will the weather be in Oslo?", "¿Qué tiempo hará mañana en Oslo?"
    strange = BARE.model_copy(update={"id": "a/b/dados", "description": "Lanza los dados de un juego."})
    assert covered(english, WEATHER, BARE, strange).comparable.tolist() == [True, True, False]
    assert covered("Oslo weather tomorrow", WEATHER).comparable.tolist() == [True]
    assert covered(spanish, WEATHER, BARE, strange).comparable.tolist() == [False] * 3


def test_rows_choose_the_tools_and_no_tool_is_no_share() -> None:
    words = WordCoverage(read_tools(TOOLS))
    tokens = tokenize("high water at a harbour")
    whole = words.of("high water at a harbour", tokens, np.arange(len(TOOLS)))
    row = [tool.id for tool in TOOLS].index(TIDES)
    assert words.of("high water at a harbour", tokens, np.asarray([row])).said[0] == whole.said[row] > 0.5
    assert len(WordCoverage(()).of("x", ["x"], np.zeros(0, np.int64)).named) == 0


@given(text=st.text(max_size=80))
def test_shares_are_shares(text: str) -> None:
    found = covered(text, WEATHER, BARE, *TOOLS)
    for shares in (found.said, found.named):
        assert shares.min() >= 0.0
        assert shares.max() <= 1.0
