"""Where per-tool work runs. An executor cannot change a result: it maps a pure function, in order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar

from tenacity import Retrying, stop_after_attempt

from compendia.contract import ErrorCode, error

T = TypeVar("T")
R = TypeVar("R")


class Executor(Protocol):
    """Maps a module-level pure function over items. Use as a context manager; workers end with the block."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The results in the order of `items`. An exception of `function` is raised here."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class SerialExecutor:
    """In this process, one after the other."""

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        return [function(item) for item in items]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class ProcessExecutor:
    """In a pool of processes on this machine. Started fresh, not forked: a fork would copy gRPC's threads."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        size = max(1, -(-len(items) // (self._workers * 4)))
        return list(self._pool.map(function, items, chunksize=size))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()


class RayExecutor:
    """As Ray tasks, on this machine or on the cluster that `address` names.

    Raises MODEL_MISSING when the extra `ray` is not installed.
    """

    def __init__(self, workers: int, address: str | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise error(
                ErrorCode.MODEL_MISSING, "ray is not installed", fix="pip install 'compendia[ray]'"
            ) from None
        self._ray: Any = ray
        self._workers = workers
        self._started = not ray.is_initialized()
        if self._started:
            options: dict[str, Any] = {"address": address} if address else {"num_cpus": workers}
            # On a loaded machine a node may miss Ray's own start-up limit: then once more, from nothing.
            start = Retrying(stop=stop_after_attempt(3), before_sleep=lambda _: ray.shutdown(), reraise=True)
            start(ray.init, include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options)
        self._task = ray.remote(_apply)

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        size = max(1, -(-len(items) // (self._workers * 4)))
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        try:
            done = self._ray.get([self._task.remote(function, chunk) for chunk in chunks])
        except self._ray.exceptions.RayTaskError as fault:
            raise fault.cause from None
        return [result for chunk in done for result in chunk]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            self._ray.shutdown()


def _apply(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return [function(item) for item in items]


ExecutorName = Literal["serial", "process", "ray"]


def make_executor(name: ExecutorName, workers: int = 2) -> Executor:
    """The executor of that name. Raises USAGE for an unknown one, MODEL_MISSING without its package."""
    if name == "serial":
        return SerialExecutor()
    if name == "process":
        return ProcessExecutor(workers)
    if name == "ray":
        return RayExecutor(workers)
    raise error(ErrorCode.USAGE, f"unknown executor {name!r}", "--executor", "serial, process or ray")
