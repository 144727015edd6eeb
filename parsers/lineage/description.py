"""Merges all lineage of one run into one description.

Lineage files are merged by the time in their names, using the last intact event of each kind in a file, as in MindInsight: a
file with a training or a pipeline replaces earlier ones, a file with only an evaluation adds to them. Unlike in MindInsight, a
file with only custom data counts and is not replaced by a training, and a truncated or damaged event loses only itself.

hparams and then configuration files fill in what lineage files do not have; if they contradict, their value is kept beside
it as `user_defined/<name as written>`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from parsers.errors import FormatError
from parsers.events.wire import WireError
from parsers.frames import LINEAGE
from parsers.lineage import mindspore
from parsers.lineage.datasets import DatasetGraph, RecordedPipeline, dataset_graph
from parsers.lineage.hparams import plugin_data
from parsers.lineage.values import MOST, Setting
from parsers.model import Problem

METRIC, OTHER = "metric/", "user_defined/"
TRAIN, EVALUATION, PIPELINE, CUSTOM = "train_lineage", "evaluation_lineage", "dataset_graph", "user_defined_info"
T = TypeVar("T")

_NAMES: Mapping[str, str] = {
    "lr": "learning_rate", "optimizer.learning_rate": "learning_rate", "optimizer.lr": "learning_rate",
    "lr_schedule.learning_rate": "learning_rate", "epochs": "epoch", "num_epochs": "epoch", "runner_config.epochs": "epoch",
    "bs": "batch_size", "runner_config.batch_size": "batch_size", "train_dataset.batch_size": "batch_size",
    "optimizer.type": "optimizer", "optim": "optimizer", "loss_fn": "loss_function", "loss.type": "loss_function",
    "model.arch.type": "network", "model.model_config.type": "network", "model": "network", "net": "network",
    "parallel.parallel_mode": "parallel_mode", "device_number": "device_num",
    "train_dataset.data_loader.dataset_dir": "train_dataset_path",
    "eval_dataset.data_loader.dataset_dir": "test_dataset_path",
}  # fmt: skip
"""Other names of settings in hparams and configuration files."""
_TYPES = {column.name: column.dtype for column in LINEAGE.columns[2:] if column.name not in ("loss", "dataset_mark")}


class LocatedEvent(NamedTuple):
    """A located event: file, its number, offset of the record, tag, a function that reads the bytes, wall time in seconds."""

    path: str
    file: int
    order: int
    tag: str
    read: Callable[[], memoryview]
    wall_time: float = math.nan


@dataclass(slots=True)
class Description:
    """Settings of a run by column of LINEAGE, its pipeline, and damage. metrics are tags of scalars.

    pipelines are the last ones of all files, in the order of time: a training that was resumed has one for every start.
    """

    settings: dict[str, Setting] = field(default_factory=dict)
    datasets: DatasetGraph | None = None
    pipelines: list[RecordedPipeline] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add_lineage(self, records: Iterable[LocatedEvent]) -> None:
        """Add the events of lineage files, given in the order of their times."""
        files: dict[int, dict[str, list[LocatedEvent]]] = {}
        for record in records:
            files.setdefault(record.file, {}).setdefault(record.tag, []).append(record)
        custom: dict[str, Setting] = {}  # from files without a training
        for tags in files.values():
            own: dict[str, Setting] = {}
            for record in tags.get(CUSTOM, ()):
                found = self._bounded(self._decoded(record, mindspore.user_defined) or {}, record)
                own |= {OTHER + name: value for name, value in found.items()}
            if {TRAIN, PIPELINE} & tags.keys():
                self.settings, self.datasets = dict(custom), None
            else:
                custom |= own
            self.settings |= own
            self.settings |= self._last(tags.get(TRAIN), mindspore.train_lineage) or {}
            self._add_evaluation(tags.get(EVALUATION))
            self._add_pipeline(tags.get(PIPELINE))
        if self.datasets is not None:
            self.settings["dataset_mark"] = self.datasets.mark

    def _bounded(self, found: dict[str, Setting], record: LocatedEvent) -> dict[str, Setting]:
        """Return at most MOST values of one event."""
        if len(found) <= MOST:
            return found
        self._complain(record, f"Its {record.tag} has {len(found):,} values; the first {MOST:,} are shown.")
        return dict(list(found.items())[:MOST])

    def _add_pipeline(self, records: list[LocatedEvent] | None) -> None:
        found = self._last(records, dataset_graph)
        if found is not None and records:
            self.datasets = found
            self.pipelines.append(RecordedPipeline(records[-1].wall_time, found))
            if found.problem:
                self._complain(records[-1], found.problem)

    def _add_evaluation(self, records: list[LocatedEvent] | None) -> None:
        found = self._last(records, mindspore.evaluation_lineage) or {}
        written = found.pop("metric", "")
        self.settings |= found
        if not written or not records:
            return
        try:
            metrics = mindspore.metrics(str(written))
        except FormatError as error:
            self._complain(records[-1], f"Its metrics cannot be read: {error}. The rest of it is shown.")
            return
        self.settings |= {METRIC + name: value for name, value in self._bounded(metrics, records[-1]).items()}

    def add_hparams(self, records: Iterable[LocatedEvent]) -> None:
        """Add the plugin data of TensorBoard's hparams."""
        for record in records:
            tags, settings = self._decoded(record, plugin_data) or ([], {})
            self.metrics += tags
            self.add_others(settings)

    def add_others(self, found: Mapping[str, Setting]) -> None:
        """Add settings by name, which may differ from the name of their column."""
        for name, value in found.items():
            column = _NAMES.get(name, name)
            fitting = _fitting(column, value)
            if fitting is not None and self.settings.setdefault(column, fitting) == fitting:
                continue
            place, number = OTHER + name, 1
            while place in self.settings and self.settings[place] != value:
                number += 1
                place = f"{OTHER}{name}~{number}"
            self.settings.setdefault(place, value)

    # Decoding ------------------------------------------------------------------------------------------------------

    def _last(self, records: list[LocatedEvent] | None, decode: Callable[[memoryview], T]) -> T | None:
        """Decode the last event that can be decoded; report a problem for each that cannot."""
        found: Iterator[T | None] = (self._decoded(record, decode) for record in reversed(records or ()))
        return next((one for one in found if one is not None), None)

    def _decoded(self, record: LocatedEvent, decode: Callable[[memoryview], T]) -> T | None:
        try:
            return decode(record.read())
        except FormatError as error:
            reason = str(error)
        except WireError as error:
            reason = f"expected a message, found {error}"
        except (IndexError, struct.error):
            reason = "expected a whole message, found one that ends within a field"
        self._complain(record, f"Its {record.tag} cannot be shown: {reason}.")
        return None

    def _complain(self, record: LocatedEvent, text: str) -> None:
        problem = Problem(record.path, record.order, 0, "bad_value", text)
        if problem not in self.problems:
            self.problems.append(problem)


def _fitting(column: str, value: Setting) -> Setting | None:
    """Convert a value to the type of its column of LINEAGE; None if there is no such column or the type differs."""
    wanted = _TYPES.get(column)
    if wanted == "str":
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if wanted == "float64":
        return float(value) if abs(value) < 1e300 or isinstance(value, float) else None
    return value if wanted == "Int64" and isinstance(value, int) and abs(value) < 2**63 else None
