"""Layers of counterfactuals: of one sample, as rows of a page, and of many as a table."""

from __future__ import annotations

import numpy as np
from parsers.deferred import pandas as pd
from parsers.explanations.snapshot import Bools, Explanations
from parsers.model import Ints


def has_layers(found: Explanations) -> Bools:
    """Return of which samples a layer was recorded."""
    having: Bools = found.layer_starts[1:] > found.layer_starts[:-1]
    return having


def layer_rows(found: Explanations, place: int) -> range:
    """Return the rows in `counterfactuals` of a row of `samples`."""
    return range(*found.layer_starts[place : place + 2].tolist())


def layer_row(found: Explanations, place: int, label: int, layer: int) -> int | None:
    """Return the row in `counterfactuals` of a layer; None if there is none."""
    rows = layer_rows(found, place)
    part = found.counterfactuals.iloc[rows.start : rows.stop]
    same = np.flatnonzero((part["label"] == label).to_numpy() & (part["layer"] == layer).to_numpy())
    return rows[int(same[0])] if len(same) else None


def layers_table(found: Explanations, rows: Ints) -> pd.DataFrame:
    """Return the layers of these rows of `samples`, in their order, with path, name of the label and recorded probability."""
    size = (found.layer_starts[1:] - found.layer_starts[:-1])[rows]
    ends = np.cumsum(size)
    at = np.arange(int(size.sum())) + np.repeat(found.layer_starts[rows] - (ends - size), size)
    table: pd.DataFrame = found.counterfactuals.iloc[at].reset_index(drop=True)
    known = found.predictions[["sample", "label", "probability"]].rename(columns={"probability": "recorded"})
    recorded = table[["sample", "label"]].merge(known, how="left", on=["sample", "label"])["recorded"]
    names = found.labels.set_index("label")["name"].reindex(table["label"]).to_numpy(object)
    table.insert(1, "image", found.samples["image"].array[np.repeat(rows, size)])
    table.insert(3, "name", names)
    table.insert(4, "recorded", recorded.to_numpy())
    return table
