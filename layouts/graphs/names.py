"""Names of boxes, as used in links, to keys of a view and back. Names come from links, so they are looked up, not trusted."""

from __future__ import annotations

from parsers.analysis.graphs import GraphView, OpenScopes


def key_of(view: GraphView, name: str) -> str:
    """Return the key of the box with a name, "" if the graph has none."""
    kind, colon, path = name.partition(":")
    if colon and kind in ("s", "k"):
        scope = view.scopes.numbers.get(path, 0)
        return f"{kind}{scope}" if scope else ""
    row = row_of(view, name)
    return name if row >= 0 else ""


def row_of(view: GraphView, name: str) -> int:
    """Return the row of the node with a name, or of the first node of an aggregate; -1 for any other name."""
    digits = name[1:]
    if name[:1] not in ("n", "f") or not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return -1
    row = int(digits)
    return row if row < view.network.size and str(row) == digits else -1


def name_of(view: GraphView, key: str) -> str:
    """Return the name of the box with a key; "" if it is not a scope, stack, node or aggregate."""
    if key[:1] in ("s", "k") and key[1:].isdigit():
        return f"{key[0]}:{view.scopes.paths[int(key[1:])]}"
    return key if key[:1] in ("n", "f") else ""


def where(view: GraphView, name: str) -> tuple[str, OpenScopes]:
    """Return (key of the box that shows the named node or scope or "", what must be open for that)."""
    key = key_of(view, name)
    if key[:1] in ("n", "f"):
        found, shown = view.reveal(int(key[1:]))
        if key[0] == "n" or not found:
            return found, shown
        return key, OpenScopes(tuple(one for one in shown.opened if one != key), shown.pages)
    if not key:
        return "", OpenScopes()
    scope = int(key[1:])
    above = view.scopes.above(scope)[:-1]
    units = view.level(above[-1] if above else 0).units
    unit = next((unit for unit in units if unit.kind in ("scope", "stack") and scope in unit.members), None)
    return (unit.key if unit else ""), OpenScopes(tuple(f"s{one}" for one in above))
