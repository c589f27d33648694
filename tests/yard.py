"""A yard of eighty-four tools, each with slang of its own, of which as many as wanted have been used."""

from __future__ import annotations

import random
from functools import cache

from harbour import harbour

from compendia.contract import Scenario, Snapshot, ToolMetadata
from compendia.text.encode import HashingEncoder

THINGS = (
    "barge",
    "crane",
    "buoy",
    "sluice",
    "ferry",
    "winch",
    "anchor",
    "pilot",
    "tug",
    "mast",
    "hull",
    "keel",
)
ACTS = ("book", "inspect", "paint", "measure", "repair", "insure", "lease")
PLACES = ("Visby", "Turku", "Riga", "Gdansk", "Aarhus", "Bergen", "Tromso", "Oulu", "Kiel")


class Remembering(HashingEncoder):
    """Encodes each text once."""

    _row = cache(HashingEncoder._row)


ENCODER = Remembering()


def yard(used: int, requests: int = 12) -> Snapshot:
    """Tools for acts on things; the first `used` have requests in which words of their own recur."""
    draw = random.Random(5)
    tools, scenarios = [], []
    pairs = [(act, thing) for thing in THINGS for act in ACTS]
    for number, (act, thing) in enumerate(pairs):
        name = f"harbour.example/yard/{act}_{thing}"
        tools.append(ToolMetadata(id=name, title=f"{act} {thing}", description=f"{act.title()} a {thing}."))
        slang = f"q{number}x{number * 7 % 11}"
        if number < used:
            scenarios += [
                Scenario(
                    tool=name, text=f"{slang} the {thing} at {draw.choice(PLACES)} no {n}, please {slang}"
                )
                for n in range(requests)
            ]
    return harbour(tools=tools, scenarios=scenarios, precautions=(), conflicts=(), usage=())
