"""What a run leaves behind: logs of single decisions, digests of what it read, the versions it ran on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from compendia.contract import ErrorCode, error
from compendia.contract.times import write_time

from .datasets import CHECKOUT

RESULT = "result.json"
"""The document of a run, beside its logs."""

PACKAGES = (
    "compendia",
    "numpy",
    "torch",
    "tokenizers",
    "transformers",
    "faiss-cpu",
    "bm25s",
    "scikit-learn",
    "scipy",
    "grpcio",
)
"""Distributions whose versions can move a figure."""


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal. Raises SOURCE_UNREADABLE."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as fault:
        raise error(ErrorCode.SOURCE_UNREADABLE, f"cannot read {path}: {fault.strerror}", str(path)) from None


def utc_now() -> str:
    """The time as `2026-09-04T10:00:00Z`."""
    return write_time(datetime.now(UTC))


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n", "utf-8")
    draft.replace(path)


class DecisionLog:
    """A JSONL file, one decision a line, written anew; on close its digest enters `digests`."""

    def __init__(self, path: Path, digests: dict[str, str]) -> None:
        self._path = path
        self._digests = digests
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = self._path.open("w", encoding="utf-8")
        return self

    def write(self, **decision: Any) -> None:
        """Add one line. Keys keep their order."""
        assert self._stream is not None, "open the log with `with`"
        self._stream.write(json.dumps(decision, ensure_ascii=False, allow_nan=False) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._stream is not None
        self._stream.close()
        if kind is None:
            self._digests[self._path.name] = sha256_of(self._path)


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Installed versions of the packages that are there, and of Python."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def commit(checkout: Path = CHECKOUT) -> str:
    """The checkout's commit, with `+changes` where files differ from it; `unknown` outside of git."""
    try:
        head = _git(checkout, "rev-parse", "HEAD").strip()
        changed = _git(checkout, "status", "--porcelain", "--untracked-files=no").strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+changes" if changed else head


def cpu_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _git(checkout: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(checkout), *words], check=True, capture_output=True, text=True, timeout=30
    ).stdout
