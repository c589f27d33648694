"""Splits by name, read from the datasets: the IO beside `splits`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from compendia.contract import ErrorCode, error

from . import metatool, sealtools, splits, stabletoolbench, toolbench_g3
from .datasets import dataset, files_of
from .splits import Split

Record = Callable[[str, Path], None]
"""Called with the name and the path of each file that is read."""


def load_split(
    name: str, data: Path | None = None, seed: int = 42, record: Record = lambda *_: None
) -> Split:
    """The split `stb-docs`, `stb-g3`, `metatool` or `sealtools`; only `metatool` depends on the seed.

    data: as `--data`. Raises DATA_MISSING, SOURCE_UNREADABLE, USAGE (no such split).
    """

    def folder(dataset_name: str, files: tuple[str, ...]) -> Path:
        found = dataset(dataset_name, data)
        for file, path in files_of(dataset_name, found, files).items():
            record(f"{dataset_name}/{file}", path)
        return found

    if name in ("stb-docs", "stb-g3"):
        corpus = stabletoolbench.read_stabletoolbench(folder(stabletoolbench.NAME, stabletoolbench.FILES))
        if name == "stb-docs":
            return splits.stb_docs(corpus)
        return splits.stb_g3(corpus, toolbench_g3.read_g3(folder(toolbench_g3.NAME, toolbench_g3.FILES)))
    if name == "metatool":
        return splits.metatool(metatool.read_metatool(folder(metatool.NAME, metatool.FILES)), seed)
    if name == "sealtools":
        return splits.sealtools(sealtools.read_sealtools(folder(sealtools.NAME, sealtools.FILES)))
    raise error(ErrorCode.USAGE, f"there is no split {name!r}", fix="stb-docs, stb-g3, metatool or sealtools")
