"""What the confusion page and its CSV routes are asked for: which samples, and how it is shown. Every value is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from layouts.explanations.explanation_choice import LONGEST, ExplanationChoice, read_choice
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, number, texts

CELLS = ("count", "true", "predicted")
"""What cells of the matrix have: samples, or their share of those with this true label, or with this predicted label."""
QUESTIONS = ("top", "each")
COLUMNS = ("label", "support", "predicted", "tp", "fp", "fn", "tn", "precision", "recall", "f1")
KINDS = ("all", "worse", "better")
BINS = (5, 10, 20)
MOST_RUNS = 8
"""Runs whose outcomes are compared with those of the shown run, at most."""


def _cell(value: str) -> tuple[int, int | None] | None:
    truth, comma, other = value.partition(",")
    if not value:
        return None
    if not comma:
        raise BadInput(f"cell: expected two labels; found {value[:80]!r}")
    return _label("cell", truth), None if other == "none" else _label("cell", other)


def _label(key: str, value: str) -> int:
    return int(number({key: [value]}, key, 0.0, -(2.0**53), 2.0**53))


def _order(by: str) -> tuple[str, bool]:
    column = by.removeprefix("-")
    if by and column not in COLUMNS:
        raise BadInput(f"by: expected one of {', '.join(COLUMNS)}; found {column[:80]!r}")
    return column or "label", by.startswith("-")


def _shown(data: Any) -> tuple[int, ...]:
    return tuple(_label("show", one) for one in texts(data, "show"))


def _bins(data: Any) -> int:
    bins = int(number(data, "bins", 10))
    if bins not in BINS:
        raise BadInput(f"bins: expected one of {', '.join(map(str, BINS))}; found {bins}")
    return bins


def _others(data: Any) -> tuple[str, ...]:
    return tuple([one for one in texts(data, "with") if len(one) <= LONGEST][:MOST_RUNS])


@dataclass(frozen=True, slots=True)
class ConfusionRequest(Request):
    """choice: run, threshold and text. cells: one of CELLS. shown: labels of the matrix, () for those with most errors.

    cell: true and predicted label of the chosen cell, None for none predicted. by: column that labels are sorted by, and
    whether the largest comes first. question: one of QUESTIONS, or "" for that which suits the run. others: runs to compare
    with.
    """

    choice: ExplanationChoice = asked.subject(read_choice)
    cells: str = asked.one_of("cells", CELLS)
    shown: tuple[int, ...] = asked.part(_shown, "show", default=())
    cell: tuple[int, int | None] | None = asked.parsed("cell", _cell)
    by: tuple[str, bool] = asked.parsed("by", _order, default=("label", False))
    question: str = asked.one_of("question", ("", *QUESTIONS))
    bins: int = asked.part(_bins, "bins", default=10)
    others: tuple[str, ...] = asked.part(_others, "with", default=())
    kind: str = asked.one_of("kind", KINDS)
    language: str = asked.language()
    dark: bool = asked.dark()


def labels_of(numbers: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None:
    """Return chosen labels as an array; None if none are chosen."""
    return np.array(sorted(set(numbers)), np.int64) if numbers else None
