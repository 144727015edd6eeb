"""What the scores page and its CSV route are asked for. Every value is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.analysis.explanations.explainer_scores import WHOLE

from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import BadInput, number, texts

SIDES = ("metric", "explainer")
"""What the bars by label are about: one metric with all explainers, or one explainer with all metrics."""
ORDERS = ("label", "worst", "spread")


def read_weights(data: Any) -> dict[str, int]:
    """Return the weights under the key weight, ["METRIC:25", ...], in hundredths; BadInput unless they are from 0 to 100."""
    weights = {}
    for one in texts(data, "weight"):
        name, colon, value = one.rpartition(":")
        if not colon:
            raise BadInput(f"weight: expected a metric, a colon and hundredths; found {one[:80]!r}")
        weights[name] = int(number({"weight": [value]}, "weight", 0.0, 0.0, WHOLE))
    return weights


def _shown(data: Any) -> tuple[int, ...]:
    return tuple(int(number({"show": [one]}, "show", 0.0, -(2.0**53), 2.0**53)) for one in texts(data, "show"))


@dataclass(frozen=True, slots=True)
class ScoreRequest(Request):
    """choice: run and explainers. weights: metric -> hundredths. by: column that explainers are sorted by, "" for the order of
    the file, and whether the largest comes first. side: one of SIDES, one: the metric or explainer, "" for the first. order: of
    labels, one of ORDERS. shown: labels, () for the first ones.
    """

    choice: ExplanationChoice = asked.subject(read_choice)
    weights: Mapping[str, int] = asked.part(read_weights, "weight")
    by: tuple[str, bool] = asked.parsed("by", lambda by: (by.removeprefix("-"), by.startswith("-")), default=("", False))
    side: str = asked.one_of("side", SIDES)
    one: str = asked.word("one")
    order: str = asked.one_of("order", ORDERS)
    shown: tuple[int, ...] = asked.part(_shown, "show", default=())
    language: str = asked.language()
    dark: bool = asked.dark()


