"""What the confusion page and its CSV routes are asked for: which samples, and how it is shown. Every value is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from layouts.explanations.explanation_choice import LONGEST, ExplanationChoice, read_choice
from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import BadInput, number, text, texts

KEYS = ("cells", "show", "cell", "by", "question", "bins", "with", "kind")
"""Keys of the state that belong to this page."""
CELLS = ("count", "true", "predicted")
"""What cells of the matrix have: samples, or their share of those with this true label, or with this predicted label."""
QUESTIONS = ("top", "each")
COLUMNS = ("label", "support", "predicted", "tp", "fp", "fn", "tn", "precision", "recall", "f1")
KINDS = ("all", "worse", "better")
BINS = (5, 10, 20)
MOST_RUNS = 8
"""Runs whose outcomes are compared with those of the shown run, at most."""


@dataclass(frozen=True, slots=True)
class ConfusionRequest:
    """choice: run, threshold and text. cells: one of CELLS. shown: labels of the matrix, () for those confused most.

    cell: true and predicted label of the chosen cell, None for none predicted. by: column that labels are sorted by, and
    whether the largest comes first. question: one of QUESTIONS, or "" for that which suits the run. others: runs to compare
    with.
    """

    choice: ExplanationChoice
    cells: str
    shown: tuple[int, ...]
    cell: tuple[int, int | None] | None
    by: tuple[str, bool]
    question: str
    bins: int
    others: tuple[str, ...]
    kind: str
    language: str
    dark: bool


def read_ask(data: Any) -> ConfusionRequest | None:
    """Return what is asked for; None without a run. BadInput for malformed values."""
    choice = read_choice(data)
    if choice is None:
        return None
    by = text(data, "by")
    column = by.removeprefix("-")
    if by and column not in COLUMNS:
        raise BadInput(f"by: expected one of {', '.join(COLUMNS)}; found {column[:80]!r}")
    bins = int(number(data, "bins", 10))
    if bins not in BINS:
        raise BadInput(f"bins: expected one of {', '.join(map(str, BINS))}; found {bins}")
    others = [one for one in texts(data, "with") if len(one) <= LONGEST]
    return ConfusionRequest(
        choice, text(data, "cells", CELLS[0], choices=CELLS), tuple(_label("show", one) for one in texts(data, "show")),
        _cell(text(data, "cell")), (column or "label", by.startswith("-")), text(data, "question", choices=("", *QUESTIONS)),
        bins, tuple(others[:MOST_RUNS]), text(data, "kind", KINDS[0], choices=KINDS),
        text(data, "lang", "en", choices=LANGUAGES), text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip


def _cell(value: str) -> tuple[int, int | None] | None:
    truth, comma, other = value.partition(",")
    if not value:
        return None
    if not comma:
        raise BadInput(f"cell: expected two labels; found {value[:80]!r}")
    return _label("cell", truth), None if other == "none" else _label("cell", other)


def _label(key: str, value: str) -> int:
    return int(number({key: [value]}, key, 0.0, -(2.0**53), 2.0**53))


def labels_of(numbers: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
    """Return chosen labels as an array; None if none are chosen."""
    return np.array(sorted(set(numbers)), np.int64) if numbers else None
