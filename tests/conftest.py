"""What every test shares: offline models, one thread a library, where the public datasets are.

The environment is set before any library reads it, and child processes inherit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "120")  # its 30 s are too few beside other tests

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The public datasets; the test is skipped, with the reason, where they are absent."""
    named = os.environ.get("COMPENDIA_DATA")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            f"no datasets at {folder}: set COMPENDIA_DATA (benchmarks/README.md says how to get them)"
        )
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="also run the long forms (marked full)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long forms unless they are asked for, with `--full` or `-m full`."""
    if config.getoption("--full") or "full" in config.getoption("-m"):
        return
    long_form = [item for item in items if item.get_closest_marker("full")]
    if long_form:
        config.hook.pytest_deselected(items=long_form)
        items[:] = [item for item in items if item not in long_form]
