"""Peak memory of a running process, as the kernel counts it where it does, else by sampling."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

SAMPLE_S = 0.02
MIB = 1024 * 1024


class PeakMemory:
    """Watches a process and its children: `growth_mb` is peak over initial resident MiB.

    On Linux the kernel's own high-water mark (VmHWM, reset at entry) is taken as well, so that no peak
    between two samples is missed; the larger of the two counts.
    """

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.idle_mb = 0.0
        self.growth_mb = 0.0
        self._peak = 0

    def __enter__(self) -> Self:
        _reset_high_water(self._process.pid)
        self.idle_mb = self._resident() / MIB
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._peak = max(self._peak, self._resident(), _high_water(self._process.pid))
        self.growth_mb = self._peak / MIB - self.idle_mb

    def _sample(self) -> None:
        while not self._stop.wait(SAMPLE_S):
            self._peak = max(self._peak, self._resident())

    def _resident(self) -> int:
        total = 0
        for process in (self._process, *self._process.children(recursive=True)):
            try:
                total += process.memory_info().rss
            except psutil.NoSuchProcess:
                continue  # a child that ended holds nothing
        return total


def _reset_high_water(pid: int) -> None:
    mark = Path(f"/proc/{pid}/clear_refs")
    if mark.exists():
        mark.write_text("5")  # proc(5): resets the peak resident set size


def _high_water(pid: int) -> int:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    for line in status.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
