"""Tables of the confusion and the scores page, which their CSV routes have as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from parsers.analysis.explanations import confusion
from parsers.analysis.explanations.changes import OutcomeChanges
from parsers.analysis.explanations.counted import Counted, counted
from parsers.analysis.explanations.explainer_scores import WHOLE, ScoreTable, default_weights, score_table, totals
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import Explanations

from layouts.explanations.explanation_choice import ExplanationChoice
from layouts.explanations.filtering import matching


def samples_of(found: Explanations, choice: ExplanationChoice) -> Counted:
    """Return the counted samples of a run: all, or those whose id or path has the text."""
    chosen = None
    if choice.text:
        rows = matching(found, ExplanationChoice(choice.run, text=choice.text)).rows
        chosen = found.samples["sample"].to_numpy()[rows]
    return counted(found.samples, found.predictions, found.labels, chosen)


def cells_of(found: Counted, threshold: float) -> pd.DataFrame:
    """Return the confusion matrix, or co-occurrence if samples have several true labels (schema CONFUSION_CELLS)."""
    return confusion.matrix(found, threshold) if found.single else confusion.co_occurrence(found, threshold)


def named_cells(found: Counted, threshold: float) -> pd.DataFrame:
    """Return the cells with the names of their labels; empty for no predicted label."""
    cells = cells_of(found, threshold)
    names = dict(zip(found.label.tolist(), found.name, strict=True))
    predicted = np.where(cells["none"], "", cells["predicted"].map(names).astype("object"))
    return pd.DataFrame({
        "truth": cells["truth"], "true_name": cells["truth"].map(names),
        "predicted": cells["predicted"].astype("Int64").where(~cells["none"]),
        "predicted_name": predicted, "count": cells["count"], "share": cells["share"],
    })  # fmt: skip


def named_changes(found: OutcomeChanges, runs: Sequence[str]) -> pd.DataFrame:
    """Return the changes with the keys of runs in the names of their columns."""
    names = {f"{kind}_{place}": f"{kind} {run}" for place, run in enumerate(runs) for kind in ("outcome", "probability")}
    return found.frame.rename(columns=names)


def weights_of(metrics: Sequence[str], chosen: Mapping[str, int]) -> tuple[int, ...]:
    """Return the weights of metrics in hundredths: those chosen, and 0 for the others; the default ones if none is chosen."""
    if not any(name in chosen for name in metrics):
        return default_weights(len(metrics))
    return tuple(chosen.get(name, 0) for name in metrics)


def scores_with_totals(found: Explanations, chosen: Mapping[str, int]) -> pd.DataFrame:
    """Return a row for each explainer: its scores by metric, and the weighted total; first a row with the weights."""
    table: ScoreTable = score_table(found.scores, found.explainers, found.metrics)
    weights = weights_of(found.metrics, chosen)
    rows = totals(table, weights)
    columns = {"explainer": ["weight", *table.explainers]}
    made = pd.DataFrame(columns, dtype="str")
    for place, metric in enumerate(table.metrics):
        made[metric] = np.append(weights[place] / WHOLE, table.values[:, place])
    made["total"] = np.append(sum(weights) / WHOLE, rows["total"].to_numpy())
    return made
