"""The result that a page about many runs opens on."""

from __future__ import annotations

from collections.abc import Mapping

_ORDER = ("metric/", "loss", "best/", "last/")
"""Kinds of results by the beginning of their names: an evaluation says more about a model than a curve of its training."""
_MOST = 0.75
"""A result that at least this fraction of the runs of the most frequent one have is as good a choice."""


def order(name: str) -> int:
    """Return the place of a result among the kinds of results: metrics, the loss, best and last values of scalars."""
    return next((at for at, first in enumerate(_ORDER) if name.startswith(first)), len(_ORDER))


def main_result(known: Mapping[str, int]) -> str:
    """Return the result that most runs have, a metric rather than a loss if about as many have it; "" if there is none.

    known are the numbers of runs that have a finite value, by result; of equal results the first one is returned.
    """
    enough = max(known.values(), default=0) * _MOST
    usual = [name for name, runs in known.items() if runs and runs >= enough]
    return min(usual, key=lambda name: (order(name), -known[name]), default="")
