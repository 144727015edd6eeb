"""Pipelines, and a source of runs that recorded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layouts.sources import RunRow
from parsers import DatasetGraph, DatasetNode, DatasetOperation
from tests.layouts.sources import GivenSource, row

KINDS = {"Map": "map", "Shuffle": "shuffle", "Batch": "batch", "Repeat": "repeat", "Zip": "operator", "Concat": "operator",
         "Skip": "operator"}  # fmt: skip


def node(
    name: str, *children: DatasetNode, sampler: Any = None, operations: Sequence[Any] = (), **parameters: Any
) -> DatasetNode:
    """A node; operations and sampler are given as (name, parameters)."""
    within = tuple(DatasetOperation(each, dict(told)) for each, told in operations)
    chooses = DatasetOperation(sampler[0], dict(sampler[1])) if sampler else None
    return DatasetNode(name, name, KINDS.get(name, "create"), parameters, within, chooses, children)


def chain(length: int) -> DatasetNode:
    """So many operations after each other."""
    found = node("MnistDataset", dataset_dir="/data/mnist", usage="train", sampler=("RandomSampler", {"num_samples": 0}))
    for number in range(length - 1):
        found = node("Skip", found, count=number)
    return found


class PipelineSource(GivenSource):
    """Runs with pipelines; None: recorded, but not readable."""

    def __init__(self, pipelines: Mapping[str, DatasetGraph | None], others: Sequence[str] = ()) -> None:
        rows: list[RunRow] = [row(key, tags={"scalar": 1, "dataset_graph": 1}) for key in pipelines]
        super().__init__([*rows, *(row(key, tags={"scalar": 1}) for key in others)])
        self.pipelines = dict(pipelines)

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        return ["dataset_graph"] if kind == "dataset_graph" and run in self.pipelines else super().tags(run, kind)

    def dataset_graph(self, run: str) -> DatasetGraph | None:
        return self.pipelines.get(run)
