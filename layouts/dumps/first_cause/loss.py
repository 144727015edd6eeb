"""The loss of a run by iteration of its dump, so that norms that leave their history can be compared with it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from layouts.dumps.links import iteration_of
from layouts.sources import RunSources

BEFORE, AFTER = 500, 1_000
"""Iterations before the first and after the last one of the dump of which the loss is taken."""
_LOSS = re.compile(r"(?:^|[/_. -])loss(?:$|[/_. -])", re.IGNORECASE)


def loss_of(source: RunSources, run: str, first: int, last: int) -> tuple[str, Mapping[int, float]]:
    """Return the tag of the loss of a row of runs, and its value by iteration; ("", {}) without one.

    first and last are the iterations of the dump.
    """
    row = next((row for row in source.runs.rows() if row.key == run), None)
    for member in row.members if row is not None else ():
        tag = loss_tag(source.runs.tags(member))
        series = source.curves.series(member, tag) if tag else None
        if series is None or not len(series.step):
            continue
        first_step = int(series.step.min())
        iteration = series.step + iteration_of(0, first_step)
        near = np.flatnonzero((iteration >= first - BEFORE) & (iteration <= last + AFTER))[-BEFORE - AFTER :]
        values = series.value[near].tolist()
        return tag, dict(zip(iteration[near].tolist(), map(float, values), strict=True))
    return "", {}


def loss_tag(tags: Sequence[str]) -> str:
    """Return the tag that names the loss: "loss" itself, else the shortest one with the word; "" for none."""
    named = [tag for tag in tags if _LOSS.search(tag)]
    training = [tag for tag in named if not re.search(r"val|eval|test", tag, re.IGNORECASE)]
    return min(training or named, key=lambda tag: (tag.lower() != "loss", len(tag), tag), default="")
