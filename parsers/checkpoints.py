"""Plans for loss landscapes that are not computed yet: ckpt_dir/train_metadata.json, written by MindSpore's SummaryCollector.

Also the names of what `mindscope landscape` leaves beside the files of a run (`parsers.landscapes`).

Training with `collect_landscape` (on by default) saves checkpoints and this file beside the event files; only
`SummaryLandscape.gen_landscapes_with_multi_process` computes landscapes from them. Groups of steps, names of checkpoints and
settings are read; the folders in the file belong to the training machine and are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.model import COMPUTED_LANDSCAPES, FileKind

PLACE = os.path.join("ckpt_dir", "train_metadata.json")
LIMIT = 4 << 20
"""Bytes; a checkpoint takes about 100 of them."""
_STEP = re.compile(r"[0-9]{1,18}")
_COMPUTED = re.compile(r"\Alandscape-(?P<mark>[0-9a-f]{16})\.(?P<kind>points|json)\Z")
LANDSCAPE_FILES = FileKind(name=COMPUTED_LANDSCAPES, pattern=_COMPUTED, makes_run=False, most=20)
POINTS, FACTS = "points", "json"


@dataclass(frozen=True, slots=True)
class LandscapePlan:
    """Checkpoints collected for landscapes.

    files are the names of checkpoints beside the plan, by epoch or step. intervals are groups of epochs or steps (unit says
    which), each for one landscape with a path if train; result: one of the
    final weights too. size is the number of points along each axis, samples the number of inputs the loss is computed from.
    """

    path: str
    intervals: tuple[tuple[int, ...], ...]
    files: Mapping[int, str]
    unit: str
    step_per_epoch: int
    size: int
    samples: int
    train: bool
    result: bool

    @property
    def checkpoints(self) -> int:
        """Number of checkpoints that were collected."""
        return len(self.files)


class _CheckpointMetadata(msgspec.Struct):
    """The file as MindSpore writes it."""

    epoch_group: dict[str, list[int]] = {}
    model_params_file_map: dict[str, Any] = {}
    unit: str = "step"
    step_per_epoch: int = 0
    landscape_size: int = 0
    num_samples: int = 0
    create_landscape: dict[str, bool] = {}


def _names(places: Mapping[str, Any]) -> dict[int, str]:
    """Return the names of files by step; a step that is no number, or a name that leads elsewhere, is left out."""
    names = {step: str(path).replace("\\", "/").rpartition("/")[2] for step, path in places.items()}
    return {
        int(step): name for step, name in names.items()
        if _STEP.fullmatch(step) and name not in ("", ".", "..")
    }  # fmt: skip


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
        files=_names(found.model_params_file_map),
        unit=found.unit,
        step_per_epoch=found.step_per_epoch,
        size=found.landscape_size,
        samples=found.num_samples,
        train=found.create_landscape.get("train", True),
        result=found.create_landscape.get("result", True),
    )


def files_in(directory: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield (mark, path) of the files of POINTS or FACTS in a directory, the newest first; at most as many as are read."""
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                match = _COMPUTED.match(entry.name)
                if match is not None and match["kind"] == kind and entry.is_file():
                    found.append((-entry.stat().st_mtime_ns, match["mark"], entry.path))
    except OSError:
        return
    yield from ((mark, path) for _, mark, path in sorted(found)[: LANDSCAPE_FILES.most])
