"""What both the masker and the tokenizer must know of the world's scripts, as pieces of a character class."""

from __future__ import annotations

import unicodedata


def _ranges(points: list[int]) -> str:
    ranges: list[list[int]] = []
    for point in points:
        if ranges and point == ranges[-1][1] + 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"  # Myanmar, Hangul Jamo, Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u31ff"  # radicals, iteration marks, Kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc"  # Han, Hangul, halfwidth forms
    "\U00020000-\U000323af"  # Han, the later planes
)
"""Scripts that set no blanks between words, or whose words carry their particles (Hangul)."""

MARKS = _ranges([p for p in range(0x300, 0x10000) if unicodedata.category(chr(p)).startswith("M")])
"""Combining marks. They belong to the letter before them, yet `\\w` leaves them out: without them, words of
Hindi or Tamil fall apart."""
