"""Requests of the memory page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from parsers.analysis.profiles.memory import GROUPINGS
from parsers.analysis.profiles.memory.recording import CLOCKS

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, number, text
from layouts.profiles.profile_choice import ProfileChoice, other_profile, profile

FRAMES = ("memory", "operator_memory", "static_memory", "module_memory")
VIEWS = ("alive", "changed")
GIB = 1 << 30
_MOST_TIME = 2**61
"""Offsets beyond this could leave int64 when they are added to each other and to a time since 1970."""
_MOST_GIB = 1e6
_COLUMNS = (100, 8_000)


def _whole(data: Any, key: str, default: int = 0) -> int:
    """Return a whole number under a key; texts are read digit by digit, as times exceed float64."""
    found = text(data, key, limit=40)
    return _integer(found, key) if found else default


def _moment(at: str) -> tuple[int, int] | None:
    """Parse a moment such as 1200 or 1200,40 (begin and width of a pixel column)."""
    if not at:
        return None
    begin, _, width = at.partition(",")
    return _integer(begin, "at"), _integer(width, "at") if width else 0


def _integer(found: str, key: str) -> int:
    digits = found.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or not -_MOST_TIME < int(found) < _MOST_TIME:
        raise BadInput(f"{key}: expected a whole number, found {found[:40]!r}")
    return int(found)


def _window(data: Any) -> tuple[int, int] | None:
    first, last = _whole(data, "from"), _whole(data, "to")
    return (first, last) if first < last else None


def _part(data: Any) -> str | None:
    return text(data, "part", limit=100_000) if (data or {}).get("part") else None


def _capacity(data: Any) -> int:
    return round(number(data, "capacity", 0.0, 0.0, _MOST_GIB) * GIB)


@dataclass(frozen=True, slots=True)
class MemoryRequest(Request):
    """A request for parts of the page.

    component "": the default one; device -1: the first one; clock "": that of the curve, if there is one. window and at are
    offsets from the first record: at is (begin, width) of the pixel column that was pressed, None for the peak. by "": the
    first grouping that the files have. capacity in bytes, 0 for none. graph and node of the static plan, -1 for the first and
    the peak.
    """

    choice: ProfileChoice = profile()
    against: ProfileChoice | None = other_profile()
    component: str = asked.word("component")
    device: int = asked.part(partial(_whole, key="device", default=-1), "device", default=-1)
    clock: str = asked.one_of("clock", ("", *CLOCKS))
    window: tuple[int, int] | None = asked.part(_window, "from", "to")
    at: tuple[int, int] | None = asked.parsed("at", _moment, limit=60)
    by: str = asked.one_of("by", ("", *GROUPINGS))
    part: str | None = asked.part(_part, "part")
    view: str = asked.one_of("view", VIEWS)
    capacity: int = asked.part(_capacity, "capacity", default=0)
    graph: int = asked.part(partial(_whole, key="graph", default=-1), "graph", default=-1)
    node: int = asked.part(partial(_whole, key="node", default=-1), "node", default=-1)
    columns: int = asked.columns()
    language: str = asked.language()
    dark: bool = asked.dark()


