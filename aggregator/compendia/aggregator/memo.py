"""What is kept between merges: contributions that were read, and merged tools.

A contribution is read once, and a tool about which nobody says anything new is not merged again.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from .contribution import Contribution
from .merge import MergedTool, ToolClaims

LEAVES_BYTES = 4_000_000
"""Of contributions, as received; some 40 MB as JSON."""


class LeafCache:
    """Contributions that were read and validated, by their key, up to LEAVES_BYTES; the least recently used
    go first. Safe to use from many threads."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, str], tuple[Contribution, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[str, int, str]) -> Contribution | None:
        """The contribution; None when it has to be read."""
        with self._turn:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, leaf: Contribution, size: int) -> None:
        """Keep a contribution of so many bytes."""
        with self._turn:
            self._bytes += size - self._kept.pop(leaf.key, (leaf, 0))[1]
            self._kept[leaf.key] = leaf, size
            while self._bytes > LEAVES_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1][1]


class ViewCache:
    """Merged tools by the digest of everything that went into them; the least recently used go first.

    Holds up to `capacity` tools. For one thread at a time. merged: how many tools it did not have so far.
    """

    def __init__(self, capacity: int = 20_000) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[str, MergedTool] = OrderedDict()
        self.merged = 0

    def get(self, key: str) -> MergedTool | None:
        """The merged tool; None when it has to be made."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, key: str, made: MergedTool) -> None:
        self.merged += 1
        self._kept[key] = made
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)


def memo_key(said: ToolClaims, function: str, encoder: str) -> str:
    """SHA-256 (hex) over the claims, the owner, and what merges and clusters them: vectors follow from it."""
    total = hashlib.sha256(f"{function}\0{encoder}\0{said.tool}\0{said.owner}".encode())
    for section, claims in said.claims.items():
        for org, record in claims:
            # Field order is fixed and every text is quoted: unequal claims give unequal bytes.
            total.update(f"\0{section}\0{org}\0{record.model_dump_json(exclude_defaults=True)}".encode())
    return total.hexdigest()
