"""The tile about explanations of a model: how many samples are right, and the picture and heat map of one that is not."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.explanations.snapshot import FN, FP, OUTCOMES, RECORDED_FROM, UNKNOWN, Explanations

from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.sources import Sources

KIND = "explain"
MOST_BYTES = 16 << 20
"""Records of more bytes are not read for a tile: that takes part of a second, and up to 200 MB."""
PATIENCE_S = 2.0
"""How long a tile waits for the records to be read: it is drawn once."""


def explanations(source: Sources, run: str, routes: str) -> list[Any]:
    """Draw the tile's contents; only that there are explanations while they are being read, or if there are very many."""
    series = source.values.series(run, KIND, KIND)
    if series is None or int(series.length.sum()) > MOST_BYTES:
        return [html.P(t("overview.recorded"), className="ms-tile-note")]
    end = time.monotonic() + PATIENCE_S
    while (opened := source.explanations.open(run)).state == "reading" and time.monotonic() < end:
        time.sleep(0.02)
    found = opened.explanations
    if found is None:
        return [html.P(opened.text or t("overview.recorded"), className="ms-tile-note")]
    if not len(found.samples):
        why = found.problems[0].text if found.problems else t("overview.recorded")
        return [html.P(why, className="ms-tile-note")]
    caption = [
        html.Span(t("overview.samples", n=fmt.count(len(found.samples))), className="ms-tile-value"),
        html.Span(", ".join(found.explainers), className="ms-cut", title=", ".join(found.explainers)),
    ]
    return [html.Div(
        [
            html.Div(caption, className="ms-tile-caption"), html.Div(_outcomes(found), className="ms-tile-caption"),
            *_pictures(found, run, routes),
        ],
        className="ms-picture",
    )]  # fmt: skip


def _outcomes(found: Explanations) -> list[Any]:
    """Return how many recorded labels have each outcome at 0.5; samples without a true label have none."""
    codes = found.codes(RECORDED_FROM)[found.has_truth[found.predicted.place]]
    counts = np.bincount(codes, minlength=len(OUTCOMES))
    return [
        html.Span(f"{name} {fmt.count(int(counts[code]))}", **attributes(title=f"explanations.{name.lower()}.tip"))
        for code, name in enumerate(OUTCOMES)
        if code not in (UNKNOWN, OUTCOMES.index("TN"))
    ]


def _pictures(found: Explanations, run: str, routes: str) -> list[Any]:
    """Return picture and first heat map of the first sample with a wrong label, else of the first one."""
    codes = found.codes(RECORDED_FROM)
    wrong = ((codes == FN) | (codes == FP)) & found.has_truth[found.predicted.place]
    place = int(found.predicted.place[int(np.argmax(wrong))]) if wrong.any() else 0
    sample = int(found.samples["sample"].to_numpy()[place])
    made = []
    if found.samples["image"].array[place]:
        address = urlencode({"run": run, "sample": sample})
        named = attributes({"n": sample}, aria_label="overview.explained.picture")
        made.append(html.Img(src=f"{routes}explanation/image?{address}", className="ms-tile-image", **named))
    first, last = found.map_starts[place : place + 2].tolist()
    if first < last:
        row = found.saliency.iloc[first]
        query = {"run": run, "sample": sample, "explainer": str(row["explainer"]), "label": int(row["label"])}
        named = attributes({"n": sample, "explainer": row["explainer"]}, aria_label="overview.explained.map")
        made.append(html.Img(src=f"{routes}explanation/heatmap?{urlencode(query)}", className="ms-tile-image", **named))
    failed = html.P(t("overview.undecodable"), className="ms-tile-wrong ms-tile-undecodable", role="alert")
    return [html.Div([html.Div([one, failed], className="ms-tile-frame") for one in made], className="ms-tile-explained")]
