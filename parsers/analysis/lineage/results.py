"""Which result a page opens on: a validation metric before a loss, a loss before anything else.

`order` is the one place that decides. `main_result` adds that most runs have the result, `main_target` that runs differ in it,
`main_tag` the usual names of scalars; pages and stores call these and compare names nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import numpy as np

from parsers.analysis.lineage.settings import numbers_of
from parsers.deferred import pandas as pd
from parsers.lineage.table import better

VALIDATION_METRIC, VALIDATION_LOSS, LOSS, OTHER = range(4)
"""Kinds of results, the first one first: an evaluation says more about a model than a curve of its training."""
_PREFIXES = ("metric/", "", "best/", "last/")
"""Of one kind, what an evaluation recorded comes first, then best values, then last ones."""
_EVALUATED = frozenset(("val", "valid", "validation", "validate", "eval", "evaluation", "test", "testing", "dev"))
_LOSS = re.compile(r"loss(?!less|es?[ _/-]?scal|[ _/-]?scal)", re.IGNORECASE)
"""A loss by its name; the loss scale of mixed precision is none."""
_USUAL = ("loss", "loss/auto", "train/loss", "Loss/train", "train_loss")
_MOST = 0.75
"""A result that at least this fraction of the runs of the most frequent one have is as good a choice."""


def kind_of(name: str) -> int:
    """Return the kind of a result or scalar by its name: VALIDATION_METRIC, VALIDATION_LOSS, LOSS or OTHER.

    Results of the prefix `metric/` are of an evaluation. Scalars are if a word of their name says so (`val_acc`,
    `eval/accuracy`, `testTop1`); a validation metric also has a direction (`better`), which speeds and counters have not.
    """
    prefix, tag = _split(name)
    evaluated = prefix == "metric/" or not _EVALUATED.isdisjoint(_words(tag))
    if _LOSS.search(tag):
        return VALIDATION_LOSS if evaluated else LOSS
    return VALIDATION_METRIC if evaluated and (prefix == "metric/" or better(tag)) else OTHER


@lru_cache(maxsize=4096)  # the runs of a sweep have the same names
def order(name: str) -> tuple[int, int]:
    """Return the sort key of a result or scalar: its kind, then metrics of an evaluation, best and last values of scalars."""
    return kind_of(name), _PREFIXES.index(_split(name)[0])


def main_result(known: Mapping[str, int]) -> str:
    """Return the first result by `order` of those that most runs have; "" if there is none.

    known are the numbers of runs that have a finite value, by result; of equal results the first one is returned. A result
    that few runs have would leave most of them out, so it is not chosen.
    """
    enough = max(known.values(), default=0) * _MOST
    usual = [name for name, runs in known.items() if runs and runs >= enough]
    return min(usual, key=lambda name: (order(name), -known[name]), default="")


def main_target(frame: pd.DataFrame, names: Sequence[str]) -> str:
    """Return the main result of a frame of runs; of those in which runs differ, if there are any. "" if none has a number."""
    finite = {name: values[np.isfinite(values)] for name in names for values in [numbers_of(frame[name])]}
    known = {name: len(values) for name, values in finite.items() if len(values)}
    varying = {name: runs for name, runs in known.items() if finite[name].min() < finite[name].max()}
    return main_result(varying or known)


def main_tag(tags: Collection[str]) -> str:
    """Return the scalar that stands for a run: the first by `order`, of equal ones a loss of a usual name; "" without any."""
    return min(tags, key=lambda tag: (order(tag), _USUAL.index(tag) if tag in _USUAL else len(_USUAL)), default="")


def _split(name: str) -> tuple[str, str]:
    prefix = next((one for one in _PREFIXES if one and name.startswith(one)), "")
    return prefix, name.removeprefix(prefix)


def _words(tag: str) -> list[str]:
    """Return the words of a name in lower case; a capital letter after a small one begins a word."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", tag)]
