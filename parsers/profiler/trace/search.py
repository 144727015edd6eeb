"""Slices by their name: those that contain a text, or that a regular expression finds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from parsers.profiler.trace.columns import Trace

_ROWS = 1 << 18
_LINES = 1 << 14
"""Names that are searched at once, so that what is found stays in the caches."""
_SAFE = re.compile(r"(?:\\[dwbS.()\[\]*+?|{}/@:#-]|\[(?!\^)|\((?!\?)|[^\\\[(])*")
"""Patterns that cannot match the line feed between two names, nor tell it from the end of a text."""


class TraceNames:
    """The names of a trace as one text, in which a million are searched as quickly as ten thousand one by one."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._text = "\n".join(names)
        self._divided = self._text.count("\n") != max(len(names) - 1, 0)
        if self._divided:
            self._text = "\n".join(name.replace("\n", " ") for name in names)
        self._lower = self._text.lower().encode("utf-8", "surrogatepass")
        self._ends = _line_ends(self._lower)

    def containing(self, text: str) -> NDArray[np.int64]:
        """Indexes of the names that contain a text, in whatever case. Every name contains an empty one."""
        if not text or not self._names:
            return np.arange(len(self._names))
        wanted = text.lower().encode("utf-8", "surrogatepass")
        if self._divided:
            return self._each(lambda name: wanted in name.lower().encode("utf-8", "surrogatepass"))
        if b"\n" in wanted:
            return np.zeros(0, np.int64)
        found = [np.zeros(0, np.int64)]
        for first in range(0, len(self._names), _LINES):
            begin = int(self._ends[first - 1]) + 1 if first else 0
            end = int(self._ends[first + _LINES - 1]) if first + _LINES <= len(self._ends) else len(self._lower)
            parts = self._lower[begin:end].split(wanted)
            if len(parts) > 1:
                steps = np.fromiter(map(len, parts), np.int64, len(parts))[:-1] + len(wanted)
                lines = np.searchsorted(self._ends[first : first + _LINES], begin + np.cumsum(steps) - len(wanted))
                found.append(first + lines[np.diff(lines, prepend=-1) > 0])
        return np.concatenate(found)

    def matching(self, pattern: re.Pattern[str]) -> NDArray[np.int64]:
        """Indexes of the names in which a regular expression finds something. It is not limited in time."""
        simple = not self._divided and not pattern.flags & (re.DOTALL | re.VERBOSE) and _SAFE.fullmatch(pattern.pattern)
        if not simple or not self._names or pattern.search("") is not None or pattern.search("\n") is not None:
            return self._each(lambda name: pattern.search(name) is not None)
        lines = re.compile(pattern.pattern, pattern.flags | re.MULTILINE)
        found = np.fromiter((match.start() for match in lines.finditer(self._text)), np.int64)
        ends = self._ends if self._text.isascii() else _line_ends(self._text.encode("utf-32-le", "surrogatepass"), "<u4")
        return np.unique(np.searchsorted(ends, found))

    def _each(self, found: Callable[[str], bool]) -> NDArray[np.int64]:
        return np.array([number for number, name in enumerate(self._names) if found(name)], np.int64)


def find(
    trace: Trace,
    wanted: str | re.Pattern[str],
    tracks: Sequence[int] | None = None,
    shortest_ns: int = 0,
    limit: int | None = None,
    *,
    names: TraceNames | None = None,
) -> NDArray[np.int64]:
    """Rows of the slices on tracks (all if None) whose name contains a text or matches, of at least `shortest_ns`.

    They come by start, then row; `limit` keeps the first ones. `TraceNames` made beforehand saves joining them each time.
    """
    names = names or TraceNames(trace.names)
    found = names.containing(wanted) if isinstance(wanted, str) else names.matching(wanted)
    return rows(trace, found, tracks, shortest_ns, limit)


def rows(
    trace: Trace, names: NDArray[np.int64], tracks: Sequence[int] | None = None, shortest_ns: int = 0, limit: int | None = None
) -> NDArray[np.int64]:
    """Rows of the slices that have one of the names (indexes into Trace.names), as `find` returns them."""
    named = np.zeros(len(trace.names), np.bool_)
    named[names] = True
    found = [np.zeros(0, np.int64)]
    for track in trace.tracks if tracks is None else [trace.tracks[index] for index in sorted(set(tracks))]:
        for first in range(track.first, track.last, _ROWS):
            part = slice(first, min(first + _ROWS, track.last))
            hits = named[trace.slices.name[part]]
            if shortest_ns > 0:
                hits &= trace.slices.duration[part] >= shortest_ns
            found.append(np.flatnonzero(hits) + first)
    all_ = np.concatenate(found)
    return all_[np.argsort(trace.slices.start[all_], kind="stable")][:limit]


def _line_ends(text: bytes, form: str = "u1") -> NDArray[np.int64]:
    """Where each line but the last ends, in characters of `form`."""
    return np.flatnonzero(np.frombuffer(text, form) == 10)
