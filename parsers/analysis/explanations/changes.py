"""Which samples changed their outcome from one run to another: what a new network gets right that an old one did not.

Samples are the same if they have the same id and the same true labels in all runs; labels are the same if they have the same
name. A label that was not recorded is TN (`counted`). Pairs of sample and label whose probability is unknown in a run are left
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from parsers.analysis.explanations.counted import Counted
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import OUTCOMES, TN, UNKNOWN, codes_of
from parsers.model import Ints
from parsers.schema import Column, Schema

KNOWN = OUTCOMES[:UNKNOWN]
"""Outcomes of known probabilities, by code."""

OUTCOME_CHANGES = Schema(
    "outcome_changes",
    "Labels of samples whose outcome is not the same in all runs.",
    (
        Column("sample", "int64", "", "id of the sample"),
        Column("label", "int64", "", "number of the label in the first run"),
        Column("name", "str", "", "name of the label"),
    ),
    further=(
        Column("outcome_", "category", "", "outcome in the run of this number, from 0: TP, FN, FP or TN"),
        Column("probability_", "float64", "", "probability in the run of this number; NaN if it was not recorded"),
    ),
)


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Changed outcomes (schema OUTCOME_CHANGES), by sample and label.

    samples: compared samples; labels: compared labels. other_truth: samples of all runs that are not compared because their
    true labels differ. transitions: for each run after the first one, counts of pairs of sample and label by outcome in the
    first run and in that one, both in the order of KNOWN.
    """

    frame: pd.DataFrame
    samples: int
    labels: int
    other_truth: int
    transitions: tuple[Ints, ...]

    def improved(self, run: int) -> int:
        """Return how many pairs are wrong in the first run and right in this one (from 1)."""
        table = self.transitions[run - 1]
        return int(table[1:3][:, [0, 3]].sum())

    def worse(self, run: int) -> int:
        """Return how many pairs are right in the first run and wrong in this one (from 1)."""
        table = self.transitions[run - 1]
        return int(table[[0, 3]][:, 1:3].sum())


def changes(runs: Sequence[Counted], threshold: float) -> OutcomeChanges:
    """Compare the outcomes of two or more runs at a threshold. ValueError for fewer."""
    if len(runs) < 2:
        raise ValueError(f"changes: expected two runs or more; found {len(runs)}")
    names, numbers = _common_labels(runs)
    shared = reduce(_in_both, [run.sample for run in runs])
    parts = [_part(run, shared, number, len(names)) for run, number in zip(runs, numbers, strict=True)]
    kept = _same_truth(parts, len(shared), len(names))
    width = max(len(names), 1)
    pairs = reduce(_in_either, [np.sort(part.pair, kind="stable") for part in parts])
    pairs = pairs[kept[pairs // width]]
    codes = np.full((len(pairs), len(runs)), TN, np.int64)
    probability = np.full((len(pairs), len(runs)), np.nan)
    for place, part in enumerate(parts):
        if np.array_equal(part.pair, pairs):  # the usual case: the same labels of the same samples in each run
            codes[:, place], probability[:, place] = part.outcomes(threshold), part.probability
            continue
        there = kept[part.pair // width]
        row = np.searchsorted(pairs, part.pair[there])
        codes[row, place] = part.outcomes(threshold)[there]
        probability[row, place] = part.probability[there]
    known = (codes != UNKNOWN).all(axis=1)
    unrecorded = int(kept.sum()) * len(names) - len(pairs)
    transitions = []
    for place in range(1, len(runs)):
        both = (codes[:, 0] != UNKNOWN) & (codes[:, place] != UNKNOWN)
        table = np.bincount(codes[both, 0] * 4 + codes[both, place], minlength=16).reshape(4, 4).astype(np.int64)
        table[TN, TN] += unrecorded
        transitions.append(table)
    changed = known & (codes != codes[:, :1]).any(axis=1)
    label = pairs[changed] % width
    columns = {
        "sample": shared[pairs[changed] // width].astype(np.int64),
        "label": runs[0].label[numbers[0]][label].astype(np.int64),
        "name": pd.array([names[one] for one in label.tolist()], dtype="str"),
    }
    kinds = pd.Index(list(KNOWN), dtype="str")
    for place in range(len(runs)):
        columns[f"outcome_{place}"] = pd.Categorical.from_codes(codes[changed, place], categories=kinds)
        columns[f"probability_{place}"] = probability[changed, place]
    frame = OUTCOME_CHANGES.check(pd.DataFrame(columns, copy=False))
    return OutcomeChanges(frame, int(kept.sum()), len(names), int((~kept).sum()), tuple(transitions))


def _in_both(one: Ints, other: Ints) -> Ints:
    """Return what is in two ascending arrays; equal ones are not sorted again."""
    return one if np.array_equal(one, other) else np.intersect1d(one, other, assume_unique=True)


def _in_either(one: Ints, other: Ints) -> Ints:
    """Return what is in one of two ascending arrays, once."""
    if np.array_equal(one, other):
        return one
    every = np.sort(np.concatenate([one, other]), kind="stable")
    found: Ints = every[np.diff(every, prepend=-1) > 0]
    return found


@dataclass(frozen=True, slots=True)
class _ChangePart:
    """The entries of one run that concern common samples and labels. pair: sample and label as one number."""

    pair: Ints
    probability: NDArray[np.float64]
    truth: NDArray[np.bool_]
    other_truth: Ints
    """True labels that are not common, by sample: how many."""

    def outcomes(self, threshold: float) -> Ints:
        return codes_of(self.probability, self.truth, threshold).astype(np.int64)


def _part(run: Counted, shared: Ints, numbers: Ints, width: int) -> _ChangePart:
    place = np.full(len(run.sample), -1, np.int64)
    place[np.searchsorted(run.sample, shared)] = np.arange(len(shared))
    column = np.full(len(run.label), -1, np.int64)
    column[numbers] = np.arange(width)
    row, label = place[run.row], column[run.column]
    other = np.bincount(row[(row >= 0) & (label < 0) & run.truth], minlength=len(shared))
    stays = (row >= 0) & (label >= 0)
    return _ChangePart(row[stays] * width + label[stays], run.probability[stays], run.truth[stays], other.astype(np.int64))


def _same_truth(parts: Sequence[_ChangePart], samples: int, width: int) -> NDArray[np.bool_]:
    """Return which samples have the same true labels in all runs; true labels that are not in all runs differ."""
    same = np.ones(samples, np.bool_)
    first = parts[0].pair[parts[0].truth]
    for part in parts:
        same &= part.other_truth == 0
        differing = np.setxor1d(first, part.pair[part.truth], assume_unique=True)
        if len(differing):
            same[differing // width] = False
    return same


def _common_labels(runs: Sequence[Counted]) -> tuple[list[str], list[Ints]]:
    """Return the labels that all runs have, by name, and where they are among the labels of each run.

    Of several labels with one name the first goes with the first.
    """
    places = []
    for run in runs:
        seen: Counter[str] = Counter()
        known: dict[tuple[str, int], int] = {}
        for place, name in enumerate(run.name):
            known[name, seen[name]] = place
            seen[name] += 1
        places.append(known)
    keys = [key for key in places[0] if all(key in known for known in places[1:])]
    return [name for name, _ in keys], [np.array([known[key] for key in keys], np.int64) for known in places]
