"""How many operators of a graph have a strategy, redistribute tensors, or aggregate gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.deferred import pandas as pd
from parsers.profiler.strategy import GRADIENT, REDISTRIBUTION


@dataclass(frozen=True, slots=True)
class OperatorCounts:
    """Numbers of operators: all, with a strategy, that cut something (a number of shards above 1), and inserted ones.

    redistribution and gradient are told by the instance name, phases by the scope. generated is how many strategies come from
    gen_strategy; the others were set by the user (in_strategy).
    """

    operators: int
    strategy: int
    generated: int
    cut: int
    redistribution: int
    gradient: int
    phases: Mapping[str, int]


def count(frame: pd.DataFrame) -> OperatorCounts:
    """Count the operators of a graph (schema STRATEGIES)."""
    rows = frame[(frame["kind"] == "operator").to_numpy()]
    strategies = rows["strategy"].astype("str").value_counts()
    cut = {text: any(part not in ("", "1") for part in text.replace(";", ",").split(",")) for text in strategies.index}
    inserted = rows["inserted"].astype("str").value_counts()
    phases = rows["phase"].astype("str").value_counts()
    return OperatorCounts(
        len(rows), int(strategies.drop("", errors="ignore").sum()), int((rows["strategy_from"] == "gen_strategy").sum()),
        int(sum(many for text, many in strategies.items() if cut[str(text)])), int(inserted.get(REDISTRIBUTION, 0)),
        int(inserted.get(GRADIENT, 0)), {str(name): int(many) for name, many in phases.items()},
    )  # fmt: skip
