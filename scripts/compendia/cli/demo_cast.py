"""Who takes part in the demo, and what is asked. Nothing here says how anything turns out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent / "demo_data"
WINDOW = ("2026-09-01T00:00:00Z", "2026-10-01T00:00:00Z")


@dataclass(frozen=True)
class Source:
    """A tool description as an organization has it. publisher: who provides the tools, if it does not say."""

    kind: str
    file: str
    publisher: str = ""


@dataclass(frozen=True)
class Organization:
    """A member. Its experience log is `demo_data/<name>.jsonl`."""

    name: str
    title: str
    about: str
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class Question:
    """A query for the router that runs the named encoder. about: what it shows, in a few words."""

    about: str
    query: str
    encoder: str = "minilm"


_HARBOUR = Source("openapi", "harbour-data-2.1.json")
_OLD_HARBOUR = Source("openapi", "harbour-data-2.0.json")
_MATERIALS = Source("mcp", "materials-desk.json", "lindqvist.example")
_MARKET = Source("toolbench", "marketplace-2026.json", "openmarket.example")
_OLD_MARKET = Source("toolbench", "marketplace-2025.json", "openmarket.example")

ORGANIZATIONS = (
    Organization("nordport", "Nordport Terminals", "port operator", (_HARBOUR, _MARKET)),
    Organization("lindqvist", "Lindqvist Materials", "laboratory", (_MATERIALS, _OLD_HARBOUR, _OLD_MARKET)),
    Organization("kestrel", "Kestrel Outfitters", "web shop", (_MARKET, _HARBOUR, _MATERIALS)),
)

GRANTS = {"nordport.example": "nordport", "lindqvist.example": "lindqvist"}
"""Whose definitions count for which publisher. Nobody holds openmarket.example: there the majority counts."""

EQUIVOCATOR = "lindqvist"
"""Sends a second, changed compendium in the same round: without the last line of its experience log."""

QUESTIONS = (
    Question("one tool", "When is high water in Rotterdam on 2026-12-03?"),
    Question(
        "two tools",
        "What is the wind forecast for Hamburg on 2026-12-02, and how much is 2400 EUR in NOK?",
    ),
    Question(
        "unit and licence",
        "What is the thermal conductivity of aluminium 6061, in which unit and under which licence?",
    ),
    Question(
        "against a precaution",
        "Track the parcel container NPTU5520917 on its way across the ocean",
    ),
    Question(
        "disputed",
        "What wave height is expected at Bergen on 2026-12-06, six days from now?",
    ),
    Question("learnt from others", "How much is 350 EUR in PLN?"),
    Question("in Chinese", "2026年12月2日汉堡港的风速预报", encoder="e5"),
    Question("nothing fits", "Bake me a chocolate cake with walnuts"),
)
