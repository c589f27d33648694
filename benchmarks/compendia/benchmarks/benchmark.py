"""What a benchmark is: a name, and parts that produce flat figures `{KEY: number}` from a `Session`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from compendia.contract import ErrorCode, error
from compendia.contract.strict_json import digest
from compendia.text.console import say

from .datasets import dataset
from .records import DecisionLog, sha256_of

if TYPE_CHECKING:
    from .splits import Split

T = TypeVar("T")
Figures = Mapping[str, float]
REPORT_EVERY_S = 10.0


@dataclass(frozen=True)
class Options:
    """What the person asked for. `only` holds figure keys, or patterns of them (`publish_*`).

    seeds: the first is the seed of every draw; a benchmark that depends on the draw is repeated with each.
    """

    data: Path | None = None
    limit: int | None = None
    only: tuple[str, ...] = ()
    llm: Literal["none", "local"] = "none"
    arms: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (42,)
    encoder: str = "minilm"

    @property
    def seed(self) -> int:
        """The seed of every draw that is not repeated."""
        return self.seeds[0]

    def slug(self) -> str:
        """A folder's name that tells this run from others of its benchmark: `default`, `llm-local`, ..."""
        words = [f"llm-{self.llm}"] * (self.llm != "none") + [f"arm-{arm}" for arm in self.arms]
        words += [f"seed-{seed}" for seed in self.seeds] if self.seeds != (42,) else []
        words += [self.encoder] * (self.encoder != "minilm") + [f"only-{key}" for key in self.only]
        words += [f"limit-{self.limit}"] * (self.limit is not None)
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", "_".join(words)) or "default"
        return name if len(name) <= 80 else f"{name[:60]}-{digest(words)[:12]}"


@dataclass
class Session:
    """One run: its options, where its logs go, and what its manifest will say it read and used.

    home: where caches are that runs share (the directory where None). intervals: 95 % intervals of figures.
    """

    options: Options
    directory: Path
    home: Path | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    def dataset(self, name: str) -> Path:
        """The folder of a dataset. Raises DATA_MISSING."""
        return dataset(name, self.options.data)

    def split(self, name: str, seed: int | None = None) -> Split:
        """A split of the datasets (`load`), its files noted as inputs. Raises DATA_MISSING."""
        from .load import load_split

        drawn = self.options.seed if seed is None else seed
        return self.once(
            f"split/{name}/{drawn}", lambda: load_split(name, self.options.data, drawn, self.record_input)
        )

    @property
    def caches(self) -> Path:
        """The directory of what runs share and may be deleted: embeddings, scores."""
        return self.home or self.directory

    def record_input(self, name: str, path: Path) -> None:
        """Note a file that was read, by its SHA-256."""
        self.inputs[name] = sha256_of(path)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` returns, made once for all parts of the run."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def log(self, name: str) -> DecisionLog:
        """A JSONL log of single decisions, `NAME.jsonl`; its digest enters the manifest."""
        return DecisionLog(self.directory / f"{name}.jsonl", self.logs)

    def track(self, items: Sequence[T], label: str) -> Iterator[T]:
        """The items, saying on stderr every few seconds how far this is and how much time is left."""
        started = reported = time.monotonic()
        for done, item in enumerate(items):
            now = time.monotonic()
            if done and now - reported >= REPORT_EVERY_S:
                left = (now - started) / done * (len(items) - done)
                say(f"{label}: {done}/{len(items)}, {duration(left)} left")
                reported = now
            yield item


@dataclass(frozen=True)
class Part:
    """Some figures that come from one measurement.

    keys: patterns of the figures it produces. when: whether the options call for it.
    """

    keys: tuple[str, ...]
    measure: Callable[[Session], Figures]
    when: Callable[[Options], bool] = lambda _: True

    def produces(self, key: str) -> bool:
        """Whether a figure of this key comes from here."""
        return any(fnmatchcase(key, pattern) for pattern in self.keys)


@dataclass(frozen=True)
class Benchmark:
    """A named benchmark; `about` is the line that `bench list` shows."""

    name: str
    about: str
    parts: tuple[Part, ...]

    def parts_for(self, options: Options) -> tuple[Part, ...]:
        """The parts to run: those that the options call for and `only` asks for.

        Raises USAGE when `only` names nothing that this benchmark produces.
        """
        called = tuple(part for part in self.parts if part.when(options))
        for wanted in options.only:
            if not any(asks(part, wanted) for part in called):
                raise error(
                    ErrorCode.USAGE,
                    f"{self.name} has no figure {wanted!r} with these options",
                    "--only",
                    "figures are " + ", ".join(key for part in called for key in part.keys),
                )
        return tuple(part for part in called if not options.only or any(asks(part, w) for w in options.only))


def matches(wanted: str, key: str) -> bool:
    """Whether `--only WANTED` names the figure: the key, a pattern of it, or its name before the `/`."""
    return fnmatchcase(key, wanted) or key.split("/")[0] == wanted


def asks(part: Part, wanted: str) -> bool:
    """Whether `--only WANTED` asks for a figure of the part."""
    return part.produces(wanted) or any(matches(wanted, pattern) for pattern in part.keys)


def duration(seconds: float) -> str:
    """Seconds as a person reads them.

    >>> duration(5.2), duration(130), duration(7300)
    ('5 s', '2 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
