"""The benchmarks there are. A new one is one line here and one file of published bounds."""

from __future__ import annotations

from compendia.contract import ErrorCode, error

from .abstain import ABSTAIN
from .benchmark import Benchmark
from .cost import COST
from .default_weights import DEFAULT_WEIGHTS
from .dev_mixed import DEV_MIXED
from .imports import IMPORTS
from .misattribution import MISATTRIBUTION
from .multilingual import MULTILINGUAL
from .oracle import ORACLE
from .rendering import RENDERING
from .speed import SPEED
from .stb_docs import STB_DOCS
from .stb_federated import STB_FEDERATED
from .stb_scale import STB_SCALE
from .tau_steps import TAUBENCH
from .two_llms import TWO_LLMS
from .typing_merge import TYPING
from .zero_label import METATOOL_ZERO, SEALTOOLS_ZERO

BENCHMARKS = (
    STB_DOCS,
    STB_FEDERATED,
    STB_SCALE,
    METATOOL_ZERO,
    SEALTOOLS_ZERO,
    MISATTRIBUTION,
    TYPING,
    ORACLE,
    RENDERING,
    TWO_LLMS,
    DEV_MIXED,
    DEFAULT_WEIGHTS,
    ABSTAIN,
    MULTILINGUAL,
    TAUBENCH,
    SPEED,
    COST,
    IMPORTS,
)


def find(name: str) -> Benchmark:
    """The benchmark of a name. Raises USAGE naming those there are."""
    for benchmark in BENCHMARKS:
        if benchmark.name == name:
            return benchmark
    raise error(
        ErrorCode.USAGE,
        f"there is no benchmark {name!r}",
        "NAME",
        "use one of " + ", ".join(benchmark.name for benchmark in BENCHMARKS),
    )
