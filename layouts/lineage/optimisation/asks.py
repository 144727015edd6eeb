"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.kit.state import BadInput, selected_runs, text, texts
from layouts.sources import RunSources

_LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class ExplanationRequest:
    """A request for an explanation of a result.

    target: the result, setting: the setting to draw it over; "" for the default of either. log: logarithmic axis, None to
    choose by the values. act: what to do with the forest ("stop", "again" or ""). runs: None for all.
    named: the runs as the state names them.
    """

    target: str
    setting: str
    log: bool | None
    act: str
    runs: frozenset[str] | None
    named: tuple[str, ...] = ()


def read_ask(data: Any, source: RunSources) -> ExplanationRequest:
    """Parse a request from the browser. BadInput if it is malformed."""
    if data is not None and not isinstance(data, dict):
        raise BadInput(f"ask: expected an object, found {type(data).__name__}")
    log = text(data, "log", "", choices=("", "0", "1"))
    named = bool((data or {}).get("run"))
    return ExplanationRequest(
        text(data, "target", "", limit=_LONGEST), text(data, "setting", "", limit=_LONGEST), None if log == "" else log == "1",
        text(data, "act", "", choices=("", "stop", "again")),
        frozenset(selected_runs(data, source)) if named else None,
        tuple(texts(data, "run")),
    )  # fmt: skip
