"""Parse what pages about explanations show: run, filters, threshold, order, sample and explainers. Every value is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.explanations.snapshot import RECORDED_FROM

from layouts.kit.state import BadInput, interval, number, text, texts, whole

KEYS = ("of", "label", "outcome", "truth", "predicted", "q", "t", "p", "sd", "sort", "sample", "explainer")
"""Keys of the state that pages about explanations take over from each other."""
FILTERS = ("label", "outcome", "truth", "predicted", "q", "t", "p", "sd", "sort")
"""Those that decide which samples are shown, and in which order."""
OUTCOMES = ("tp", "fn", "fp", "tn")
SORTS = ("id", "confidence", "confidence_up", "uncertainty", "uncertainty_up", "disagreement", "disagreement_up")
"""By id, or the largest value first, or the smallest first (`_up`)."""
LONGEST = 20_000
_MOST = 2.0**53


@dataclass(frozen=True, slots=True)
class ExplanationChoice:
    """What a page shows of a run; empty tuples and texts filter nothing.

    labels, truth, predicted: numbers of labels; a sample is kept if one of labels is predicted or true of it, one of truth is
    true of it, and one of predicted is predicted. A label is predicted if its probability reaches the threshold.
    outcomes: of OUTCOMES; kept if one of its labels has one of them. With outcomes, labels are only those that are looked at,
    so that true negatives, which are neither predicted nor true, can be found. text: part of id or path.
    probability, sd: closed intervals; kept if one of its labels lies in both. sample is the chosen one.
    """

    run: str
    mark: str = ""
    labels: tuple[int, ...] = ()
    outcomes: tuple[str, ...] = ()
    truth: tuple[int, ...] = ()
    text: str = ""
    threshold: float = RECORDED_FROM
    probability: tuple[float, float] | None = None
    sd: tuple[float, float] | None = None
    sort: str = "id"
    sample: int | None = None
    explainers: tuple[str, ...] = ()
    predicted: tuple[int, ...] = ()

    @property
    def filtered(self) -> tuple[int, ...]:
        """Labels that a filter names, which are always shown."""
        return tuple(dict.fromkeys((*self.labels, *self.predicted, *self.truth)))


def read_choice(data: Any) -> ExplanationChoice | None:
    """Return the choice in a state or an ask; None if it names no run."""
    run = text(data, "of", limit=LONGEST)
    if not run:
        return None
    outcomes = texts(data, "outcome")
    wrong = next((one for one in outcomes if one not in OUTCOMES), None)
    if wrong is not None:
        raise BadInput(f"outcome: expected some of {', '.join(OUTCOMES)}; found {wrong[:80]!r}")
    return ExplanationChoice(
        run, text(data, "mark"), _numbers(data, "label"), tuple(outcomes), _numbers(data, "truth"), text(data, "q"),
        number(data, "t", RECORDED_FROM, 0.0, 1.0), _interval(data, "p"), _interval(data, "sd"),
        text(data, "sort", "id", choices=SORTS), whole(data, "sample"), tuple(texts(data, "explainer")),
        _numbers(data, "predicted"),
    )  # fmt: skip


def _numbers(data: Any, key: str) -> tuple[int, ...]:
    return tuple(int(number({key: [one]}, key, 0.0, -_MOST, _MOST)) for one in texts(data, key))


def _interval(data: Any, key: str) -> tuple[float, float] | None:
    """Parse "low,high"."""
    low, comma, high = text(data, key).partition(",")
    if not low and not comma:
        return None
    return interval(key, low, high)
