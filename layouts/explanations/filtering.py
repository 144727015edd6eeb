"""Which samples a page about explanations shows, and in which order: pure and vectorised, some ms for 100,000 samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from parsers.explanations.snapshot import FN, FP, TN, TP, Bools, Explanations
from parsers.model import Floats, Ints

from layouts.explanations.explanation_choice import ExplanationChoice

CODES = {"tp": TP, "fn": FN, "fp": FP, "tn": TN}


@dataclass(frozen=True, slots=True)
class Matching:
    """Samples that a choice keeps: rows of the frame `samples`, in its order. total is how many samples there are."""

    rows: Ints
    total: int


def matching(found: Explanations, choice: ExplanationChoice, disagreement: Floats | None = None) -> Matching:
    """Return the samples of a choice. disagreement has a value for each sample (NaN: none), if samples are sorted by it.

    Samples without a value to sort by come last, those with equal values by id.
    """
    kept = np.ones(len(found.samples), np.bool_)
    chosen = chosen_rows(found, choice)
    if chosen is not None and not (choice.outcomes and choice.probability is None and choice.sd is None):
        kept &= found.counted(chosen) > 0
    if choice.outcomes:
        kept &= _has_outcome(found, choice)
    if choice.truth:
        predicted = found.predicted
        kept &= found.counted(predicted.truth & _is_one_of(predicted.label, choice.truth)) > 0
    if choice.predicted:
        predicted = found.predicted
        reached = predicted.probability >= choice.threshold
        kept &= found.counted(reached & _is_one_of(predicted.label, choice.predicted)) > 0
    if choice.text:
        kept &= found.searched.str.contains(choice.text.lower(), regex=False).to_numpy(np.bool_)
    rows = np.flatnonzero(kept)
    keys = sort_keys(found, choice, disagreement)
    if keys is not None:
        # Stable: equal values stay in the order of ids; NaN comes last.
        rows = rows[np.argsort(keys[rows] if choice.sort.endswith("_up") else -keys[rows], kind="stable")]
    return Matching(rows, len(found.samples))


def chosen_rows(found: Explanations, choice: ExplanationChoice) -> Bools | None:
    """Return which rows of `predictions` have a chosen label, probability and deviation; None if all have.

    A chosen label counts where it is predicted or true: that it was recorded says nothing if all labels were. Outcomes, if any
    are chosen, say themselves which it is to be.
    """
    predicted = found.predicted
    chosen: Bools | None = None
    if choice.labels:
        chosen = _is_one_of(predicted.label, choice.labels)
        if not choice.outcomes:
            chosen &= predicted.truth | (predicted.probability >= choice.threshold)
    for values, ends in ((predicted.probability, choice.probability), (predicted.sd, choice.sd)):
        if ends is not None:
            inside = (values >= ends[0]) & (values <= ends[1])
            chosen = inside if chosen is None else chosen & inside
    return chosen


def sort_keys(found: Explanations, choice: ExplanationChoice, disagreement: Floats | None = None) -> Floats | None:
    """Return the value of each sample to sort by, NaN for none; None: by id.

    Confidence and uncertainty are those of the largest (for `_up` smallest) probability and standard deviation of its labels,
    of the chosen ones if there are any.
    """
    name, _, up = choice.sort.partition("_")
    if name == "id":
        return None
    if name == "disagreement":
        return np.full(len(found.samples), np.nan) if disagreement is None else disagreement
    predicted = found.predicted
    values = predicted.probability if name == "confidence" else predicted.sd
    chosen = chosen_rows(found, choice)
    none = np.inf if up else -np.inf
    values = np.where(np.isnan(values), none, values)
    if chosen is not None:
        values = np.where(chosen, values, none)
    keys = np.full(len(found.samples), np.nan)
    start = predicted.start
    having = np.flatnonzero(start[1:] > start[:-1])
    if len(having):
        reduce = np.minimum if up else np.maximum
        keys[having] = reduce.reduceat(values, start[having])
    keys[np.isinf(keys)] = np.nan
    return keys


def _has_outcome(found: Explanations, choice: ExplanationChoice) -> Bools:
    """Return which samples have a label with one of the chosen outcomes.

    A label that was not recorded for a sample with predictions is a true negative: neither true nor predicted.
    """
    codes = found.codes(choice.threshold).astype(np.int64)
    chosen = chosen_rows(found, choice)
    wanted = _is_one_of(codes, [CODES[one] for one in choice.outcomes])
    kept: Bools = found.counted(wanted if chosen is None else wanted & chosen) > 0
    if "tn" in choice.outcomes and choice.probability is None and choice.sd is None:
        named = found.labels["label"].to_numpy()[found.labels["named"].to_numpy()]
        if choice.labels:
            named = named[_is_one_of(named, choice.labels)]
        of_named = _is_one_of(found.predicted.label, named)
        kept |= (found.counted(of_named) < len(named)) & found.samples["inferred"].to_numpy()
    return kept & found.has_truth


def _is_one_of(values: Ints, wanted: Ints | list[int] | tuple[int, ...]) -> Bools:
    if len(wanted) == 1:
        one: Bools = values == wanted[0]
        return one
    found: Bools = np.isin(values, np.asarray(wanted, np.int64))
    return found
