"""Pipelines, and a source of runs that recorded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parsers import DatasetGraph, DatasetNode, DatasetOperation
from tests.sources import MemorySource

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


def pipeline_source(pipelines: Mapping[str, DatasetGraph | None], others: Sequence[str] = ()) -> MemorySource:
    """Runs with pipelines, of which None is one that cannot be read, and others without."""
    return MemorySource({run: {"dataset_graph": graph} for run, graph in pipelines.items()} | {run: {} for run in others})
