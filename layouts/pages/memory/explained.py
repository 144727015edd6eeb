"""What the memory consisted of at a moment: groups of blocks as a treemap and a table, and the blocks of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.memory import GROUPINGS, Explained, Series, difference, explain, value_at
from parsers.analysis.memory.blocks import FIRST, NEVER
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts import format as fmt
from layouts.figures.treemap import Area, squarified
from layouts.i18n import t
from layouts.pages.memory import look
from layouts.pages.memory.recordings import Recording

BEFORE = "\0before"
"""Key of the block of all memory that was allocated before the recording."""
REST = "\0rest"
WIDTH, HEIGHT = 640.0, 320.0
"""Size of the treemap's layout in pixels; the browser stretches it."""
MOST_TILES = 60
SPECK = 60.0
"""Least area of a tile of its own, in square pixels of the layout."""
MOST_GROUPS, MOST_BLOCKS = 200, 100
"""Maximum rows of the tables on the page; files have all."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a recording and what the memory consisted of then, by one of GROUPINGS."""

    recording: Recording
    time: int
    by: str
    explained: Explained

    def measure(self, name: str) -> int:
        """Return the bytes of a measure then; -1 for unknown."""
        series = self.recording.measures.get(name)
        return -1 if series is None else value_at(series, self.time)


def groupings(operator_memory: pd.DataFrame, recording: Recording) -> tuple[str, ...]:
    """Return the groupings for which any block of the recording has a text; size needs none."""
    return tuple(by for by in GROUPINGS if by == "size" or _told(operator_memory, recording.blocks.rows, by))


def _told(operator_memory: pd.DataFrame, rows: Ints, by: str) -> bool:
    texts: Any = operator_memory[by].array
    named = np.array([*(bool(text) for text in texts.categories), False], np.bool_)
    if by == "component":
        return len(np.unique(texts.codes[rows])) > 1
    return bool(named.any() and named[texts.codes[rows]].any())


def at_moment(operator_memory: pd.DataFrame, recording: Recording, time: int, by: str) -> Moment:
    """Explain the memory of a recording at a moment."""
    series = recording.measures.get("allocated", Series(_NONE, _NONE))
    return Moment(recording, time, by, explain(operator_memory, recording.blocks, series, time, by=by))


_NONE = np.zeros(0, np.int64)


def groups_of(moment: Moment) -> list[tuple[str, int, int]]:
    """Return (key, blocks, bytes) of all groups and of the memory from before the recording, the largest first.

    The latter is negative where a file counts fewer bytes than its blocks have; blocks are -1 for it.
    """
    found = moment.explained
    groups = [(str(row[0]), int(row[1]), int(row[2])) for row in found.groups.itertuples(index=False, name=None)]
    if found.before:
        groups.append((BEFORE, -1, found.before))
    return sorted(groups, key=lambda group: -group[2])


def tiles(moment: Moment) -> list[list[Any]]:
    """Lay out the groups: [x, y, width, height in fractions, key, text, size, share]; small ones share one tile."""
    groups = [group for group in groups_of(moment) if group[2] > 0]
    total = sum(size for _, _, size in groups)
    if not total:
        return []
    least = SPECK * total / (WIDTH * HEIGHT)
    shown = [group for group in groups[:MOST_TILES] if group[2] >= least] or groups[:1]
    left = groups[len(shown) :]
    if left:
        shown.append((REST, len(left), sum(size for _, _, size in left)))
        shown.sort(key=lambda group: -group[2])
    places = squarified([float(size) for _, _, size in shown], Area(0.0, 0.0, WIDTH, HEIGHT))
    return [
        [
            *(round(part, 5) for part in (x / WIDTH, y / HEIGHT, width / WIDTH, height / HEIGHT)), key,
            fmt.count(count) if key == REST else short(key, moment.by), f"{look.size(size)} · {look.percent(size, total)}",
            look.exact(size),
        ]
        for (key, count, size), (x, y, width, height) in zip(shown, places, strict=True)
    ]  # fmt: skip


def short(key: str, by: str) -> str:
    """Return what a group is called where there is little room."""
    if by == "stack":
        return own_line(key)
    if by == "size":
        return size_range(key)
    return key


def size_range(key: str) -> str:
    """Return the sizes that a group of sizes holds: 1 KiB – 2 KiB."""
    least = int(key) if key.isdecimal() else 0
    return f"{look.size(least)} – {look.size(2 * least)}" if least else look.size(0)


_LIBRARIES = ("site-packages", "dist-packages", "/lib/python", "<frozen")


def own_line(stack: str) -> str:
    """Return the first line of a call stack in a file of the program itself; libraries call the operator."""
    lines = [line.strip().rstrip(";") for line in stack.replace("|", "\n").splitlines() if line.strip()]
    return next((line for line in lines if not any(part in line for part in _LIBRARIES)), lines[0] if lines else "")


# The table ---------------------------------------------------------------------------------------------------------------


def table(moment: Moment, part: str | None, against: Moment | None = None) -> html.Table:
    """The groups with blocks, bytes and share; beside another moment with its bytes and the difference."""
    if against is not None:
        return _compared(moment, against)
    groups = groups_of(moment)
    total = moment.explained.total
    shown, left = groups[:MOST_GROUPS], groups[MOST_GROUPS:]
    rows = [
        html.Tr(
            [
                html.Th(_named(key, moment.by), scope="row"), html.Td("" if count < 0 else fmt.count(count)),
                _bytes(size), html.Td(_bar(size, total)),
            ],
            **({"data-part": key, "aria-selected": str(key == part).lower()} if key != BEFORE else {}),
        )
        for key, count, size in shown
    ]  # fmt: skip
    if left:
        count, size = sum(max(one[1], 0) for one in left), sum(one[2] for one in left)
        rows.append(html.Tr([html.Th(t("memory.more_groups", n=fmt.count(len(left))), scope="row"),
                             html.Td(fmt.count(count)), _bytes(size), html.Td(_bar(size, total))]))  # fmt: skip
    blocks = sum(max(count, 0) for _, count, _ in groups)
    foot = html.Tr([html.Th(t("memory.total"), scope="row"), html.Td(fmt.count(blocks)), _bytes(total), html.Td("")])
    head = _head((f"memory.by.{moment.by}", "memory.blocks", "memory.size", "memory.share"))
    return html.Table([html.Thead(head), html.Tbody(rows), html.Tfoot(foot)], className="ms-memory-table ms-memory-groups")


def _compared(moment: Moment, against: Moment) -> html.Table:
    found = compared(moment, against)
    rows = [
        html.Tr([
            html.Th(_named(str(row["group"]), moment.by), scope="row"), _bytes(int(row["second_bytes"])),
            _bytes(int(row["first_bytes"])), _bytes(int(row["difference_bytes"]), signed=True),
        ])
        for row in found.head(MOST_GROUPS).to_dict("records")
    ]  # fmt: skip
    if len(found) > MOST_GROUPS:
        rows.append(html.Tr(html.Td(t("memory.more_groups", n=fmt.count(len(found) - MOST_GROUPS)), colSpan="4")))
    totals = moment.explained.total, against.explained.total
    foot = html.Tr([html.Th(t("memory.total"), scope="row"), *map(_bytes, totals), _bytes(totals[0] - totals[1], signed=True)])
    head = _head((f"memory.by.{moment.by}", "memory.this", "memory.other", "memory.difference"))
    return html.Table([html.Thead(head), html.Tbody(rows), html.Tfoot(foot)], className="ms-memory-table ms-memory-groups")


def compared(moment: Moment, against: Moment) -> pd.DataFrame:
    """Return the groups of both moments, memory from before the recording among them: first is the other, second this one."""
    found = difference(with_before(against), with_before(moment))
    order = np.lexsort((-found["second_bytes"].to_numpy(), -found["difference_bytes"].abs().to_numpy()))
    return found.iloc[order].reset_index(drop=True)


def with_before(moment: Moment) -> pd.DataFrame:
    """Return all groups, and the memory from before the recording under the key BEFORE: group, blocks, size_bytes."""
    columns = list(zip(*groups_of(moment), strict=True)) or [(), (), ()]
    return pd.DataFrame({"group": list(columns[0]), "blocks": list(columns[1]), "size_bytes": list(columns[2])})


def _head(keys: Sequence[str]) -> html.Tr:
    return html.Tr([html.Th(t(key), scope="col") for key in keys])


def _named(key: str, by: str) -> Any:
    if key == BEFORE:
        return t("memory.before")
    if not key:
        return t("memory.unnamed")
    if by == "stack":
        return html.Details([html.Summary(own_line(key)), html.Pre("\n".join(key.replace("|", "\n").splitlines()))])
    return html.Span(short(key, by), title=key)


def _bytes(value: int, *, signed: bool = False) -> html.Td:
    if value < 0 and not signed:
        return html.Td(f"-{look.size(-value)}", title=look.exact(value))
    return html.Td(look.signed(value) if signed else look.size(value), title=look.exact(value))


def _bar(part: int, whole: int) -> html.Span:
    width = 100.0 * part / whole if whole > 0 else 0.0
    fill = html.Span(style={"width": f"{min(max(width, 0.0), 100.0):.2f}%"})
    return html.Span([fill, html.Span(look.percent(part, whole) if part >= 0 else "–")], className="ms-memory-share")


# Single blocks -----------------------------------------------------------------------------------------------------------

_COLUMNS = ("name", "size", "from", "to", "life", "stream", "address", "kind", "source")
"""Columns of the table of blocks; those that no shown block has are left out."""


def alive_of(operator_memory: pd.DataFrame, moment: Moment, part: str) -> Ints:
    """Return the indices of the blocks of a group in use at the moment, the largest first."""
    blocks = moment.recording.blocks
    alive = blocks.alive_at(moment.time)
    size = blocks.size[alive]
    if moment.by == "size":
        least = int(part) if part.isdecimal() else 0
        chosen = (size >= least) & (size < 2 * least) if least else size < 1
    else:
        texts: Any = operator_memory[moment.by].array
        places = np.flatnonzero(np.asarray(texts.categories, object) == part)
        chosen = np.isin(texts.codes[blocks.rows[alive]], places)
    alive = alive[chosen]
    found: Ints = alive[np.argsort(-blocks.size[alive], kind="stable")]
    return found


def block_rows(
    operator_memory: pd.DataFrame, recording: Recording, chosen: Ints, more: Mapping[str, Sequence[bool]] | None = None
) -> html.Table:
    """The blocks with these indices as a table: size, when allocated and released, how long in use, and where.

    more: further columns by name, which say yes or nothing.
    """
    blocks = recording.blocks
    frame = operator_memory.iloc[blocks.rows[chosen]]
    columns: dict[str, list[Any]] = {
        "name": [html.Span(str(name) or "–", title=str(name)) for name in frame["name"]],
        "size": [html.Span(look.size(size), title=look.exact(size)) for size in blocks.size[chosen].tolist()],
        "from": [_time(time, recording) for time in blocks.start[chosen].tolist()],
        "to": [_time(time, recording) for time in blocks.end[chosen].tolist()],
        "life": [
            "–" if start == FIRST or end == NEVER else look.offset(end - start, recording.clock)
            for start, end in zip(blocks.start[chosen].tolist(), blocks.end[chosen].tolist(), strict=True)
        ],
        "stream": _numbers(frame["stream"]), "address": _addresses(frame["address"]),
        "kind": _texts(frame["kind"]), "source": _texts(frame["source"]),
    }  # fmt: skip
    columns |= {name: ["✓" if yes else "" for yes in values] for name, values in (more or {}).items()}
    shown = [name for name in (*_COLUMNS[:5], *(more or {}), *_COLUMNS[5:]) if any(columns[name])]
    rows = [html.Tr([html.Td(cell) for cell in row]) for row in zip(*(columns[name] for name in shown), strict=True)]
    head = _head([f"memory.col.{name}" for name in shown])
    return html.Table([html.Thead(head), html.Tbody(rows)], className="ms-memory-table ms-memory-blocks")


def _time(time: int, recording: Recording) -> Any:
    if time == FIRST:
        return t("memory.before_short")
    if time == NEVER:
        return t("memory.never")
    return look.moment(time, recording.origin, recording.clock)


def _numbers(values: pd.Series) -> list[str]:
    return [str(value) if value >= 0 else "" for value in values.tolist()]


def _addresses(values: pd.Series) -> list[str]:
    return [f"0x{value:x}" if value >= 0 else "" for value in values.tolist()]


def _texts(values: pd.Series) -> list[Any]:
    return [html.Span(str(text), title=str(text)) if text else "" for text in values]
