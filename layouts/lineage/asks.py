"""Parse what a lineage page asks the server for. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from layouts.kit.state import BadInput, text, texts

MOST_AXES = 60
"""The most axes that plotly draws."""
BY_RUN = "run"
"""The colour choice that stands for the colours of the runs; any other choice is the name of a column."""
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class AxesRequest:
    """A request for the figure.

    columns are drawn as axes, in order. log and linear are the columns whose scale was chosen; others have the usual scale of
    their values. colour is the column that colours the lines, BY_RUN for the colours of the runs, "" for a single colour.
    hidden are the keys of hidden runs, runs those that the state of the page names. dark: the theme is dark.
    """

    columns: tuple[str, ...]
    dark: bool
    log: frozenset[str]
    linear: frozenset[str]
    colour: str
    hidden: frozenset[str]
    runs: tuple[str, ...] = ()


def read_ask(data: Any) -> AxesRequest:
    """Return the ask that a browser sent, or raise BadInput."""
    columns = texts(data, "col")
    if len(columns) > MOST_AXES:
        raise BadInput(f"col: expected at most {MOST_AXES}; found {len(columns)}")
    log, linear, hidden = (texts(data, key) for key in ("log", "linear", "hide"))
    for key, names in (("log", log), ("linear", linear), ("hide", hidden)):
        if len(names) > _MOST:
            raise BadInput(f"{key}: expected at most {_MOST:,}; found {len(names):,}")
    dark = text(data, "theme", "light", choices=("light", "dark")) == "dark"
    colour = text(data, "colour", "", limit=1 << 20)
    return AxesRequest(
        tuple(columns), dark, frozenset(log), frozenset(linear), colour, frozenset(hidden), tuple(texts(data, "run"))
    )
