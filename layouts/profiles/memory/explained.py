"""What the memory consisted of at a moment: groups of blocks as a table, and the blocks of one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parsers.analysis.profiles.memory import BytesOverTime, Explained, difference, explain, value_at
from parsers.analysis.profiles.memory.blocks import FIRST, NEVER
from parsers.analysis.profiles.memory.recording import MemoryRecording
from parsers.deferred import pandas as pd
from parsers.model import Ints

from layouts.kit import units as fmt
from layouts.profiles.memory import memory_texts
from layouts.profiles.memory.plain import Plain, element, headings, words
from layouts.profiles.memory.plain import table as plain_table

BEFORE = "\0before"
"""Key of the block of all memory that was allocated before the recording."""
MOST_GROUPS, MOST_BLOCKS = 100, 100
"""Maximum rows of the tables on the page; files have all."""


@dataclass(frozen=True, slots=True)
class MemoryMoment:
    """A moment of a recording and what the memory consisted of then, by one of GROUPINGS."""

    recording: MemoryRecording
    time: int
    by: str
    explained: Explained

    def measure(self, name: str) -> int:
        """Return the bytes of a measure then; -1 for unknown."""
        series = self.recording.measures.get(name)
        return -1 if series is None else value_at(series, self.time)


def at_moment(operator_memory: pd.DataFrame, recording: MemoryRecording, time: int, by: str) -> MemoryMoment:
    """Explain the memory of a recording at a moment."""
    series = recording.measures.get("allocated", BytesOverTime(_NONE, _NONE))
    return MemoryMoment(recording, time, by, explain(operator_memory, recording.blocks, series, time, by=by))


_NONE = np.zeros(0, np.int64)


def groups_of(moment: MemoryMoment) -> list[tuple[str, int, int]]:
    """Return (key, blocks, bytes) of all groups and of the memory from before the recording, the largest first.

    The latter is negative where a file counts fewer bytes than its blocks have; blocks are -1 for it.
    """
    found = moment.explained
    groups = [(str(row[0]), int(row[1]), int(row[2])) for row in found.groups.itertuples(index=False, name=None)]
    if found.before:
        groups.append((BEFORE, -1, found.before))
    return sorted(groups, key=lambda group: -group[2])


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
    return f"{fmt.size(least)} – {fmt.size(2 * least)}" if least else fmt.size(0)


_LIBRARIES = ("site-packages", "dist-packages", "/lib/python", "<frozen")


def own_line(stack: str) -> str:
    """Return the first line of a call stack in a file of the program itself; libraries call the operator."""
    lines = [line.strip().rstrip(";") for line in stack.replace("|", "\n").splitlines() if line.strip()]
    return next((line for line in lines if not any(part in line for part in _LIBRARIES)), lines[0] if lines else "")


# The table ---------------------------------------------------------------------------------------------------------------


def table(moment: MemoryMoment, part: str | None, against: MemoryMoment | None = None) -> Plain:
    """The groups with blocks, bytes and share; beside another moment with its bytes and the difference."""
    if against is not None:
        return _compared(moment, against)
    groups = groups_of(moment)
    total = moment.explained.total
    shown, left = groups[:MOST_GROUPS], groups[MOST_GROUPS:]
    rows = []
    for key, count, size in shown:
        cells = (element("th", _named(key, moment.by), scope="row"), element("td", "" if count < 0 else fmt.count(count)),
                 _bytes(size), element("td", _bar(size, total)))  # fmt: skip
        rows.append(element("tr", *cells) if key == BEFORE else
                    element("tr", *cells, data_part=key, aria_selected=str(key == part).lower()))  # fmt: skip
    if left:
        count, size = sum(max(one[1], 0) for one in left), sum(one[2] for one in left)
        more = words("memory.more_groups", n=fmt.count(len(left)))
        rows.append(element("tr", element("th", more, scope="row"), element("td", fmt.count(count)), _bytes(size),
                            element("td", _bar(size, total))))  # fmt: skip
    blocks = sum(max(count, 0) for _, count, _ in groups)
    foot = element("tr", element("th", words("memory.total"), scope="row"), element("td", fmt.count(blocks)), _bytes(total),
                   element("td"))  # fmt: skip
    head = headings(f"memory.by.{moment.by}", "memory.blocks", "memory.size", "memory.share")
    return plain_table([head], rows, [foot], class_="ms-memory-groups")


def _compared(moment: MemoryMoment, against: MemoryMoment) -> Plain:
    found = compared(moment, against)
    rows = [
        element("tr", element("th", _named(str(group), moment.by), scope="row"), _bytes(this), _bytes(other),
                _bytes(this - other, signed=True))
        for group, this, other in zip(*(found[name].head(MOST_GROUPS).tolist() for name in (
            "group", "second_bytes", "first_bytes")), strict=True)
    ]  # fmt: skip
    if len(found) > MOST_GROUPS:
        more = words("memory.more_groups", n=fmt.count(len(found) - MOST_GROUPS))
        rows.append(element("tr", element("td", more, colspan="4")))
    this, other = moment.explained.total, against.explained.total
    foot = element("tr", element("th", words("memory.total"), scope="row"), _bytes(this), _bytes(other),
                   _bytes(this - other, signed=True))  # fmt: skip
    head = headings(f"memory.by.{moment.by}", "memory.this", "memory.other", "memory.difference")
    return plain_table([head], rows, [foot], class_="ms-memory-groups")


def compared(moment: MemoryMoment, against: MemoryMoment) -> pd.DataFrame:
    """Return the groups of both moments, memory from before the recording among them: first is the other, second this one."""
    found = difference(with_before(against), with_before(moment))
    order = np.lexsort((-found["second_bytes"].to_numpy(), -found["difference_bytes"].abs().to_numpy()))
    return found.iloc[order].reset_index(drop=True)


def with_before(moment: MemoryMoment) -> pd.DataFrame:
    """Return all groups, and the memory from before the recording under the key BEFORE: group, blocks, size_bytes."""
    columns = list(zip(*groups_of(moment), strict=True)) or [(), (), ()]
    return pd.DataFrame({"group": list(columns[0]), "blocks": list(columns[1]), "size_bytes": list(columns[2])})


def _named(key: str, by: str) -> Any:
    if key == BEFORE:
        return words("memory.before")
    if not key:
        return words("memory.unnamed")
    if by == "stack":
        lines = "\n".join(key.replace("|", "\n").splitlines())
        return element("details", element("summary", own_line(key)), element("pre", lines))
    return element("span", short(key, by), title=key)


def _bytes(value: int, *, signed: bool = False) -> Plain:
    shown = fmt.size(value, signed=True) if signed else fmt.size(value)
    return element("td", shown, title=memory_texts.exact(value))


def _bar(part: int, whole: int) -> Plain:
    width = 100.0 * part / whole if whole > 0 else 0.0
    fill = element("span", style=f"width:{min(max(width, 0.0), 100.0):.2f}%")
    share = memory_texts.percent(part, whole) if part >= 0 else "–"
    return element("span", fill, element("span", share), class_="ms-memory-share")


# Single blocks -----------------------------------------------------------------------------------------------------------

_COLUMNS = ("name", "size", "from", "to", "life", "stream", "address", "kind", "source")
"""Columns of the table of blocks; those that no shown block has are left out."""


def alive_of(operator_memory: pd.DataFrame, moment: MemoryMoment, part: str) -> Ints:
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


def largest(
    operator_memory: pd.DataFrame, recording: MemoryRecording, chosen: Ints, more: Mapping[str, Sequence[bool]] | None = None
) -> list[Plain]:
    """A table of the first MOST_BLOCKS of these blocks, and how many more there are; more as for `block_rows`."""
    few = {name: values[:MOST_BLOCKS] for name, values in (more or {}).items()}
    rows = element("div", block_rows(operator_memory, recording, chosen[:MOST_BLOCKS], few), class_="ms-memory-rows")
    left = len(chosen) - MOST_BLOCKS
    return [rows, element("p", words("memory.more_blocks", n=fmt.count(left)), class_="ms-muted")] if left > 0 else [rows]


def block_rows(
    operator_memory: pd.DataFrame, recording: MemoryRecording, chosen: Ints, more: Mapping[str, Sequence[bool]] | None = None
) -> Plain:
    """The blocks with these indices as a table: size, when allocated and released, how long in use, and where.

    more: further columns by name, which say yes or nothing.
    """
    blocks = recording.blocks
    frame = operator_memory.iloc[blocks.rows[chosen]]
    start, end, size = (values[chosen].tolist() for values in (blocks.start, blocks.end, blocks.size))
    columns: dict[str, list[Any]] = {
        "name": _texts(frame["name"], "–"),
        "size": [element("span", fmt.size(one), title=memory_texts.exact(one)) for one in size],
        "from": [_time(time, recording) for time in start], "to": [_time(time, recording) for time in end],
        "life": ["–" if one == FIRST or other == NEVER else memory_texts.offset(other - one, recording.clock)
                 for one, other in zip(start, end, strict=True)],
        "stream": _numbers(frame["stream"]), "address": _addresses(frame["address"]), "kind": _texts(frame["kind"]),
        "source": _texts(frame["source"]),
    }  # fmt: skip
    columns |= {name: ["✓" if yes else "" for yes in values] for name, values in (more or {}).items()}
    shown = [name for name in (*_COLUMNS[:5], *(more or {}), *_COLUMNS[5:]) if any(columns[name])]
    rows = [element("tr", *(element("td", cell) for cell in row))
            for row in zip(*(columns[name] for name in shown), strict=True)]  # fmt: skip
    return plain_table([headings(*(f"memory.col.{name}" for name in shown))], rows, class_="ms-memory-blocks")


def _time(time: int, recording: MemoryRecording) -> Any:
    if time == FIRST:
        return words("memory.before_short")
    if time == NEVER:
        return words("memory.never")
    return memory_texts.moment(time, recording.origin, recording.clock)


def _numbers(values: pd.Series) -> list[str]:
    return [str(value) if value >= 0 else "" for value in values.tolist()]


def _addresses(values: pd.Series) -> list[str]:
    return [f"0x{value:x}" if value >= 0 else "" for value in values.tolist()]


def _texts(values: pd.Series, none: str = "") -> list[Any]:
    return [element("span", str(text), title=str(text)) if text else none for text in values]
