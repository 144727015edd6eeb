"""Large values decoded the plain way: protobuf for the message, struct and numpy for the numbers in it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from parsers.discovery import discover
from parsers.runs import Run
from tests.parsers.events.event_reference import event, records

KINDS = {
    "events": {"image": "image", "tensor": "tensor", "histogram": "histogram", "loss_landscape": "landscape"},
    "tensorboard": {"image": "image", "histo": "histogram"},
}


def runs(folder: Path) -> Iterator[Run]:
    """Every single run under a folder, ranks apart."""
    for source in discover(folder):
        for leaf in source.leaves:
            run = Run(leaf)
            run.refresh()
            yield run


def messages(run: Run) -> dict[tuple[str, str], list[tuple[int, Any]]]:
    """(kind, tag) -> (step, message) in the order written, of all its files in the order of their times."""
    found: dict[tuple[str, str], list[tuple[int, Any]]] = defaultdict(list)
    states = sorted(run.states.values(), key=lambda state: (state.file.stamp or 0, state.file.path))
    for state in states:
        if state.reader not in KINDS:
            continue
        plugins: dict[str, str] = {}
        for _, data in records(Path(os.fsdecode(state.file.path)).read_bytes()):
            message = event(state.reader, data)
            for value in message.summary.value:
                for field, kind in KINDS[state.reader].items():
                    if value.HasField(field):
                        found[kind, value.tag].append((message.step, getattr(value, field)))
                if state.reader == "tensorboard" and value.HasField("tensor"):
                    plugin = plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
                    if plugin == "text":
                        found["text", value.tag].append((message.step, value.tensor))
    return found


def same(left: Any, right: Any) -> bool:
    """Whether two arrays hold equal numbers, NaN equal to NaN."""
    left, right = np.asarray(left), np.asarray(right)
    return left.shape == right.shape and np.array_equal(left, right, equal_nan=left.dtype.kind in "fc")
