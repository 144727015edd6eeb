"""Requests of the memory page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.analysis.profiles.memory import GROUPINGS

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import BadInput, number, text
from layouts.profiles.profile_choice import ProfileChoice, read_against, read_choice

FRAMES = ("memory", "operator_memory", "static_memory", "module_memory")
KEYS = ("component", "device", "clock", "from", "to", "at", "by", "part", "view", "capacity", "graph", "node")
"""Keys of the state: component, device and clock of the curve; window and moment in ns (events) after the first record;
grouping and chosen group of the blocks; view of the table; capacity in GiB; graph and node of the static plan."""
CLOCKS = ("ns", "event")
VIEWS = ("alive", "changed")
GIB = 1 << 30
_MOST_TIME = 2**61
"""Offsets beyond this could leave int64 when they are added to each other and to a time since 1970."""
_MOST_GIB = 1e6
_COLUMNS = (100, 8_000)


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """A request for parts of the page.

    component "": the default one; device -1: the first one; clock "": that of the curve, if there is one. window and at are
    offsets from the first record: at is (begin, width) of the pixel column that was pressed, None for the peak. by "": the
    first grouping that the files have. capacity in bytes, 0 for none. graph and node of the static plan, -1 for the first and
    the peak.
    """

    choice: ProfileChoice
    against: ProfileChoice | None = None
    component: str = ""
    device: int = -1
    clock: str = ""
    window: tuple[int, int] | None = None
    at: tuple[int, int] | None = None
    by: str = ""
    part: str | None = None
    view: str = "alive"
    capacity: int = 0
    graph: int = -1
    node: int = -1
    columns: int = 1_000
    language: str = "en"
    dark: bool = False


def read_ask(data: Any) -> MemoryRequest | None:
    """Parse a request from the browser; None if it names no profile. BadInput if it is malformed."""
    choice = read_choice(data)
    if choice is None:
        return None
    first, last = _whole(data, "from"), _whole(data, "to")
    return MemoryRequest(
        choice, read_against(data), text(data, "component"), _whole(data, "device", -1),
        text(data, "clock", "", ("", *CLOCKS)), (first, last) if first < last else None, _moment(text(data, "at", limit=60)),
        text(data, "by", "", ("", *GROUPINGS)), text(data, "part", limit=100_000) if (data or {}).get("part") else None,
        text(data, "view", "alive", VIEWS), round(number(data, "capacity", 0.0, 0.0, _MOST_GIB) * GIB),
        _whole(data, "graph", -1), _whole(data, "node", -1), int(number(data, "columns", 1_000, *_COLUMNS)),
        text(data, "lang", "en", choices=LANGUAGES), text(data, "theme", "light", ("light", "dark")) == "dark",
    )  # fmt: skip


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
