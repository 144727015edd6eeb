"""What the page asks the server for, read from the browser's own words. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.state import BadInput, text, texts

MOST_AXES = 60
"""plotly draws no more."""
BY_RUN = "run"
"""What names the colours of the runs, where another colour names a column."""
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Ask:
    """Columns that are axes, in order; whether the theme is dark; columns with a logarithmic and with a linear axis, others
    having the one usual for their values; the column lines are coloured by, BY_RUN for the colours of the runs, "" for one
    colour; runs that are hidden."""

    columns: tuple[str, ...]
    dark: bool
    log: frozenset[str]
    linear: frozenset[str]
    colour: str
    hidden: frozenset[str]


def read_ask(data: Any) -> Ask:
    """The ask a browser sent, or BadInput."""
    columns = texts(data, "col")
    if len(columns) > MOST_AXES:
        raise BadInput(f"col: wanted at most {MOST_AXES}; got {len(columns)}")
    log, linear, hidden = (texts(data, key) for key in ("log", "linear", "hide"))
    for key, given in (("log", log), ("linear", linear), ("hide", hidden)):
        if len(given) > _MOST:
            raise BadInput(f"{key}: wanted at most {_MOST:,}; got {len(given):,}")
    dark = text(data, "theme", "light", choices=("light", "dark")) == "dark"
    colour = text(data, "colour", "", limit=1 << 20)
    return Ask(tuple(columns), dark, frozenset(log), frozenset(linear), colour, frozenset(hidden))
