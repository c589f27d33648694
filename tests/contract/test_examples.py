"""The examples in the docstrings of contract, text and the pure parts of the client hold."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import compendia.client
import compendia.contract
import compendia.text


def _modules(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [module.name for module in found if not module.ispkg]


MODULES = [name for p in (compendia.contract, compendia.text, compendia.client) for name in _modules(p)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
