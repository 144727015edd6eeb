"""Parse what a lineage page asks the server for. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request, read_words

MOST_AXES = 60
"""The most axes that plotly draws."""
BY_RUN = "run"
"""The colour choice that stands for the colours of the runs; any other choice is the name of a column."""
_MOST = 10_000


def _set(data: Any, key: str) -> frozenset[str]:
    return frozenset(read_words(data, key, _MOST))


@dataclass(frozen=True, slots=True)
class AxesRequest(Request):
    """A request for the figure.

    columns are drawn as axes, in order. log and linear are the columns whose scale was chosen; others have the usual scale of
    their values. colour is the column that colours the lines, BY_RUN for the colours of the runs, "" for a single colour.
    hidden are the keys of hidden runs, runs those that the state of the page names. dark: the theme is dark.
    """

    columns: tuple[str, ...] = asked.words("col", most=MOST_AXES)
    dark: bool = asked.dark()
    log: frozenset[str] = asked.part(partial(_set, key="log"), "log", default=frozenset())
    linear: frozenset[str] = asked.part(partial(_set, key="linear"), "linear", default=frozenset())
    colour: str = asked.word("colour", limit=1 << 20)
    hidden: frozenset[str] = asked.part(partial(_set, key="hide"), "hide", default=frozenset())
    runs: tuple[str, ...] = asked.words("run")


