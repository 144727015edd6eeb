"""Which tensor, less which other, and which part of it: read from what a card or a plain route asks for.

An ask has the form of a state (`layouts.page.State`): {"run": ["a"], "tag": ["w"], "step": ["10"], "dims": ["0,:,2:5"]}.
place is the index among the recorded values of the tag, for steps that were recorded twice; with neither place nor step the
newest is meant. minus_run, minus_step and minus_place name a second tensor of the same tag, how is "absolute" or "relative".
Every value in an ask is untrusted; names of runs and tags are only ever looked up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from parsers.analysis.tensor_chunks import DIFFERENCE_MODES

from layouts.state import BadInput, text

_NAME = 100_000
_DIMS = 2000
_WHOLE = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Named:
    """One recorded tensor by its step, its place, or both; by neither: the newest."""

    run: str
    tag: str
    step: int | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A tensor, the one it is to be compared with, and its dimension boxes as text (empty: the default ones)."""

    value: Named
    minus: Named | None
    relative: bool
    dims: str


def read_ask(data: Any) -> Ask:
    """The ask in a state, or BadInput."""
    tag = text(data, "tag", limit=_NAME)
    value = Named(text(data, "run", limit=_NAME), tag, whole(data, "step"), whole(data, "place"))
    other = Named(text(data, "minus_run", value.run, limit=_NAME), tag, whole(data, "minus_step"), whole(data, "minus_place"))
    compared = any(key in data for key in ("minus_run", "minus_step", "minus_place"))
    how = text(data, "how", DIFFERENCE_MODES[0], choices=DIFFERENCE_MODES)
    return Ask(value, other if compared else None, how == "relative", text(data, "dims", limit=_DIMS))


def whole(data: Any, key: str) -> int | None:
    """The whole number of 64 bits under a key, None where there is none."""
    digits = text(data, key)
    if not digits:
        return None
    if not _WHOLE.fullmatch(digits) or not -(2**63) <= int(digits) < 2**63:
        raise BadInput(f"{key}: wanted a whole number; got {digits[:80]!r}")
    return int(digits)
