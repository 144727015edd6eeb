"""What the scores page and its CSV route are asked for. Every value is untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsers.analysis.explanations.explainer_scores import WHOLE

from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import BadInput, number, text, texts

SIDES = ("metric", "explainer")
"""What the bars by label are about: one metric with all explainers, or one explainer with all metrics."""
ORDERS = ("label", "worst", "spread")


@dataclass(frozen=True, slots=True)
class ScoreRequest:
    """choice: run and explainers. weights: metric -> hundredths. by: column that explainers are sorted by, "" for the order of
    the file, and whether the largest comes first. side: one of SIDES, one: the metric or explainer, "" for the first. order: of
    labels, one of ORDERS. shown: labels, () for the first ones.
    """

    choice: ExplanationChoice
    weights: Mapping[str, int]
    by: tuple[str, bool]
    side: str
    one: str
    order: str
    shown: tuple[int, ...]
    language: str
    dark: bool


def read_ask(data: Any) -> ScoreRequest | None:
    """Return what is asked for; None without a run. BadInput for malformed values."""
    choice = read_choice(data)
    if choice is None:
        return None
    by = text(data, "by")
    return ScoreRequest(
        choice, read_weights(data), (by.removeprefix("-"), by.startswith("-")), text(data, "side", SIDES[0], choices=SIDES),
        text(data, "one"), text(data, "order", ORDERS[0], choices=ORDERS),
        tuple(int(number({"show": [one]}, "show", 0.0, -(2.0**53), 2.0**53)) for one in texts(data, "show")),
        text(data, "lang", "en", choices=LANGUAGES), text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip


def read_weights(data: Any) -> dict[str, int]:
    """Return the weights under the key weight, ["METRIC:25", ...], in hundredths; BadInput unless they are from 0 to 100."""
    weights = {}
    for one in texts(data, "weight"):
        name, colon, value = one.rpartition(":")
        if not colon:
            raise BadInput(f"weight: expected a metric, a colon and hundredths; found {one[:80]!r}")
        weights[name] = int(number({"weight": [value]}, "weight", 0.0, 0.0, WHOLE))
    return weights
