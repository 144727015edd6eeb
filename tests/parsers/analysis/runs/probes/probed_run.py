"""A `ProbedRun` of what a generator made: the rules of the pages look at it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from parsers import DatasetGraph, Graph, Insight, PayloadSeries, Series
from parsers.analysis import resolved
from parsers.analysis.curves.insights import insights_of_run
from parsers.analysis.jobs.advice import Review, judged
from parsers.analysis.runs.probes.model import ProbedRun
from parsers.lineage.datasets import RecordedPipeline
from tests.sources.made import recorded
from tests.writers.symptomatic_runs import START_S, Made


class MadeRun(ProbedRun):
    """Answers probes from memory; asked has what was asked for, to see that a probe asks for no more than it needs."""

    def __init__(self, made: Made) -> None:
        self.made = made
        self.asked: list[str] = []

    @property
    def other(self) -> ProbedRun | None:
        return MadeRun(self.made.others[0]) if self.made.others else None

    @property
    def before(self) -> tuple[str, ProbedRun] | None:
        return None if self.other is None else ("the other run", self.other)

    @property
    def others(self) -> Sequence[ProbedRun]:
        return [MadeRun(one) for one in self.made.others]

    @property
    def ranks(self) -> Mapping[int, ProbedRun]:
        return {rank: MadeRun(one) for rank, one in enumerate(self.made.ranks)}

    def tags(self, kind: str = "scalar") -> Sequence[str]:
        return list(self.made.scalars if kind == "scalar" else self.made.values.get(kind, {}))

    def series(self, tag: str) -> Series | None:
        found = self.recorded(tag)
        return None if found is None else resolved(found)

    def recorded(self, tag: str) -> Series | None:
        self.asked.append("scalar")
        return self.made.scalars.get(tag)

    def insights(self, tags: Sequence[str]) -> Sequence[Insight]:
        self.asked.append("scalar")
        return [one for one in insights_of_run({tag: self.made.scalars[tag] for tag in tags}) if one.score >= 1.0]

    def stalled(self) -> Insight | None:
        return None

    def payloads(self, kind: str, tag: str) -> PayloadSeries | None:
        self.asked.append(kind)
        found = self.made.values.get(kind, {}).get(tag)
        if found is None:
            return None
        made = recorded([step for step, _ in found])
        files = np.searchsorted(np.array(self.made.starts, np.int64), np.arange(len(found)), "right")
        return replace(made, file=files.astype(np.int32))

    def value(self, kind: str, tag: str, place: int) -> Any:
        return self.made.values[kind][tag][place][1]

    def settings(self) -> Mapping[str, Any]:
        self.asked.append("lineage")
        return self.made.settings

    def pipeline(self) -> DatasetGraph | None:
        self.asked.append("dataset_graph")
        return self.made.pipeline

    def pipelines(self) -> Sequence[RecordedPipeline]:
        self.asked.append("dataset_graph")
        known = [one for one in (*self.made.earlier, self.made.pipeline) if one is not None]
        return [RecordedPipeline(1.7e9 + START_S * number, one) for number, one in enumerate(known)]

    def graph(self) -> Graph | None:
        self.asked.append("graph")
        return self.made.graph

    def review(self, rules: Collection[str]) -> Review | None:
        self.asked.append("profile")
        return judged(dict(self.made.frames), rules=rules) if self.made.frames else None

    def frame(self, name: str) -> pd.DataFrame | None:
        self.asked.append("profile")
        return self.made.frames.get(name)

    def files_of(self, name: str) -> Sequence[str]:
        return (f"{name}.csv",)

    def other_kernels(self) -> Mapping[str, pd.DataFrame]:
        return {}

    def trace(self) -> None:
        return None

    def dump(self, result: str) -> pd.DataFrame | None:
        self.asked.append("dump")
        return None
