"""Writes event files that the readers of MindSpore and TensorBoard accept: for users, the demo and tests.

    with EventWriter("run/events.out.events.summary.1700000000.0.host_MS", "mindspore") as writer:
        writer.add(1, {"loss": 0.5, "fc.weight": Histogram(weights)})

Unlike a `Recorder` it writes exactly one file, at the given path, and raises what goes wrong.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import BinaryIO

from .layouts import Layout, MindSporeLayout, TensorBoardLayout, TensorScalarsLayout, layout_of
from .values import Value


class EventWriter:
    """Writes one event file. layout is "mindspore" or "tensorboard"; tensor_scalars writes TensorBoard's scalars as tensors.

    The file is created at once with its version record. Records are buffered until `flush()` or `close()`. As TensorFlow does,
    each value for TensorBoard is an event of its own.
    """

    def __init__(
        self, path: str, layout: str, *, wall_time: float | None = None, tensor_scalars: bool = False
    ) -> None:
        kind = layout_of(layout)
        self._one_event = kind is MindSporeLayout
        others = TensorScalarsLayout if tensor_scalars else TensorBoardLayout
        self._layout: Layout = MindSporeLayout() if self._one_event else others()
        self._file: BinaryIO = open(path, "xb")  # noqa: SIM115  closed by close()
        self._file.write(self._layout.opening(_at(wall_time)))

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, step: int, values: Mapping[str, Value], *, wall_time: float | None = None) -> None:
        """Add the values of a step by tag. wall_time is in seconds, by default now."""
        at = _at(wall_time)
        groups = [values] if self._one_event else [{tag: value} for tag, value in values.items()]
        for group in groups:
            self._file.write(self._layout.step(step, at, group))

    def add_graph(self, graph: bytes, *, wall_time: float | None = None) -> None:
        """Add a serialised graph: MindSpore's GraphProto or TensorFlow's GraphDef."""
        self._file.write(self._layout.graph(graph, _at(wall_time)))

    def flush(self) -> None:
        """Write buffered records to the file."""
        self._file.flush()

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()


def _at(wall_time: float | None) -> float:
    return time.time() if wall_time is None else wall_time
