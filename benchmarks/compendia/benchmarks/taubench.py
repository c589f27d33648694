"""tau-bench (Yao et al., arXiv:2406.12045) as single decisions: the next call, where those so far are given.

Retail: a task's instruction and its gold calls; every call is a decision. Airline: the conversations that one
model had and that earned the reward; every call that it made is a decision, after what the user had said.
A decision is one text, the *state*: what is asked, then the names of the last calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compendia.client.importers import import_source
from compendia.contract import Compendium

from .datasets import files_of, read_json, read_lines, readable

NAME = "taubench"
RETAIL, AIRLINE = "retail", "airline"
TRAIN, DEV, TEST = (f"retail_tasks_{part}.json" for part in ("train", "dev", "test"))
TRAJECTORIES = "airline_trajectories.jsonl"
TOOLS = {domain: f"{domain}_tools.json" for domain in (RETAIL, AIRLINE)}
FILES = (TRAIN, DEV, TEST, TRAJECTORIES, *TOOLS.values())
LAST_CALLS = 3
"""How many of the calls so far a state names."""


@dataclass(frozen=True)
class Decision:
    """id: `task/step`. task: decisions of one task are never on both sides of a split."""

    id: str
    task: int
    state: str
    tool: str


@dataclass(frozen=True)
class TauBench:
    """Decisions of the retail tasks by file and of the rewarded airline conversations, and both catalogs."""

    train: tuple[Decision, ...]
    dev: tuple[Decision, ...]
    test: tuple[Decision, ...]
    airline: tuple[Decision, ...]
    catalogs: dict[str, Compendium]


def read_taubench(folder: Path) -> TauBench:
    """Read all files. Raises DATA_MISSING, or SOURCE_UNREADABLE for a file that is not as published."""
    paths = files_of(NAME, folder, FILES)
    with readable(folder):
        train, dev, test = (retail_decisions(read_json(paths[part])) for part in (TRAIN, DEV, TEST))
        airline = airline_decisions(read_lines(paths[TRAJECTORIES]))
    catalogs = {
        domain: import_source(
            "functions", paths[file].read_bytes(), org="benchmark", source_name=domain
        ).compendium
        for domain, file in TOOLS.items()
    }
    return TauBench(train, dev, test, airline, catalogs)


def state(asked: str, calls: Sequence[str]) -> str:
    """The text of a decision.

    >>> state("Cancel my order.", ["get_user_details", "get_order_details"])
    'Cancel my order. Done so far: get user details, get order details.'
    """
    if not calls:
        return asked.strip()
    named = ", ".join(name.replace("_", " ") for name in calls[-LAST_CALLS:])
    return f"{asked.strip()} Done so far: {named}."


def retail_decisions(tasks: Iterable[dict[str, Any]]) -> tuple[Decision, ...]:
    """Every gold call of every task. Pure."""
    return tuple(
        Decision(f"{number}/{step}", number, state(task["instruction"], names[:step]), name)
        for number, task in enumerate(tasks)
        for names in [[call["name"] for call in task["actions"]]]
        for step, name in enumerate(names)
    )


def airline_decisions(conversations: Iterable[dict[str, Any]]) -> tuple[Decision, ...]:
    """Every call of every conversation with the full reward. Pure."""
    return tuple(
        Decision(f"{number}/{step}", conversation["task_id"], text, tool)
        for number, conversation in enumerate(conversations)
        if conversation["reward"] == 1.0
        for step, (text, tool) in enumerate(_calls(conversation["messages"]))
    )


def _calls(messages: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """State and tool of each call: the user's last message, and the calls before."""
    said, done = "", list[str]()
    for message in messages:
        if message["role"] == "user":
            said = message["content"]
        for call in message.get("tool_calls") or ():
            yield state(said, done), call["function"]["name"]
            done.append(call["function"]["name"])
