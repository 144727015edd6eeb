"""Frames to figures and Dash components: the pages of the dashboard."""

from __future__ import annotations

from layouts.lineage import model, pair, pipelines, target
from layouts.page import Page
from layouts.profiler import advice, operators, preparation, steptrace
from layouts.profiler import overview as profile
from layouts.training import dataset, graph, histograms, images, landscape, overview, runs, scalars, tensors, text

PAGES: tuple[Page, ...] = (
    runs.PAGE, overview.PAGE, scalars.PAGE, histograms.PAGE, images.PAGE, tensors.PAGE, landscape.PAGE, graph.PAGE,
    dataset.PAGE, text.PAGE, model.PAGE, pipelines.PAGE, target.PAGE, pair.PAGE, profile.PAGE, operators.PAGE, steptrace.PAGE,
    preparation.PAGE, advice.PAGE,
)  # fmt: skip
"""In the order of the menu; the first is where a visitor arrives."""
