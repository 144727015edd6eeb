"""The plan of a loss landscape beside a run: which checkpoints belong to it, as MindSpore's SummaryCollector leaves it.

`ckpt_dir/train_metadata.json` has epoch_group (number of an interval -> its steps or epochs), model_params_file_map (step or
epoch -> checkpoint), step_per_epoch, unit, num_samples, landscape_size and create_landscape (MindSpore 2.10, `_save_metadata`).
It is replaced as a whole after each checkpoint, so that a training that is killed leaves a plan of those that are there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .errors import RecordingError

DIRECTORY = "ckpt_dir"
NAME = "train_metadata.json"
UNITS = ("step", "epoch")
SIZES = (3, 256)
"""The smallest and the largest landscape, in points along each axis."""
FEWEST = 3
"""Numbers of an interval."""
_KEYS = ("landscape_size", "unit", "num_samples", "create_landscape", "intervals")


class LandscapePlanWriter:
    """Collects checkpoints of the steps or epochs in intervals, and writes which they are. unit is "step" or "epoch"."""

    def __init__(self, directory: str, options: Mapping[str, Any]) -> None:
        """Options are those of `collect_landscape` of SummaryCollector; RecordingError for those that it refuses."""
        unknown = sorted(set(options) - set(_KEYS))
        if unknown:
            raise RecordingError(f"collect_landscape: expected {', '.join(_KEYS)}; found {', '.join(unknown)}")
        self.unit = options.get("unit", "step")
        if self.unit not in UNITS:
            raise RecordingError(f"collect_landscape: unit: expected step or epoch, found {self.unit!r}")
        size = options.get("landscape_size", 40)
        if not isinstance(size, int) or not SIZES[0] <= size <= SIZES[1]:
            raise RecordingError(f"collect_landscape: landscape_size: expected {SIZES[0]} to {SIZES[1]}, found {size!r}")
        create = options.get("create_landscape", {"train": True, "result": True})
        if not isinstance(create, Mapping) or not set(create) <= {"train", "result"}:
            raise RecordingError(f"collect_landscape: create_landscape: expected train and result, found {create!r}")
        intervals = options.get("intervals")
        if not isinstance(intervals, (list, tuple)) or not intervals:
            raise RecordingError(f"collect_landscape: intervals: expected lists of steps or epochs, found {intervals!r}")
        self._intervals = [_numbers(one) for one in intervals]
        self._wanted = {number for interval in self._intervals for number in interval}
        self._facts = {
            "unit": self.unit, "num_samples": options.get("num_samples", 2048), "landscape_size": size,
            "create_landscape": dict(create),
        }  # fmt: skip
        self._directory = os.path.join(os.fspath(directory), DIRECTORY)
        self._files: dict[str, str] = {}

    def wants(self, unit: str, number: int) -> bool:
        """Return whether a step or an epoch belongs to an interval."""
        return unit == self.unit and number in self._wanted

    def path(self, network: str, number: int) -> str:
        """Return where the checkpoint of a step or an epoch is to be saved; its directory exists then."""
        os.makedirs(self._directory, exist_ok=True)
        return os.path.join(self._directory, f"{network}_{number}_{self.unit}.ckpt")

    def add(self, number: int, path: str, steps_per_epoch: int) -> None:
        """Note a checkpoint that was saved, and write the plan."""
        self._files[str(number)] = path
        groups = {str(place): interval for place, interval in enumerate(self._intervals)}
        content = {
            "epoch_group": groups, "model_params_file_map": self._files, "step_per_epoch": steps_per_epoch, **self._facts,
        }  # fmt: skip
        target = os.path.join(self._directory, NAME)
        with open(f"{target}.new", "w", encoding="utf-8") as stream:
            json.dump(content, stream)
        os.replace(f"{target}.new", target)


def _numbers(interval: Any) -> list[int]:
    if not isinstance(interval, (list, tuple)) or len(interval) < FEWEST:
        raise RecordingError(f"collect_landscape: intervals: expected lists of at least {FEWEST} numbers, found {interval!r}")
    if any(type(number) is not int for number in interval):
        raise RecordingError(f"collect_landscape: intervals: expected whole numbers, found {interval!r}")
    return list(interval)
