"""A query on its way through the router: checked, cut to what is read, masked, encoded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compendia.contract import ErrorCode, error
from compendia.contract.strict_json import check_text
from compendia.text.encode import Encoder
from compendia.text.mask import Masked
from compendia.text.spans import Span, Text, said, whole
from compendia.text.tokenize import tokenize

from .understand import Value, clauses, values
from .vectors import Rows, Vectors

READ_CHARACTERS = 4_000
"""How much of a query is read. Encoders see a few hundred words at most; the rest costs time."""

READ_TWICE = 128
"""Characters up to which a query that masking changes is read both ways. Of a longer one values change the
meaning little (a cosine of 0.94 on average to the masked text's vector), and a second reading takes a third
of a plan's encoding: no figure of `dev-mixed` fell without it, by 0.2 points in the mean they rose."""


@dataclass(frozen=True)
class EncodedQuery:
    """`vector` (d,) of the text as asked is compared with documentation, `masked_vector` (d,) with what
    organizations sent, for that is masked too; beyond READ_TWICE they are the same. `words` are those of the
    text as asked, in order; `part` says whether it is a part of a longer one."""

    text: str
    masked: str
    vector: Vectors
    masked_vector: Vectors
    words: Sequence[str]
    part: bool = False

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The distinct words, sorted."""
        return tuple(sorted(set(self.words)))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Everything particular in the text as asked."""
        return values(self.text)

    @cached_property
    def clauses(self) -> int:
        """How many clauses the text has."""
        return max(1, len(clauses(self.text)))


@dataclass(frozen=True)
class Requests:
    """Requests in a batch. Each has parts: its whole text, and its sentences if it has several.

    queries: the distinct texts. parts (p,): rows of `queries`, request by request. starts (r,): where among
    the parts each request begins, with its whole text.
    """

    queries: Sequence[EncodedQuery]
    parts: Rows
    starts: Rows

    @property
    def wholes(self) -> Rows:
        """The rows of the whole texts, (r,)."""
        return self.parts[self.starts]

    def of_any(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """What holds for any part of each request, (r, ...), of what holds for each text, (n, ...)."""
        return np.logical_or.reduceat(found[self.parts], self.starts, axis=0)

    def spoken(self) -> Iterator[tuple[int, Rows]]:
        """The requests that have sentences, by number, and the rows of these."""
        for request, rows in enumerate(np.split(self.parts, self.starts[1:])):
            if len(rows) > 1:
                yield request, rows[1:]

    @property
    def sentence(self) -> NDArray[np.bool_]:
        """Whether each part is one of several sentences, (p,)."""
        return ~np.isin(np.arange(len(self.parts)), self.starts)


def requests(asked: Sequence[Sequence[EncodedQuery]]) -> Requests:
    """Requests, each given as its parts. What several of them say is one text."""
    distinct = {part.text: part for parts in asked for part in parts}
    row = {text: at for at, text in enumerate(distinct)}
    return Requests(
        list(distinct.values()),
        np.asarray([row[part.text] for parts in asked for part in parts], np.int64),
        np.cumsum([0, *map(len, asked)])[:-1],
    )


def read_query(text: str) -> str:
    """The part of a query that is read. Raises EMPTY_QUERY for nothing but blanks, BAD_TEXT for text that is
    not Unicode."""
    check_text(text, "query")
    read = text.strip()[:READ_CHARACTERS].rstrip()
    if not read:
        raise error(ErrorCode.EMPTY_QUERY, "the query is empty", "query")
    return read


def encode_query(text: str, encoder: Encoder) -> EncodedQuery:
    """Mask and encode a query that `read_query` returned."""
    return encode_all([text], encoder)[0]


def encode_all(texts: Sequence[Text], encoder: Encoder, *, unmasked: bool = False) -> list[EncodedQuery]:
    """Encode many queries, or parts of them, in one batch; what masking leaves alone, and what is long, is
    encoded once. unmasked: nothing masked will be compared with them, so no text is encoded twice."""
    masked = list(texts) if unmasked else _masked(texts)
    again = [
        text if len(whole(text)) > READ_TWICE else hidden for text, hidden in zip(texts, masked, strict=True)
    ]
    distinct = list(dict.fromkeys([*texts, *again]))
    vectors = dict(zip(distinct, encoder.encode_queries(distinct), strict=True))
    return [
        EncodedQuery(
            said(text),
            said(hidden),
            vectors[text],
            vectors[other],
            tokenize(said(text)),
            part=isinstance(text, Span),
        )
        for text, hidden, other in zip(texts, masked, again, strict=True)
    ]


def join(parts: Sequence[EncodedQuery]) -> EncodedQuery:
    """What several parts ask of one tool, as one query; its vectors are the means of theirs."""
    if len(parts) == 1:
        return parts[0]
    return EncodedQuery(
        "; ".join(part.text for part in parts),
        "; ".join(part.masked for part in parts),
        _unit_mean([part.vector for part in parts]),
        _unit_mean([part.masked_vector for part in parts]),
        [word for part in parts for word in part.words],
        part=True,
    )


def _unit_mean(vectors: Sequence[Vectors]) -> Vectors:
    mean = np.mean(vectors, axis=0)
    return np.asarray(mean / np.linalg.norm(mean), np.float32)


def _masked(texts: Sequence[Text]) -> list[Text]:
    found = {text: Masked(text) for text in dict.fromkeys(map(whole, texts))}
    return [found[t.text].span(t) if isinstance(t, Span) else found[t].text for t in texts]
