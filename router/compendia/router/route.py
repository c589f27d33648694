"""The router: from a query to an executable plan, on one revision from start to end."""

from __future__ import annotations

from compendia.contract import Ranking, Snapshot
from compendia.text.encode import Encoder

from .query import encode_query, read_query
from .retrieve import Revision, load_revision


class Router:
    """Answers queries from a snapshot. `refresh` may be called while queries run in other threads."""

    def __init__(self, snapshot: Snapshot, encoder: Encoder) -> None:
        self._encoder = encoder
        self._revision = load_revision(snapshot, encoder)

    @property
    def revision(self) -> Revision:
        """What queries that start now will see."""
        return self._revision

    def retrieve(self, query: str, k: int = 5) -> Ranking:
        """The k best tools. Raises EMPTY_QUERY and BAD_TEXT."""
        return self._revision.rank(encode_query(read_query(query), self._encoder), k)

    def refresh(self, snapshot: Snapshot) -> int:
        """Swap in a snapshot; returns how many texts had to be encoded."""
        loaded = load_revision(snapshot, self._encoder, self._revision)
        self._revision = loaded
        return loaded.index.encoded
