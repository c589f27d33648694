"""What the README tells a reader to type works, in the order in which it stands there."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.timeout(600)]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)\)")

# A reader sees that a server has come up; a script has to look. The router also needs its snapshot.
WAIT = """
until grep -q ^ready {log}; do kill -0 $! || {{ cat {log} >&2; exit 1; }}; sleep 0.2; done
"""
WAIT_FOR_SNAPSHOT = """
until compendia router status --router {router} --json | grep -q '"revision": "r1-'; do sleep 0.5; done
"""


def section(text: str, heading: str) -> str:
    return text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def blocks(text: str, language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(text) if found == language]


@pytest.fixture(scope="module")
def by_hand(checkout: Path) -> str:
    return section((checkout / "README.md").read_text(encoding="utf-8"), "By hand")


@pytest.fixture(scope="module")
def answers(checkout: Path, by_hand: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the steps print, run one after the other in a folder of their own."""
    folder = tmp_path_factory.mktemp("by-hand")
    aggregator, router = (f"127.0.0.1:{port}" for port in free_ports(2))
    python = "".join(f"python - <<'END'\n{body}END\n" for body in blocks(by_hand, "python"))
    steps = "\n".join(blocks(by_hand, "sh")) + python
    steps = steps.replace("127.0.0.1:7700", aggregator)
    steps = steps.replace("aggregator serve", f"aggregator serve --address {aggregator}")
    steps = steps.replace("router serve", f"router serve --address {router}")
    steps = re.sub(r"^compendia (route|explain) ", rf"compendia \1 --router {router} ", steps, flags=re.M)
    servers = 0
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p); wait' EXIT"]
    for line in steps.splitlines():
        if not line.endswith(" &"):
            lines.append(line)
            continue
        servers += 1
        lines.append(line.removesuffix(" &") + f" 2>server-{servers}.log &")
        lines.append(WAIT.format(log=f"server-{servers}.log"))
        if "router serve" in line:
            lines.append(WAIT_FOR_SNAPSHOT.format(router=router))
    assert servers == 2
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=checkout,
        env={**os.environ, "TMPDIR": str(folder), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def test_the_steps_lead_to_a_plan_and_to_an_abstention(answers: str) -> None:
    assert "nordport.example/harbour_data/get_wind_forecast" in answers
    assert "Nothing fits" in answers


def test_the_python_example_routes(answers: str) -> None:
    assert "nordport.example/harbour_data/get_berth ['HAM-07']" in answers


def test_the_plan_in_the_readme_is_what_is_printed(answers: str, by_hand: str) -> None:
    (shown,) = blocks(by_hand, "text")
    printed = set(map(without_decimals, answers.splitlines()))
    assert [line for line in shown.splitlines() if without_decimals(line) not in printed] == []


def without_decimals(line: str) -> str:
    """Scores may differ in their last digits from one processor to the next."""
    return re.sub(r"\d+\.\d\d?\b", "#", line).rstrip()


def test_the_two_commands_are_there(checkout: Path) -> None:
    text = section((checkout / "README.md").read_text(encoding="utf-8"), "Two commands")
    for line in blocks(text, "sh")[0].splitlines():
        assert os.access(checkout / line.split()[0], os.X_OK), line


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links_lead_somewhere(checkout: Path, page: str) -> None:
    path = checkout / page
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_files_that_contributing_names_exist(checkout: Path) -> None:
    text = (checkout / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:proto|client|aggregator|router|benchmarks|scripts|tests)/[\w./-]+)`", text)
    assert len(named) >= 8
    assert [name for name in named if not (checkout / name).exists()] == []
