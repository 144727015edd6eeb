"""The pages of the dashboard: data frames in, figures and Dash components out."""

from __future__ import annotations

from importlib import import_module

from layouts.kit.page import Page

for _part in (
    "shell.texts", "shell.note_texts", "shell.board_texts", "kit.grid_texts", "kit.damage_texts", "kit.plot_texts",
    "kit.cards.texts", "kit.cards.step_texts", "curves.insight_texts", "lineage.texts", "profiles.texts",
    "profiles.composition_texts", "dumps.texts", "explanations.texts",
):  # fmt: skip
    import_module(f"layouts.{_part}")


def _page(folder: str) -> Page:
    page = import_module(f"layouts.{folder}.page").PAGE
    assert isinstance(page, Page)
    assert page.name == folder.rpartition(".")[2]
    return page


PAGES: tuple[Page, ...] = tuple(
    _page(folder)
    for folder in (
        "runs.start",
        "runs.runs",
        "runs.overview",
        "runs.board",
        "curves.scalars",
        "values.histograms",
        "values.images",
        "values.tensors",
        "values.landscape",
        "graphs.graph",
        "graphs.dataset",
        "values.text",
        "lineage.model_lineage",
        "lineage.data_lineage",
        "lineage.optimisation",
        "tuning.tuning",
        "lineage.two_runs",
        "jobs.job",
        "profiles.profile_overview",
        "profiles.timeline",
        "profiles.operators",
        "profiles.shapes",
        "profiles.steps",
        "profiles.memory",
        "profiles.preparation",
        "jobs.communication",
        "jobs.ranks",
        "jobs.cluster",
        "jobs.pipeline",
        "jobs.strategy",
        "jobs.two_jobs",
        "jobs.advice",
        "dumps.debugger",
        "dumps.first_cause",
        "dumps.two_dumps",
        "explanations.saliency",
        "explanations.confusion",
        "explanations.scores",
        "explanations.counterfactual",
        "explanations.uncertainty",
    )
)
"""All pages in menu order, each by its subject and its name: the folder below layouts."""
