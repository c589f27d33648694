"""One cache a machine: programs agree on its place, and a person can move it."""

from __future__ import annotations

from pathlib import Path

import pytest

from compendia.text.places import CACHE_VARIABLE, cache_directory, scores_file, vectors_file


def test_the_variable_names_the_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "here"))
    assert cache_directory() == tmp_path / "here"
    assert vectors_file().parent == scores_file().parent == tmp_path / "here"
    assert vectors_file() != scores_file()
    assert scores_file(tmp_path / "mine.sqlite") == tmp_path / "scores.sqlite"


def test_else_it_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(CACHE_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "compendia"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "compendia"
