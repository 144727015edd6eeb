"""The data of the cards on the data preparation page, computed from the frames of a profile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from parsers.analysis.profiles.preparation import (
    DataFlow,
    Slow,
    Waited,
    flow,
    limiting_operation,
    queue_rates,
    slow_operations,
    waited,
)
from parsers.deferred import pandas as pd

from layouts.profiles.preparation.asks import PreparationRequest

QUEUES = ("host", "iterator", "device")
"""Queues recorded per step, in the order of the data flow."""


@dataclass(frozen=True)
class CardData:
    """The request, the frames of the profile by name (None if no file has one), and the URL prefix of plain routes.

    stepped: the profile has step times, which the steps page shows.
    """

    ask: PreparationRequest
    frames: Mapping[str, pd.DataFrame | None]
    routes: str
    stepped: bool = False

    @cached_property
    def rates(self) -> pd.DataFrame | None:
        """Counts and means of the queues recorded per step; None if there are none."""
        queues = self.frames["queues"]
        rates = queue_rates(queues) if queues is not None and len(queues) else None
        return rates if rates is not None and len(rates) else None

    @cached_property
    def flow(self) -> DataFlow:
        """The stages that data passes, and the slow one."""
        return DataFlow(False, "", math.nan) if self.rates is None else flow(self.rates, self.waited)

    @cached_property
    def waited(self) -> Waited | None:
        """How long steps waited for data; None if that is unknown."""
        queues = self.frames["queues"]
        return None if queues is None else waited(queues)

    @cached_property
    def queues(self) -> list[tuple[str, pd.DataFrame]]:
        """(name, rows) of the queues recorded per step."""
        queues = self.frames["queues"]
        if queues is None:
            return []
        parts = [(name, queues[queues["queue"] == name]) for name in QUEUES]
        return [(name, one) for name, one in parts if len(one)]

    @cached_property
    def operations(self) -> pd.DataFrame | None:
        """One row per numbered operation, without rows of single stages; None if there are none."""
        rows = self.frames["pipeline"]
        if rows is None:
            return None
        some = rows[(rows["op_id"] >= 0) & (rows["stage"] == "")].drop_duplicates("op_id")
        return some if len(some) else None

    @cached_property
    def slow(self) -> list[Slow]:
        """Operations that keep the others waiting; empty if the queues show that the pipeline is fast enough."""
        rows, queues = self.frames["pipeline"], self.frames["queues"]
        if self.flow.slow not in ("", "pipeline") or rows is None or not len(rows):
            return []
        return (limiting_operation(rows, queues) if queues is not None else []) or slow_operations(rows)

    @cached_property
    def types(self) -> dict[int, str]:
        """Number of each operation -> its type."""
        rows = self.operations
        return {} if rows is None else dict(zip(rows["op_id"].tolist(), rows["type"].astype(str).tolist(), strict=True))

    @cached_property
    def chosen(self) -> int | None:
        """The operation whose queue is drawn: the requested one, else the first slow one, else the first with a queue."""
        rows = self.operations
        if rows is None:
            return None
        if self.ask.op in self.types:
            return self.ask.op
        with_queue = rows[np.isfinite(rows["queue_length"].to_numpy())]["op_id"].tolist()
        return int(([one.op_id for one in self.slow] or with_queue or list(self.types))[0])
