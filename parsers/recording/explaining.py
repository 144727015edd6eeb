"""Records explanations of images from arrays: for those who explain with Captum, SHAP or their own code.

    with ExplanationWriter("summary/run_1", labels=["cat", "dog"], explainers=["GradCAM"]) as writer:
        writer.sample(0, picture, truth=[0], probabilities={0: 0.93, 1: 0.07})
        writer.heat_map(0, "GradCAM", 0, saliency)
        writer.score("GradCAM", "Faithfulness", 0.41, [0.5, 0.32])

The files are those of mindspore-xai: `events.out.events.summary.<seconds>.<n>.<host>_explain`, and the pictures as PNG below
`_explain_<seconds>`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import RecordingError
from .png import encode_png
from .wire import delimited, float32, float64, number, record

_PER_FOLDER = 1000


@dataclass(frozen=True)
class Uncertainty:
    """How certain a probability is: its standard deviation, and the ends of its 95 % interval."""

    sd: float
    low: float
    high: float


@dataclass(frozen=True)
class Layer:
    """A layer of hierarchical occlusion: the probability with only the boxes visible, each (x, y, width, height) in px."""

    probability: float
    boxes: Sequence[tuple[int, int, int, int]]


class ExplanationWriter:
    """Writes the explanations of one run into its directory. Names of labels, explainers and metrics are written at once."""

    def __init__(
        self, directory: str, *, labels: Sequence[str], explainers: Sequence[str] = (), metrics: Sequence[str] = (),
        seconds: int | None = None,
    ) -> None:
        """seconds is the time in the names of the files, by default now."""
        stamp = int(time.time()) if seconds is None else seconds
        os.makedirs(directory, exist_ok=True)
        self._directory, self._pictures = directory, f"_explain_{stamp}"
        self._labels, self._seen = len(labels), {"saliency_map": False, "benchmark": False, "uncertainty": False}
        self._seen["hierarchical_occlusion"] = False
        path = os.path.join(directory, f"events.out.events.summary.{stamp}.0.mindscope_explain")
        self._file = open(path, "xb")  # noqa: SIM115  closed by close()
        self._write(delimited(3, b"MindSpore.Event:1"))
        names = ((1, labels), (2, explainers), (3, metrics))
        self._explain(delimited(7, b"".join(delimited(at, one.encode()) for at, part in names for one in part)))

    def __enter__(self) -> ExplanationWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def sample(
        self, sample: int, picture: ArrayLike, *, truth: Sequence[int] = (), probabilities: Mapping[int, float],
        uncertainty: Mapping[int, Uncertainty] | None = None,
    ) -> None:
        """Record a picture and what was predicted of it.

        picture has shape (height, width), or (height, width, 3) for RGB, as uint8 or as floats from 0 to 1. truth are the
        numbers of its true labels; probabilities has one for each of these, and for any others. Record all labels to have exact
        outcomes at thresholds below 0.5. RecordingError for shapes and labels that do not fit.
        """
        self._check([*truth, *probabilities])
        missing = [label for label in truth if label not in probabilities]
        if missing:
            raise RecordingError(f"probabilities: expected one for each true label, found none for label {missing[0]}")
        path = self._save(f"origin_images/{_folder(sample)}/{sample}.png", picture)
        self._explain(number(1, sample) + delimited(2, path.encode()))
        known = uncertainty or {}
        self._seen["uncertainty"] |= bool(known)
        message = b"".join(number(3, label) for label in truth)
        parts = []
        for at, labels in (((1, 4, 5, 6), list(truth)), ((3, 7, 8, 9), list(probabilities))):
            if at[0] == 3:
                parts += [number(2, label) for label in labels]
            parts += [float32(at[0], probabilities[label]) for label in labels]
            if all(label in known for label in labels):
                for field, name in zip(at[1:], ("sd", "low", "high")):
                    parts += [float32(field, getattr(known[label], name)) for label in labels]
        self._explain(number(1, sample) + message + delimited(4, b"".join(parts)))

    def heat_map(self, sample: int, explainer: str, label: int, values: ArrayLike) -> None:
        """Record a heat map: values of shape (height, width), scaled here so that the least is 0 and the greatest 255."""
        self._check([label])
        data = np.asarray(values, np.float64)
        finite = data[np.isfinite(data)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        scaled = np.clip((np.nan_to_num(data, nan=low, posinf=high, neginf=low) - low) / ((high - low) or 1.0), 0.0, 1.0)
        path = self._save(f"heatmap/{_safe(explainer)}/{_folder(sample)}/{sample}_{label}.png", scaled)
        self._seen["saliency_map"] = True
        parts = delimited(1, explainer.encode()) + number(2, label) + delimited(3, path.encode())
        self._explain(number(1, sample) + delimited(5, parts))

    def counterfactual(self, sample: int, label: int, layers: Sequence[Layer], *, radius: int) -> None:
        """Record layers of hierarchical occlusion; radius is that of the blur that covers the rest, in px."""
        self._check([label])
        self._seen["hierarchical_occlusion"] = True
        parts = number(1, label) + delimited(2, f"gaussian:{radius}".encode())
        for layer in layers:
            boxes = b"".join(number(2, side) for box in layer.boxes for side in box)
            parts += delimited(3, float32(1, layer.probability) + boxes)
        self._explain(number(1, sample) + delimited(9, parts))

    def score(self, explainer: str, metric: str, total: float, labels: Sequence[float] = ()) -> None:
        """Record the score of an explainer by a metric, of all labels together and of each."""
        self._seen["benchmark"] = True
        parts = delimited(1, metric.encode()) + delimited(2, explainer.encode()) + float32(3, total)
        self._explain(delimited(6, parts + b"".join(float32(4, score) for score in labels)))

    def flush(self) -> None:
        """Write buffered records to the file."""
        self._file.flush()

    def close(self) -> None:
        """Write the manifest, which says what was recorded, and close the file."""
        if self._file.closed:
            return
        folder = os.path.join(self._directory, self._pictures)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(self._seen, file)
        self._file.close()

    def _check(self, labels: Sequence[int]) -> None:
        wrong = [label for label in labels if not 0 <= label < self._labels]
        if wrong:
            raise RecordingError(f"label: expected 0 to {self._labels - 1}, found {wrong[0]}")

    def _save(self, name: str, picture: ArrayLike) -> str:
        path = f"{self._pictures}/{name}"
        whole = os.path.join(self._directory, *path.split("/"))
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as file:
            file.write(encode_png(_bytes(np.asarray(picture))))
        return path

    def _explain(self, message: bytes) -> None:
        self._write(number(2, 1) + delimited(6, message))

    def _write(self, content: bytes) -> None:
        self._file.write(record(float64(1, time.time()) + content))


class GuardedExplanations(ExplanationWriter):
    """An ExplanationWriter whose failures are handled by `attempt`, as `Recorder.attempt` does; it records nothing then."""

    def __init__(self, attempt: Callable[..., Any], directory: str, options: Mapping[str, Any]) -> None:
        """options are those of ExplanationWriter."""
        self._attempt, self._ready = attempt, False
        attempt("explain", self._begin, directory, options)

    def _begin(self, directory: str, options: Mapping[str, Any]) -> None:
        super().__init__(directory, **options)
        self._ready = True

    def _guarded(self, work: Callable[..., None], *arguments: Any, **options: Any) -> None:
        if self._ready:
            self._attempt("explain", lambda: work(*arguments, **options))

    def sample(self, *arguments: Any, **options: Any) -> None:
        """Record a picture and what was predicted of it."""
        self._guarded(super().sample, *arguments, **options)

    def heat_map(self, *arguments: Any, **options: Any) -> None:
        """Record a heat map."""
        self._guarded(super().heat_map, *arguments, **options)

    def counterfactual(self, *arguments: Any, **options: Any) -> None:
        """Record layers of hierarchical occlusion."""
        self._guarded(super().counterfactual, *arguments, **options)

    def score(self, *arguments: Any, **options: Any) -> None:
        """Record the score of an explainer."""
        self._guarded(super().score, *arguments, **options)

    def flush(self) -> None:
        """Write buffered records to the file."""
        self._guarded(super().flush)

    def close(self) -> None:
        """Write the manifest and close the file."""
        self._guarded(super().close)


def _folder(sample: int) -> int:
    return sample // _PER_FOLDER * _PER_FOLDER


def _safe(name: str) -> str:
    """Return a name as a folder: other characters than letters, digits, dots, - and _ become _."""
    return "".join(one if one.isalnum() or one in "-_." else "_" for one in name).lstrip(".") or "_"


def _bytes(picture: NDArray[np.generic]) -> NDArray[np.uint8]:
    if picture.dtype == np.uint8:
        return np.asarray(picture, np.uint8)
    if picture.dtype.kind != "f":
        raise RecordingError(f"picture: expected uint8 or floats from 0 to 1, found {picture.dtype}")
    return np.round(np.clip(np.nan_to_num(picture.astype(np.float64)), 0.0, 1.0) * 255).astype(np.uint8)
