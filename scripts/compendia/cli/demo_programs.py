"""The demo's processes: real `compendia` commands, each with a log, all of them ended whatever happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, NamedTuple, Self

from compendia.contract.errors import CompendiaError, ErrorCode, error

COMMAND = (sys.executable, "-m", "compendia.cli")
_POLL_S = 0.05
_STOP_S = 10.0
_LOG_LINES = 15


class Outcome(NamedTuple):
    """How a command ended: exit code, its JSON document (null without one), what it told on stderr."""

    code: int
    document: Any
    told: str


class Server:
    """A program that serves until it is stopped. It writes its address into a file once it answers."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.name = name
        self.process = process
        self.log = folder / f"{name}.log"
        self._port_file = folder / f"{name}.address"

    def address(self, timeout_s: float) -> str:
        """Where it listens, as soon as it does. Raises INTERNAL with the end of its log if it never does."""
        give_up = time.monotonic() + timeout_s
        while not self._port_file.exists():
            if self.process.poll() is not None:
                raise _failed(f"{self.name} ended with exit code {self.process.returncode}", self.log)
            if time.monotonic() > give_up:
                raise _failed(f"{self.name} did not answer within {timeout_s:g} s", self.log)
            time.sleep(_POLL_S)
        return self._port_file.read_text(encoding="utf-8").strip()


class Programs:
    """Starts commands in `folder`, where their logs and files go. Leaving the context ends all of them."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {**os.environ, **environment}
        self._running: list[subprocess.Popen[bytes]] = []
        self._lock = Lock()

    def serve(self, name: str, *words: str) -> Server:
        """Start a server that takes `--port-file`; returns at once."""
        words = (*words, "--port-file", f"{name}.address")
        with (self.folder / f"{name}.log").open("wb") as log:
            return Server(name, self._start(words, stdout=log, stderr=log), self.folder)

    def run(self, name: str, *words: str, refused: Sequence[int] = ()) -> Outcome:
        """Run a command to its end. Raises INTERNAL unless its exit code is 0 or stands in `refused`."""
        process = self._start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, told = process.communicate()
        log = self.folder / f"{name}.log"
        with log.open("ab") as file:
            file.write(f"$ compendia {' '.join(words)}\n".encode() + told)
        if process.returncode not in (0, *refused):
            raise _failed(f"`compendia {' '.join(words)}` ended with exit code {process.returncode}", log)
        document = json.loads(out) if out.strip() else None
        return Outcome(process.returncode, document, told.decode("utf-8", "replace"))

    def _start(self, words: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            **streams,
        )
        with self._lock:
            self._running.append(process)
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still runs: politely, then by force. Nothing survives a failure of the demo."""
        with self._lock:
            alive = [process for process in self._running if process.poll() is None]
        for process in alive:
            process.terminate()
        give_up = time.monotonic() + (_STOP_S if kind is None else 2.0)
        for process in alive:
            try:
                process.wait(max(give_up - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _failed(message: str, log: Path) -> CompendiaError:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
    told = "\n".join(f"    {line}" for line in lines) or "    (it said nothing)"
    return error(ErrorCode.INTERNAL, f"{message}. The end of its log:\n{told}\n", "demo")
