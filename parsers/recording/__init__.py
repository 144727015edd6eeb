"""Records runs from any framework, and writes the event files that MindSpore and TensorBoard read.

To begin with, where Mindscope is installed (elsewhere `pip install mindscope-record`, and import `mindscope_record`):

    from parsers.recording import Recorder

    with Recorder("runs/a", settings={"lr": 0.1}) as run:
        for step, batch in enumerate(run.steps(loader)):
            run.log(step, {"loss": train(batch)})
        run.metrics({"accuracy": accuracy})

`mindscope --summary-base-dir runs` shows it while it grows. `help(Recorder)` says what else it records: distributions,
pictures, tensors, texts, graphs, profiles, the machine.

This package imports only itself, numpy, google-crc32c and the standard library, and runs on Python 3.9: it is also built as
`mindscope-record`, a distribution with the import name `mindscope_record`, for environments in which models are trained.
Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import RecordingError
    from .event_file import EventWriter
    from .explaining import ExplanationWriter, Layer, Uncertainty
    from .png import encode_png
    from .recorder import Recorder, RecordingWarning
    from .values import Histogram, Image, Landscape, Surface, Tensor, Text, Value

_NAMES = {
    "errors": ("RecordingError",), "event_file": ("EventWriter",), "explaining": ("ExplanationWriter", "Layer", "Uncertainty"),
    "png": ("encode_png",), "recorder": ("Recorder", "RecordingWarning"),
    "values": ("Histogram", "Image", "Landscape", "Surface", "Tensor", "Text", "Value"),
}  # fmt: skip
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = [
    "EventWriter", "ExplanationWriter", "Histogram", "Image", "Landscape", "Layer", "Recorder", "RecordingError",
    "RecordingWarning", "Surface", "Tensor", "Text", "Uncertainty", "Value", "encode_png",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(_MODULES)
