"""The pages of the dashboard: data frames in, figures and Dash components out."""

from __future__ import annotations

from importlib import import_module

from layouts.page import Page

for _part in ("shell.texts", "components.note_texts", "components.board_texts", "components.insight_texts",
              "components.grid_texts", "components.damage_texts", "components.plot_texts", "cards.texts", "cards.step_texts",
              "lineage.texts", "profiling.texts", "profiling.composition_texts", "debugging.texts",
              "explanations.texts"):  # fmt: skip
    import_module(f"layouts.{_part}")


def _page(name: str) -> Page:
    page = import_module(f"layouts.pages.{name}.page").PAGE
    assert isinstance(page, Page)
    assert page.name == name
    return page


PAGES: tuple[Page, ...] = tuple(
    _page(name)
    for name in (
        "runs",
        "overview",
        "board",
        "scalars",
        "histograms",
        "images",
        "tensors",
        "landscape",
        "graph",
        "dataset",
        "text",
        "model_lineage",
        "data_lineage",
        "optimisation",
        "tuning",
        "two_runs",
        "job",
        "profile_overview",
        "timeline",
        "operators",
        "shapes",
        "steps",
        "memory",
        "preparation",
        "communication",
        "ranks",
        "cluster",
        "pipeline",
        "strategy",
        "two_jobs",
        "advice",
        "debugger",
        "first_cause",
        "two_dumps",
        "saliency",
        "confusion",
        "scores",
        "counterfactual",
        "uncertainty",
    )
)
"""All pages in menu order. Each name is a folder in layouts/pages."""
