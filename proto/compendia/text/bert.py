"""A BERT network (Devlin et al. 2019, arXiv:1810.04805) that reads several texts in one row.

A query and its parts have very different lengths. Here stand their tokens one after the other: the matrix
products see no padding, and only attention is done text by text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention


class Product:
    """Multiplies rows (n, inputs) by weights (outputs, inputs) and adds biases.

    In half precision where the processor multiplies matrices of it (AMX). That takes half the time there and
    leaves a text's vector at a cosine above 0.9999 to that of single precision. AVX-512 BF16 alone does not
    pay: a product of 120 tokens took 1.1 to 1.6 ms with it and 0.7 to 0.8 ms in single precision.
    """

    def __init__(self, weights: torch.Tensor, biases: torch.Tensor) -> None:
        kind = torch.bfloat16 if torch.cpu._is_amx_tile_supported() else torch.float32
        self._weights, self._biases = weights.to(kind), biases.to(kind)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return linear(rows.to(self._weights.dtype), self._weights, self._biases)


@dataclass(frozen=True)
class Norm:
    """Rows brought to mean 0 and variance 1, then scaled and moved (layer normalization)."""

    scale: torch.Tensor
    shift: torch.Tensor
    epsilon: float

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return layer_norm(rows, self.scale.shape, self.scale, self.shift, self.epsilon)


@dataclass(frozen=True)
class Layer:
    """One block: attention and the perceptron, each with a norm after it."""

    queries_keys_values: Product
    output: Product
    attention_norm: Norm
    up: Product
    down: Product
    perceptron_norm: Norm


class Bert:
    """The network in a directory as `transformers` saves it. Fixed once made; threads may share it."""

    def __init__(self, directory: Path) -> None:
        config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
        found = load_file(directory / "model.safetensors")

        def norm(name: str) -> Norm:
            return Norm(found[f"{name}.weight"], found[f"{name}.bias"], config["layer_norm_eps"])

        def product(*names: str) -> Product:
            """Of several matrices that multiply the same rows: one of all their outputs."""
            return Product(*(torch.cat([found[f"{name}.{kind}"] for name in names]) for kind in _PARTS))

        def layer(name: str) -> Layer:
            return Layer(
                product(*(f"{name}.attention.self.{part}" for part in ("query", "key", "value"))),
                product(f"{name}.attention.output.dense"),
                norm(f"{name}.attention.output.LayerNorm"),
                product(f"{name}.intermediate.dense"),
                product(f"{name}.output.dense"),
                norm(f"{name}.output.LayerNorm"),
            )

        self._heads: int = config["num_attention_heads"]
        self._words = found["embeddings.word_embeddings.weight"]
        kind_of_text = found["embeddings.token_type_embeddings.weight"][0]
        self._places = found["embeddings.position_embeddings.weight"] + kind_of_text
        self._norm = norm("embeddings.LayerNorm")
        self._layers = [layer(f"encoder.layer.{number}") for number in range(config["num_hidden_layers"])]

    @torch.inference_mode()
    def read(self, texts: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """The outputs of texts that are given as token numbers, none empty: (tokens, hidden size) of each."""
        lengths = [len(text) for text in texts]
        places = torch.cat([torch.arange(length) for length in lengths])
        rows = self._norm(self._words[torch.tensor(list(chain(*texts)))] + self._places[places])
        for layer in self._layers:
            attended = self._attend(layer.queries_keys_values(rows), lengths)
            rows = layer.attention_norm(rows + layer.output(attended))
            rows = layer.perceptron_norm(rows + layer.down(gelu(layer.up(rows))))
        return list(torch.split(rows, lengths))

    def _attend(self, projected: torch.Tensor, lengths: list[int]) -> torch.Tensor:
        """Attention of each text to itself; projected: (tokens, 3 * hidden size)."""
        heads = projected.float().view(1, len(projected), 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        found = [scaled_dot_product_attention(*of_text) for of_text in torch.split(heads, lengths, dim=3)]
        return torch.cat(found, dim=2)[0].transpose(0, 1).flatten(1)


_PARTS = ("weight", "bias")
