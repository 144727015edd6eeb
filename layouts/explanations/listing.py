"""Which runs have explanations, and what those of one run hold, as the bar of a page offers it."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

import numpy as np
from parsers.explanations.snapshot import RECORDED_FROM

from layouts.explanations.explanation_choice import ExplanationChoice
from layouts.kit.body import DamagedFile, listed_damage
from layouts.kit.state import digest_of
from layouts.runs.chosen_runs import label_of, selected_runs
from layouts.runs.listed_runs import ChosenRuns, about_runs
from layouts.sources import ExplanationSources, Sources

KIND = "explain"
MOST_RUNS = 1_000
"""Maximum number of runs that are listed."""


class ExplanationCatalogue(ChosenRuns):
    """The runs with explanations."""

    digest: str
    runs: list[Annotated[list[str], tuple[str, str, str]]]
    """key, name, version"""
    left: int


LabelCells = Annotated[list[Any], tuple[int, str, int, int, int]]
"""number, name, samples of which it is predicted or true, is true, and is predicted; at the threshold 0.5"""


class ExplanationListing(TypedDict):
    """What the explanations of a run hold."""

    of: str
    state: str
    text: str
    mark: str
    behind: bool
    samples: NotRequired[int]
    maps: NotRequired[int]
    labels: NotRequired[list[LabelCells]]
    explainers: NotRequired[list[str]]
    metrics: NotRequired[list[str]]
    complete: NotRequired[bool]
    uncertain: NotRequired[bool]
    problems: NotRequired[list[DamagedFile]]
    more: NotRequired[int]
    notes: NotRequired[int]


def catalogue(source: Sources, state: Any, known: Any = None) -> ExplanationCatalogue | None:
    """Return the chosen runs with explanations, [[key, name, version], ...], and the numbers of those left out or not read yet.

    None if the digest is the known one. If no chosen run has explanations, elsewhere names others that have some, and damage
    the problems of the chosen ones that may be the reason.
    """
    runs = selected_runs(state, source, (KIND,))
    source.runs.want(runs)
    rows = {member: row for row in source.runs.rows() for member in row.members}
    having = [run for run in runs if source.runs.tags(run, KIND)]
    answer: ExplanationCatalogue = {
        "digest": "",
        "runs": [[run, label_of(run, rows.get(run)), str(source.runs.version(run))] for run in having[:MOST_RUNS]],
        "left": max(0, len(having) - MOST_RUNS),
        **about_runs(source, runs, KIND, found=bool(having)),
    }
    answer["digest"] = digest_of(answer)
    return None if answer["digest"] == known else answer


def listing(source: ExplanationSources, chosen: ExplanationChoice) -> ExplanationListing:
    """Return what the explanations of a run hold, or how far reading them is.

    state is "ready", "reading", "missing", "failed" (text is the reason) or "nothing": no sample. labels are rows of
    LabelCells. complete: all labels were recorded, so outcomes below 0.5 are exact.
    uncertain: standard deviations were recorded. behind: newer records are being read.
    """
    opened = source.explanations.open(chosen.run)
    found = opened.explanations
    if found is None:
        return {"of": chosen.run, "state": opened.state, "text": opened.text, "mark": "", "behind": False}
    table = found.labels
    predicted, known = found.predicted, table["label"].to_numpy()
    reached = predicted.probability >= RECORDED_FROM
    counts = [
        np.bincount(np.searchsorted(known, predicted.label[of]), minlength=len(known)).tolist()
        for of in (reached | predicted.truth, predicted.truth, reached)
    ]
    columns = (table["label"].tolist(), table["name"].tolist(), *counts)
    return {
        "of": chosen.run, "state": "ready" if len(found.samples) else "nothing", "text": "", "mark": opened.mark,
        "behind": opened.behind, "samples": len(found.samples), "maps": len(found.saliency),
        "labels": [list(row) for row in zip(*columns, strict=True)], "explainers": list(found.explainers),
        "metrics": list(found.metrics), "complete": found.complete,
        "uncertain": bool(np.isfinite(found.predicted.sd).any()),
        **listed_damage(found.problems),
    }  # fmt: skip
