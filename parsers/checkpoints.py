"""Plans for loss landscapes that are not computed yet: ckpt_dir/train_metadata.json, written by MindSpore's SummaryCollector.

Training with `collect_landscape` (on by default) saves checkpoints and this file beside the event files; only
`SummaryLandscape.gen_landscapes_with_multi_process` computes landscapes from them. Groups of steps, number of checkpoints and
settings are read; the paths in the file belong to the training machine and are ignored.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import msgspec

from parsers.errors import FormatError
from parsers.files import RegularFile

PLACE = os.path.join("ckpt_dir", "train_metadata.json")
LIMIT = 4 << 20
"""Bytes; a checkpoint takes about 100 of them."""


@dataclass(frozen=True, slots=True)
class LandscapePlan:
    """Checkpoints collected for landscapes.

    intervals are groups of epochs or steps (unit says which), each for one landscape with a path if train; result: one of the
    final weights too. size is the number of points along each axis, samples the number of inputs the loss is computed from.
    """

    path: str
    intervals: tuple[tuple[int, ...], ...]
    checkpoints: int
    unit: str
    step_per_epoch: int
    size: int
    samples: int
    train: bool
    result: bool


class _CheckpointMetadata(msgspec.Struct):
    """The file as MindSpore writes it."""

    epoch_group: dict[str, list[int]] = {}
    model_params_file_map: dict[str, Any] = {}
    unit: str = "step"
    step_per_epoch: int = 0
    landscape_size: int = 0
    num_samples: int = 0
    create_landscape: dict[str, bool] = {}


def landscape_plan(directory: str) -> LandscapePlan | None:
    """Return the landscapes that a run's checkpoints allow, None if it collected none; FormatError for a damaged file."""
    path = os.path.join(directory, PLACE)
    if not os.path.isfile(path):  # reading a pipe would block
        return None
    try:
        with RegularFile(path) as file:
            data = file.read(0, LIMIT + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FormatError(f"{path}: expected a readable file, found {error.strerror}") from error
    if len(data) > LIMIT:
        raise FormatError(f"{path}: expected at most {LIMIT:,} bytes, found more")
    try:
        found = msgspec.json.decode(data, type=_CheckpointMetadata)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{path}: expected the JSON that SummaryCollector writes, found {error}") from error
    return LandscapePlan(
        path=path,
        intervals=tuple(tuple(group) for group in found.epoch_group.values() if group),
        checkpoints=len(found.model_params_file_map),
        unit=found.unit,
        step_per_epoch=found.step_per_epoch,
        size=found.landscape_size,
        samples=found.num_samples,
        train=found.create_landscape.get("train", True),
        result=found.create_landscape.get("result", True),
    )
