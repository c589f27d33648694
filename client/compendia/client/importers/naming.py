"""Names that stand side by side in one source: distinct, and the same whatever the order they come in.

A thing's name depends on itself alone unless two things claim the same name; then both carry what tells
them apart, so that neither silently replaces the other and their order decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from compendia.contract import ErrorCode, error, strict_json
from compendia.contract.ids import distinct_slugs

from .texts import Notices


def distinct_names(names: Sequence[str], full_names: Sequence[str]) -> list[str]:
    """Id parts for `names`; of names claimed twice, for the longer `full_names` (which must be distinct)."""
    times = Counter(names)
    chosen = [full if times[name] > 1 else name for name, full in zip(names, full_names, strict=True)]
    return distinct_slugs(chosen)


def distinct_definitions(
    entries: Sequence[tuple[str, Any]], notices: Notices, what: str
) -> list[tuple[str, str, Any]]:
    """(id part, name, definition) of every entry: equal ones once, unequal namesakes apart by digest."""
    distinct: dict[tuple[str, str], Any] = {}
    for name, definition in entries:
        key = (name, strict_json.digest(definition))
        if key in distinct:
            notices.add(f"{what} stands more than once with the same definition; it counts once", name)
        distinct.setdefault(key, definition)
    times = Counter(name for name, _ in distinct)
    for name, count in times.items():
        if count > 1:
            notices.add(f"{what} has different definitions; each is kept under a digest of its own", name)
    parts = distinct_names([n for n, _ in distinct], [f"{name} {digest[:12]}" for name, digest in distinct])
    return [(part, name, found) for part, ((name, _), found) in zip(parts, distinct.items(), strict=True)]


def unsupported(found: str, wanted: str, tree: Any) -> Exception:
    """The error for a source of another kind; it says which kind the source looks like."""
    likely = likely_kind(tree)
    fix = f"this looks like kind `{likely}`: import it as that" if likely else f"pass {wanted}"
    return error(ErrorCode.SOURCE_UNSUPPORTED, found, fix=fix)


def likely_kind(tree: Any) -> str:
    """The kind that a tree looks like, or nothing."""
    if isinstance(tree, dict):
        if "openapi" in tree or "swagger" in tree:
            return "openapi"
        tree = next((tree[key] for key in ("tools", "functions", "api_list") if tree.get(key)), [tree])
    first = tree[0] if isinstance(tree, list) and tree else None
    if not isinstance(first, dict):
        return ""
    if "api_list" in first or ("tool_name" in first and "api_name" in first):
        return "toolbench"
    if "input_schema" in first or "parameters" in first or "function" in first:
        return "functions"
    return "mcp" if "inputSchema" in first or "tools" in first else ""
