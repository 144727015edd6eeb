"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.sources import RunSource
from layouts.state import BadInput, selected_runs, text

_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Ask:
    """The result to explain and the setting to show it over, "" for the default of either; whether its axis is logarithmic,
    None for as it fits; what to do with the forest; runs, None for all."""

    target: str
    setting: str
    log: bool | None
    act: str
    runs: frozenset[str] | None


def read_ask(data: Any, source: RunSource) -> Ask:
    """The ask a browser sent, or BadInput."""
    if data is not None and not isinstance(data, dict):
        raise BadInput(f"ask: wanted an object; got {type(data).__name__}")
    log = text(data, "log", "", choices=("", "0", "1"))
    named = bool((data or {}).get("run"))
    return Ask(
        text(data, "target", "", limit=_LONGEST), text(data, "setting", "", limit=_LONGEST), None if log == "" else log == "1",
        text(data, "act", "", choices=("", "stop", "again")),
        frozenset(selected_runs(data, source)) if named else None,
    )  # fmt: skip
