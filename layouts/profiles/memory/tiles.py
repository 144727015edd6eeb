"""The treemap of the memory in use: a tile for each group of blocks, those of scopes within a frame for each outer scope."""

from __future__ import annotations

from typing import Any, NamedTuple

from layouts.kit import units as fmt
from layouts.kit.figures.treemap import Area, squarified
from layouts.profiles.memory import memory_texts
from layouts.profiles.memory.explained import BEFORE, MemoryMoment, groups_of, short

REST, FRAME = "\0rest", "\0frame"
"""Keys of the tile of all small groups, and of the frames around others."""
WIDTH, HEIGHT = 640.0, 340.0
"""Size of the layout in pixels; the browser stretches the width."""
HEADER, PADDING = 17.0, 2.0
LEAST = Area(0.0, 0.0, 70.0, 48.0)
"""Smaller frames are one tile."""
MOST = 60
"""Maximum number of tiles in one frame."""
SPECK = 60.0
"""Least area of a tile of its own, in square pixels of the layout."""


class _TileEntry(NamedTuple):
    key: str
    label: str
    size: int
    inner: tuple[_TileEntry, ...] = ()


def tiles(moment: MemoryMoment) -> list[list[Any]]:
    """Lay out the groups: [x, y, width, height in fractions, key, text, size and share, bytes]; frames before the contents."""
    groups = [(key, size) for key, _, size in groups_of(moment) if size > 0]
    if moment.by == "scope":
        entries = _by_outer_scope(groups)
    else:
        entries = [_TileEntry(key, short(key, moment.by), size) for key, size in groups]
    total = sum(size for _, size in groups)
    return [_tile(entry, area, total) for entry, area in _placed(entries, Area(0.0, 0.0, WIDTH, HEIGHT))] if total else []


def _by_outer_scope(groups: list[tuple[str, int]]) -> list[_TileEntry]:
    """Gather groups by the first part of their scopes in which they differ."""
    parts = [key.split("/") for key, _ in groups if key not in (BEFORE, "")]
    shared = next((place for place, level in enumerate(zip(*parts, strict=False)) if len(set(level)) > 1),
                  min(map(len, parts), default=0))  # fmt: skip
    gathered: dict[str, list[tuple[str, int]]] = {}
    for key, size in groups:
        outer = key if key in (BEFORE, "") else "/".join(key.split("/")[: shared + 1])
        gathered.setdefault(outer, []).append((key, size))
    entries = []
    for outer, inside in gathered.items():
        if len(inside) == 1:
            entries.append(_TileEntry(inside[0][0], inside[0][0], inside[0][1]))
            continue
        inner = tuple(_TileEntry(key, key.removeprefix(f"{outer}/") if key != outer else "·", size) for key, size in inside)
        entries.append(_TileEntry(FRAME + outer, outer, sum(size for _, size in inside), inner))
    return entries


def _placed(entries: list[_TileEntry], area: Area) -> list[tuple[_TileEntry, Area]]:
    """Return each entry with its area, and the entries within; those too small for a tile of their own share one."""
    entries = sorted(entries, key=lambda entry: -entry.size)
    total = sum(entry.size for entry in entries)
    least = SPECK * total / max(area.width * area.height, 1.0)
    shown = [entry for entry in entries[:MOST] if entry.size >= least] or entries[:1]
    left = entries[len(shown) :]
    if left:
        shown.append(_TileEntry(REST, fmt.count(len(left)), sum(entry.size for entry in left)))
        shown.sort(key=lambda entry: -entry.size)
    found: list[tuple[_TileEntry, Area]] = []
    for entry, place in zip(shown, squarified([float(entry.size) for entry in shown], area), strict=True):
        found.append((entry, place))
        if entry.inner and place.width >= LEAST.width and place.height >= LEAST.height:
            inside = Area(place.x + PADDING, place.y + HEADER, place.width - 2 * PADDING, place.height - HEADER - PADDING)
            found += _placed(list(entry.inner), inside)
    return found


def _tile(entry: _TileEntry, area: Area, total: int) -> list[Any]:
    places = area.x / WIDTH, area.y / HEIGHT, area.width / WIDTH, area.height / HEIGHT
    return [
        *(round(part, 5) for part in places), entry.key, entry.label,
        f"{fmt.size(entry.size)} · {memory_texts.percent(entry.size, total)}", memory_texts.exact(entry.size),
    ]  # fmt: skip
