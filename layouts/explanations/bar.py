"""The bar of every page about explanations: run, filters, threshold, order and explainers; and the counts they lead to.

The controls are made in the browser (assets/explanations/bar.js), because labels and explainers come with a run. A page says
which of CONTROLS it has.
"""

from __future__ import annotations

from dash import html

from layouts.kit.i18n import t

CONTROLS = ("label", "outcome", "truth", "predicted", "threshold", "search", "sort", "explainer")


def note() -> html.P:
    """Return the sentence below the bar: what is counted may be a bound."""
    return html.P(t("explanations.bounds"), className="ms-explanations-bounds ms-muted", hidden=True, role="note")
