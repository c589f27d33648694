"""A Llama-style network read for several token sequences at once, each going on from a prefix of its own.

What `transformers` would pad into a batch stands here in one row, token after token: the matrix products see
no padding, nothing of a prefix is copied but what attention needs, and only the attention itself is done per
sequence. Architecture: Touvron et al. 2023, arXiv:2302.13971; grouped queries: Ainslie et al. 2023,
arXiv:2305.13245.

In eight bits, weights have one scale per output and activations one per token, and the few inputs that are
always large stay as they are (Dettmers et al. 2022, arXiv:2208.07339). Products are exact in integers, so
what else is read with a token cannot change its result, but for how those few are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, Protocol

import torch
from torch.nn.functional import linear, scaled_dot_product_attention, silu

from .language_model import Precision

VOCABULARY_STEP = 4096
"""So many words at a time: their scores for all tokens stay in the processor's cache."""

APART = 32
"""One input in so many stands apart."""

TINY = 1e-12


@dataclass(frozen=True)
class Prefix:
    """What is kept of tokens that were read.

    states: their keys and values, (layers, 2, heads, tokens, head size). last: the network's output at the
    last of them, (hidden size,), which predicts the token that follows.
    """

    states: torch.Tensor
    last: torch.Tensor

    @property
    def tokens(self) -> int:
        return int(self.states.shape[3])

    @property
    def size_bytes(self) -> int:
        return sum(kept.numel() * kept.element_size() for kept in (self.states, self.last))


class Weights(Protocol):
    """A matrix (outputs, inputs) that multiplies rows (n, inputs) of single precision."""

    def __call__(self, rows: torch.Tensor) -> torch.Tensor: ...

    def steps(self, rows: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        """The same, so many outputs at a time."""
        ...


class FloatWeights:
    """Weights in half or single precision.

    watch: keep in `largest` (inputs,) the greatest magnitude that each input had.
    """

    def __init__(self, weights: torch.Tensor, *, watch: bool = False) -> None:
        self._weights, self._watch = weights, watch
        self.largest = torch.zeros(weights.shape[1])

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        if self._watch:
            torch.maximum(self.largest, rows.abs().amax(0), out=self.largest)
        return linear(rows.to(self._weights.dtype), self._weights).float()

    def steps(self, rows: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        given = rows.to(self._weights.dtype)
        for weights in torch.split(self._weights, size):
            yield linear(given, weights).float()


@dataclass(frozen=True)
class ByteWeights:
    """Weights in eight bits, the largest of each output at 127, but for the inputs that stand apart.

    weights: int8, zero at those. scales: (outputs,). apart: their places. apart_weights: (apart, outputs).
    """

    weights: torch.Tensor
    scales: torch.Tensor
    apart: torch.Tensor
    apart_weights: torch.Tensor

    @classmethod
    def of(cls, weights: torch.Tensor, largest: torch.Tensor) -> ByteWeights:
        """The nearest to weights of any other type; the inputs that were `largest` stand apart."""
        exact = weights.float()
        apart = largest.topk(max(1, len(largest) // APART)).indices.sort().values
        apart_weights = exact[:, apart].t().contiguous()
        exact[:, apart] = 0
        scales = exact.abs().amax(1).clamp_min(TINY) / 127
        return cls((exact / scales[:, None]).round().to(torch.int8), scales, apart, apart_weights)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return next(self.steps(rows, len(self.scales)))

    def steps(self, rows: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
        aside = rows.index_select(1, self.apart)
        rest = rows.index_fill(1, self.apart, 0)
        scales = rest.abs().amax(1, keepdim=True).clamp_min(TINY) / 127
        rounded = rest.div_(scales).round_().to(torch.int8)
        for start in range(0, len(self.scales), size):
            here = slice(start, start + size)
            found = (
                torch._int_mm(rounded, self.weights[here].t()).float().mul_(scales).mul_(self.scales[here])
            )
            yield found.addmm_(aside, self.apart_weights[:, here])


@dataclass(frozen=True)
class Layer:
    """One block: attention and the gated perceptron, each after its norm."""

    attention_norm: torch.Tensor
    queries_keys_values: Weights
    output: Weights
    perceptron_norm: torch.Tensor
    gate_up: Weights
    down: Weights


class Network:
    """The network of a `transformers` Llama model. Fixed once made; safe to read from many threads.

    words: outputs to the scores of all words.
    """

    def __init__(self, model: Any, matrix: Callable[[torch.Tensor], Weights], kept: torch.dtype) -> None:
        """model: a LlamaForCausalLM, which may be dropped afterwards. matrix: makes weights of its tensors.
        kept: type of what is kept of prefixes, which is large."""
        config = model.config
        self._heads, self._groups = config.num_attention_heads, config.num_key_value_heads
        self._head_size: int = config.head_dim
        self._epsilon: float = config.rms_norm_eps
        self._theta = float(config.rope_parameters["rope_theta"])
        self._kept = kept
        self._embedding = model.model.embed_tokens.weight.detach()
        self._norm = _floats(model.model.norm)
        self._layers = [_layer(matrix, layer) for layer in model.model.layers]
        self.words = matrix(model.lm_head.weight.detach())

    def outputs(
        self, sequences: Sequence[Sequence[int]], prefixes: Sequence[Prefix | None]
    ) -> list[torch.Tensor]:
        """Read token sequences, none empty, each after its prefix: (tokens, hidden size) of each.

        An output is the state from which `log_probabilities` tells the token that follows.
        """
        rows, places, _ = self._read(sequences, prefixes)
        return [rows[place] for place in places]

    def prefixes(self, sequences: Sequence[Sequence[int]]) -> list[Prefix]:
        """Token sequences, none empty, read from their beginning, to be kept."""
        rows, places, states = self._read(sequences, [None] * len(sequences))
        kept = torch.stack([state.to(self._kept) for state in states])
        return [Prefix(kept[:, :, :, place].clone(), rows[place][-1].clone()) for place in places]

    def log_probabilities(self, outputs: torch.Tensor, tokens: Sequence[int]) -> torch.Tensor:
        """log P of the token (n,) that follows each output (n, hidden size), in nats."""
        wanted = torch.tensor(tokens)
        found, totals = torch.zeros(len(wanted)), []
        with torch.inference_mode():
            start = 0
            for scores in self.words.steps(outputs, VOCABULARY_STEP):
                here = ((wanted >= start) & (wanted < start + scores.shape[1])).nonzero()[:, 0]
                found[here] = scores[here, wanted[here] - start]
                # What all together weigh: torch's softmax goes over a row once, while it is in the cache.
                totals.append(scores[:, 0] - scores.log_softmax(1)[:, 0])
                start += scores.shape[1]
            return found - torch.stack(totals).logsumexp(0)

    def _read(
        self, sequences: Sequence[Sequence[int]], prefixes: Sequence[Prefix | None]
    ) -> tuple[torch.Tensor, list[slice], list[torch.Tensor]]:
        """The outputs of all sequences in one row, where each stands, keys and values of each layer."""
        held = [prefix.tokens if prefix else 0 for prefix in prefixes]
        lengths = [len(sequence) for sequence in sequences]
        places = [slice(start, end) for start, end in pairwise([0, *accumulate(lengths)])]
        masks = [self._mask(length, before) for length, before in zip(lengths, held, strict=True)]
        states = []
        with torch.inference_mode():
            turn = self._turn(torch.cat([torch.arange(h, h + n) for h, n in zip(held, lengths, strict=True)]))
            rows = self._embedding[torch.tensor(list(chain(*sequences)))].float()
            for number, layer in enumerate(self._layers):
                kept = [prefix.states[number] if prefix else None for prefix in prefixes]
                projected = layer.queries_keys_values(self._normed(rows, layer.attention_norm))
                queries, state = self._split(projected, turn)
                attended = self._attend(queries, state, places, kept, masks)
                rows += layer.output(attended)
                gate, up = layer.gate_up(self._normed(rows, layer.perceptron_norm)).chunk(2, dim=1)
                rows += layer.down(silu(gate).mul_(up))
                states.append(state)
            return self._normed(rows, self._norm), places, states

    def _split(
        self, projected: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Queries (groups, heads a group, tokens, head size), keys and values (2, groups, tokens, head size);
        queries and keys turned by their positions."""
        heads = projected.view(len(projected), -1, self._head_size).transpose(0, 1)
        turned = self._heads + self._groups
        left, right = heads[:turned].chunk(2, dim=2)
        cosines, sines = turn
        moved = torch.cat((left * cosines - right * sines, right * cosines + left * sines), dim=2)
        queries = moved[: self._heads].view(self._groups, -1, len(projected), self._head_size)
        return queries, torch.stack((moved[self._heads :], heads[turned:]))

    def _attend(
        self,
        queries: torch.Tensor,
        state: torch.Tensor,
        places: Sequence[slice],
        kept: Sequence[torch.Tensor | None],
        masks: Sequence[torch.Tensor],
    ) -> torch.Tensor:
        """Attention of each sequence to its prefix and itself: (tokens, heads * head size)."""
        found = torch.empty_like(queries)
        for place, before, mask in zip(places, kept, masks, strict=True):
            own = state[:, :, place]
            keys, values = own if before is None else torch.cat((before, own), dim=2)
            # The heads that share keys stand one after the other, as if they were more tokens.
            asked = queries[:, :, place].flatten(1, 2)
            attended = scaled_dot_product_attention(asked[None], keys[None], values[None], attn_mask=mask)
            found[:, :, place] = attended.view(*queries.shape[:2], -1, self._head_size)
        return found.flatten(0, 1).transpose(0, 1).flatten(1)

    def _mask(self, length: int, before: int) -> torch.Tensor:
        """-inf where a token may not look: (heads a group * length, before + length)."""
        later = torch.full((length, length), -torch.inf).triu_(1)
        return torch.cat((torch.zeros(length, before), later), dim=1).repeat(self._heads // self._groups, 1)

    def _turn(self, positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosines and sines of the rotary embedding (Su et al. 2021), each (tokens, head size / 2)."""
        half = self._head_size // 2
        angles = positions[:, None] * self._theta ** (-torch.arange(half) / half)
        return angles.cos(), angles.sin()

    def _normed(self, rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (rows * weight).mul_((rows.square().mean(1, keepdim=True) + self._epsilon).rsqrt_())


def make_network(model: Any, precision: Precision, sample: Sequence[int]) -> Network:
    """The network of a LlamaForCausalLM. sample: tokens to see by which inputs are large, for `int8`."""
    if precision != "int8":
        dtype = getattr(torch, precision)
        return Network(model, lambda tensor: FloatWeights(tensor.to(dtype)), dtype)
    watched: list[FloatWeights] = []

    def watch(tensor: torch.Tensor) -> Weights:
        watched.append(FloatWeights(tensor, watch=True))
        return watched[-1]

    trial = Network(model, watch, torch.bfloat16)
    trial.words(trial.outputs([sample], [None])[0])
    seen = iter(watched)
    return Network(model, lambda tensor: ByteWeights.of(tensor, next(seen).largest), torch.bfloat16)


def _layer(matrix: Callable[[torch.Tensor], Weights], layer: Any) -> Layer:
    def joined(*parts: Any) -> Weights:
        """Matrices that multiply the same rows, as one."""
        return matrix(torch.cat([part.weight.detach() for part in parts]))

    attention, perceptron = layer.self_attn, layer.mlp
    return Layer(
        _floats(layer.input_layernorm),
        joined(attention.q_proj, attention.k_proj, attention.v_proj),
        joined(attention.o_proj),
        _floats(layer.post_attention_layernorm),
        joined(perceptron.gate_proj, perceptron.up_proj),
        joined(perceptron.down_proj),
    )


def _floats(part: Any) -> torch.Tensor:
    weight: torch.Tensor = part.weight.detach().float()
    return weight
