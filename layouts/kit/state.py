"""Read the state of a page, and bind controls to it.

The state (`layouts.kit.page.State`) comes from the browser, so every value in it is untrusted: the functions here return a
value of the right type within its bounds or raise `BadInput`, which the application answers with 400.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Sequence
from typing import Any

from dash import ClientsideFunction, Input, Output, State

from layouts.kit.page import Ids

Control = str | float | bool | Sequence[str]


class BadInput(ValueError):
    """An invalid value from the browser; the text names the key, what was expected and what was found."""


def values_of(state: Any, key: str) -> list[str]:
    """Return all texts under a key. Raises BadInput if there is something else."""
    if state is None:
        return []
    if not isinstance(state, dict):
        raise BadInput(f"state: expected an object; found {type(state).__name__}")
    values = state.get(key, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadInput(f"{key}: expected a list of texts")
    return values


def text(state: Any, key: str, default: str = "", choices: Sequence[str] | None = None, limit: int = 4096) -> str:
    """Return the last text under a key, or default; BadInput if it is longer than limit or not one of choices."""
    values = values_of(state, key)
    if not values:
        return default
    value = values[-1]
    if len(value) > limit:
        raise BadInput(f"{key}: expected at most {limit} characters; found {len(value)}")
    if choices is not None and value not in choices:
        raise BadInput(f"{key}: expected one of {', '.join(filter(None, choices))}; found {value[:80]!r}")
    return value


def texts(state: Any, key: str) -> list[str]:
    """Return all texts under a key in order, without duplicates."""
    return list(dict.fromkeys(values_of(state, key)))


def number(state: Any, key: str, default: float, low: float = -math.inf, high: float = math.inf) -> float:
    """Return the last number under a key, or default; BadInput unless it is finite and from low to high."""
    values = values_of(state, key)
    if not values:
        return default
    try:
        value = float(values[-1])
    except ValueError as error:
        raise BadInput(f"{key}: expected a number; found {values[-1][:80]!r}") from error
    if not math.isfinite(value) or not low <= value <= high:
        raise BadInput(f"{key}: expected a number from {low:g} to {high:g}; found {values[-1][:80]!r}")
    return value


def whole(state: Any, key: str, low: float = -(2.0**53), high: float = 2.0**53) -> int | None:
    """Return the last whole number under a key; None if there is none. Raises BadInput as `number` does."""
    return int(number(state, key, 0.0, low, high)) if text(state, key) else None


def interval(key: str, low: str, high: str) -> tuple[float, float] | None:
    """Parse the two ends of an interval, low < high; None if both are empty. BadInput names the key."""
    if not low and not high:
        return None
    try:
        ends = float(low), float(high)
    except ValueError as error:
        raise BadInput(f"{key}: expected numbers; found {low[:40]!r} and {high[:40]!r}") from error
    if not (math.isfinite(ends[0]) and math.isfinite(ends[1]) and ends[0] < ends[1]):
        raise BadInput(f"{key}: expected low < high; found {low[:40]!r} and {high[:40]!r}")
    return ends


def flag(state: Any, key: str, default: bool = False) -> bool:
    """Return whether the last value under a key is "1", or default; BadInput unless it is "0" or "1"."""
    return text(state, key, "1" if default else "0", choices=("0", "1")) == "1"


def stamped(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with a `digest` of it."""
    return content | {"digest": digest_of(content)}


def digest_of(content: Any) -> str:
    """Return a text that changes whenever content that can be sent as JSON does."""
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"


def bind(
    app: Any, ids: Ids, part: str, prop: str, key: str, kind: str = "text", default: Control | None = None
) -> None:
    """Synchronise a property of a control with one key of the store ids("state"), both ways, in the browser.

    kind: "text", "number", "flag" (the property is a bool) or "list" (the property is a list of texts). A default value is
    left out of the state, so a link contains only what differs. When a page opens, the state wins.
    """
    if kind not in ("text", "number", "flag", "list"):
        raise ValueError(f"bind: expected kind text, number, flag or list; found {kind!r}")
    control = ids(part)
    # A clientside function takes no constants, so its name carries them: assets/kit/state.js parses the name.
    # Keys are sorted because the browser looks a store up by the text of its id.
    name = json.dumps([ids("state"), control, prop, key, kind, default], separators=(",", ":"), sort_keys=True)
    app.clientside_callback(
        ClientsideFunction("mindscope_to_control", name),
        Output(control, prop), Input(ids("state"), "data"), State(control, prop),
    )
    app.clientside_callback(
        ClientsideFunction("mindscope_to_state", name), Input(control, prop), State(ids("state"), "data"),
        prevent_initial_call=True,
    )
