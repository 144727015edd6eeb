"""Reads the state of a page, and ties controls to it.

The state (`layouts.page.State`) comes from the browser, so every value in it is untrusted: the decoders here give a value
of the right type within its bounds or raise `BadInput`, which the application answers with 400.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from dash import ClientsideFunction, Input, Output, State

from layouts.page import Ids
from layouts.sources import RunRow, RunSource
from layouts.theme import run_colours

NEWEST = 10
"""So many runs are on screen where the state names none."""
UNREAD = ("waiting", "loading")
"""States of a run that may turn out to have data of any kind."""

EVERY_RUN = "*"

Control = str | float | bool | Sequence[str]


class BadInput(ValueError):
    """A value from the browser is not of the kind it must be; says the key, what was wanted and what came."""


def _values(state: Any, key: str) -> list[str]:
    if state is None:
        return []
    if not isinstance(state, dict):
        raise BadInput(f"state: wanted an object; got {type(state).__name__}")
    values = state.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadInput(f"{key}: wanted a list of texts")
    return values


def text(state: Any, key: str, default: str = "", choices: Sequence[str] | None = None, limit: int = 4096) -> str:
    """The last text under a key, or default; at most limit characters, and one of choices where there are any."""
    values = _values(state, key)
    if not values:
        return default
    value = values[-1]
    if len(value) > limit:
        raise BadInput(f"{key}: wanted at most {limit} characters; got {len(value)}")
    if choices is not None and value not in choices:
        raise BadInput(f"{key}: wanted one of {', '.join(choices)}; got {value[:80]!r}")
    return value


def texts(state: Any, key: str) -> list[str]:
    """All texts under a key, each once, in order."""
    return list(dict.fromkeys(_values(state, key)))


def number(state: Any, key: str, default: float, low: float = -math.inf, high: float = math.inf) -> float:
    """The last number under a key, or default; finite and from low to high."""
    values = _values(state, key)
    if not values:
        return default
    try:
        value = float(values[-1])
    except ValueError as error:
        raise BadInput(f"{key}: wanted a number; got {values[-1][:80]!r}") from error
    if not math.isfinite(value) or not low <= value <= high:
        raise BadInput(f"{key}: wanted a number from {low:g} to {high:g}; got {values[-1][:80]!r}")
    return value


def flag(state: Any, key: str, default: bool = False) -> bool:
    """Whether the last value under a key is "1", or default; anything but "0" and "1" is BadInput."""
    return text(state, key, "1" if default else "0", choices=("0", "1")) == "1"


def selected_runs(state: Any, source: RunSource, kinds: Sequence[str] = (), *, every: bool = False) -> list[str]:
    """Member run keys on screen, in the order of the list of runs (newest first).

    Without a `run` key: those of the newest 10 runs that have, or may turn out to have, data of one of the kinds (what a page
    `needs`), of the newest 10 where none has; with every (`Page.every`) those of all such runs. `run=` alone: none. `run=*`:
    all. The key of a job stands for all its ranks; unknown keys are ignored, so a link outlives the runs it names.
    """
    keys = _values(state, "run")
    rows = source.runs()
    if not keys:
        having = [row for row in rows if row.state in UNREAD or any(row.tags.get(kind) for kind in kinds)] if kinds else rows
        return [member for row in (having or rows)[: None if every else NEWEST] for member in row.members]
    wanted = set(keys)
    whole = EVERY_RUN in wanted
    return [member for row in rows for member in row.members if whole or row.key in wanted or member in wanted]


def label_of(run: str, row: RunRow | None) -> str:
    """What a member run is called: the name of its row, for a rank of a job its own key."""
    return row.name if row and len(row.members) == 1 else run


def elsewhere(source: RunSource, chosen: Iterable[str], kind: str, most: int) -> list[dict[str, str]]:
    """Key and name of the newest runs that have data of a kind and of which no member is chosen, at most so many."""
    known = set(chosen)
    others = (row for row in source.runs() if row.tags.get(kind) and known.isdisjoint(row.members))
    return [{"key": row.key, "name": row.name} for row in islice(others, most)]


def stamped(found: dict[str, Any]) -> dict[str, Any]:
    """What was found, with a `digest` of it."""
    return found | {"digest": f"{zlib.crc32(json.dumps(found).encode()):08x}"}


def colours(source: RunSource) -> dict[str, str]:
    """Member run key -> colour, for every run: the one mapping that picker and charts draw with."""
    oldest_first = sorted(source.runs(), key=lambda row: (row.started or 0.0, row.key))
    return run_colours(member for row in oldest_first for member in row.members)


def bind(
    app: Any, ids: Ids, part: str, prop: str, key: str, kind: str = "text", default: Control | None = None
) -> None:
    """Keep a property of a control and one key of the store ids("state") in step, both ways, in the browser.

    kind: "text", "number", "flag" (property is a bool) or "list" (property is a list of texts). A default value is left out
    of the state, so a link names only what differs. The state wins when a page opens.
    """
    if kind not in ("text", "number", "flag", "list"):
        raise ValueError(f"bind: wanted kind text, number, flag or list; got {kind!r}")
    control = ids(part)
    # A clientside function gets no constants, so its name carries them: assets/state.js makes the function from the name.
    # Sorted keys: the browser finds a store by the text of its id.
    name = json.dumps([ids("state"), control, prop, key, kind, default], separators=(",", ":"), sort_keys=True)
    app.clientside_callback(
        ClientsideFunction("mindscope_to_control", name),
        Output(control, prop), Input(ids("state"), "data"), State(control, prop),
    )
    app.clientside_callback(
        ClientsideFunction("mindscope_to_state", name), Input(control, prop), State(ids("state"), "data"),
        prevent_initial_call=True,
    )
