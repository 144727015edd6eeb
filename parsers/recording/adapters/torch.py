"""Takes the place of `torch.utils.tensorboard.SummaryWriter`: change one import.

    from mindscope_record.adapters.torch import SummaryWriter

The constructor and all methods are those of torch's class. Audio, video, meshes and embeddings are left out with one warning
that names them. What torch puts into further directories (`add_scalars`, `add_hparams`) stays in the run.
"""

from __future__ import annotations

import io
import os
import socket
import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np

from ..pictures import image_of
from ..png import png_size
from ..recorder import Recorder, RecordingWarning
from ..values import CountedHistogram, Histogram, Image, Tensor, Text, array_of
from ..wire import number

_BOX = np.array([255, 0, 0, 255], np.uint8)


class SummaryWriter:
    """Records what is added to it, as torch's class of this name does."""

    def __init__(
        self, log_dir: str | None = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10,
        flush_secs: int = 120, filename_suffix: str = "",
    ) -> None:
        """log_dir is by default runs/<time>_<host><comment>.

        The other options are torch's and have no effect here: after a restart, readers resolve steps that come again, records
        are written every second, and names of files tell writers apart.
        """
        del purge_step, max_queue, flush_secs, filename_suffix
        stamp = time.strftime("%b%d_%H-%M-%S")
        self.log_dir = os.fspath(log_dir) if log_dir else os.path.join("runs", f"{stamp}_{socket.gethostname()}{comment}")
        self.recorder = Recorder(self.log_dir)
        self._left_out: set[str] = set()
        self._watched: list[Any] = []

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get_logdir(self) -> str:
        """Return the directory of the run."""
        return self.log_dir

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:
        """Record a number."""
        del new_style, double_precision
        self._log({tag: scalar_value}, global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Record several numbers as <main_tag>/<tag>."""
        self._log({f"{main_tag}/{tag}": value for tag, value in tag_scalar_dict.items()}, global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Record an array as it is."""
        self._log({tag: Tensor(tensor)}, global_step, walltime)

    def add_histogram(
        self, tag: str, values: Any, global_step: int | None = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:
        """Record the distribution of an array, in 30 buckets of equal width, whatever bins and max_bins are."""
        del bins, max_bins
        self._log({tag: Histogram(values)}, global_step, walltime)

    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float, sum_squares: float,  # noqa: A002  torch's names
        bucket_limits: Sequence[float], bucket_counts: Sequence[float], global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Record a distribution that has been counted."""
        moments = (float(moment) for moment in (min, max, num, sum, sum_squares))
        found = CountedHistogram(bucket_limits, bucket_counts, *moments)
        self._log({tag: found}, global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Record a picture whose axes dataformats names."""
        self._log({tag: self.recorder.image(img_tensor, dataformats)}, global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Record a batch of pictures as one picture of tiles."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: int | None = None, walltime: float | None = None,
        rescale: int = 1, dataformats: str = "CHW", labels: Sequence[str] | None = None,
    ) -> None:
        """Record a picture with red frames, each (left, top, right, bottom) in px. rescale and labels are not drawn."""
        del rescale, labels
        self._log({tag: self._attempt(tag, lambda: _framed(img_tensor, box_tensor, dataformats))}, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: int | None = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Record a figure of matplotlib, or a list of them as <tag>/<n>. close: they are closed."""
        figures = {tag: figure} if hasattr(figure, "savefig") else {f"{tag}/{at}": one for at, one in enumerate(figure)}
        images = {name: self._attempt(name, partial(_drawn, one)) for name, one in figures.items()}
        self._log(images, global_step, walltime)
        for one in figures.values() if close else ():
            _close(one)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Record a text."""
        self._log({tag: Text(str(text_string))}, global_step, walltime)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Record the graph of a module, as ONNX."""
        del verbose, use_strict_trace
        found = self._attempt("graph", lambda: _exported(model, input_to_model))
        if found is not None:
            self.recorder.graph(found, "onnx")

    def add_onnx_graph(self, prototxt: Any) -> None:
        """Record the graph of a file of ONNX."""

        def read() -> bytes:
            with open(prototxt, "rb") as file:
                return file.read()

        found = self._attempt("graph", read)
        if found is not None:
            self.recorder.graph(found, "onnx")

    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any], hparam_domain_discrete: Any = None,
        run_name: str | None = None, global_step: int | None = None,
    ) -> None:
        """Record settings and results of this run."""
        del hparam_domain_discrete, run_name
        self.recorder.settings(hparam_dict)
        self.recorder.metrics(metric_dict)
        self._log(dict(metric_dict), global_step, None)

    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: int | None = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve, which TensorBoard draws: labels are 0 or 1, predictions between 0 and 1."""
        found = self._attempt(tag, lambda: _curve(labels, predictions, num_thresholds, weights))
        self._log({tag: None if found is None else _pr_tensor(found)}, global_step, walltime)

    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
        false_negative_counts: Any, precision: Any, recall: Any, global_step: int | None = None, num_thresholds: int = 127,
        weights: Any = None, walltime: float | None = None,
    ) -> None:
        """Record a precision-recall curve from counts at each threshold, arrays of shape (num_thresholds,)."""
        del weights, num_thresholds
        parts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts, precision, recall)
        found = self._attempt(tag, lambda: np.stack([array_of(part) for part in parts]))
        self._log({tag: None if found is None else _pr_tensor(found)}, global_step, walltime)

    def add_custom_scalars(self, layout: Any) -> None:
        """Leave out how TensorBoard is to arrange its cards."""
        self._leave_out("layouts of cards")

    def add_custom_scalars_multilinechart(self, tags: Any, category: str = "", title: str = "") -> None:
        """Leave out how TensorBoard is to arrange its cards."""
        self._leave_out("layouts of cards")

    def add_custom_scalars_marginchart(self, tags: Any, category: str = "", title: str = "") -> None:
        """Leave out how TensorBoard is to arrange its cards."""
        self._leave_out("layouts of cards")

    def add_video(self, *arguments: Any, **options: Any) -> None:
        """Leave out a video."""
        self._leave_out("videos")

    def add_audio(self, *arguments: Any, **options: Any) -> None:
        """Leave out a sound."""
        self._leave_out("audio")

    def add_embedding(self, *arguments: Any, **options: Any) -> None:
        """Leave out an embedding."""
        self._leave_out("embeddings")

    def add_mesh(self, *arguments: Any, **options: Any) -> None:
        """Leave out a mesh."""
        self._leave_out("meshes")

    def watch(self, model: Any, every: int = 100) -> None:
        """Record norms, zeros and NaN of weights and gradients by layer, each time a gradient is ready, every so many times."""
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                hook = parameter.register_post_accumulate_grad_hook
                self._watched.append(hook(_Watch(self.recorder, name, every)))

    def flush(self) -> None:
        """Write what was recorded now."""
        self.recorder.flush()

    def close(self) -> None:
        """Write what was recorded and close the files."""
        for handle in self._watched:
            handle.remove()
        self.recorder.close()

    def _log(self, values: Mapping[str, Any], step: int | None, walltime: float | None) -> None:
        self.recorder.log(0 if step is None else step, values, wall_time=walltime)

    def _attempt(self, tag: str, work: Any) -> Any:
        return self.recorder.attempt(tag, work)

    def _leave_out(self, what: str) -> None:
        if what not in self._left_out:
            self._left_out.add(what)
            warnings.warn(f"{self.log_dir}: {what} are not recorded", RecordingWarning, stacklevel=3)


class _Watch:
    """Records how a parameter and its gradient are."""

    def __init__(self, recorder: Recorder, name: str, every: int) -> None:
        self._recorder, self._name, self._every, self._count = recorder, name, every, 0

    def __call__(self, parameter: Any) -> None:
        count = self._count
        self._count += 1
        if count % self._every == 0:
            self._recorder.attempt(f"watch/{self._name}", lambda: self._record(count, parameter))

    def _record(self, count: int, parameter: Any) -> None:
        import torch

        with torch.no_grad():
            facts = [fact for one in (parameter, parameter.grad) for fact in (one.norm(), (one == 0).sum(), one.isnan().sum())]
            found = torch.stack([fact.double() for fact in facts]).tolist()
        names = [f"{kind}_{fact}" for kind in ("weight", "gradient") for fact in ("norm", "zeros", "nan")]
        self._recorder.log(count, {f"watch/{self._name}/{name}": value for name, value in zip(names, found)})


def _drawn(figure: Any) -> Image:
    """Return a figure of matplotlib as an image."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    width, height = png_size(buffer.getvalue())
    return Image(buffer.getvalue(), height, width, 4)


def _close(figure: Any) -> None:
    import sys

    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(figure)


def _framed(picture: Any, boxes: Any, order: str) -> Image:
    from ..pictures import pixels_of

    pixels = pixels_of(picture, order).copy()
    height, width = pixels.shape[:2]
    for left, top, right, bottom in np.asarray(array_of(boxes), np.float64).reshape(-1, 4).round().astype(int):
        x, y = np.clip([left, right], 0, width - 1), np.clip([top, bottom], 0, height - 1)
        pixels[y, x[0] : x[1] + 1] = _BOX[: pixels.shape[2]]
        pixels[y[0] : y[1] + 1, x] = _BOX[: pixels.shape[2]]
    return image_of(pixels, "HWC")


def _exported(model: Any, arguments: Any) -> bytes:
    """Return a module as ONNX, by the exporter that needs no further package."""
    import torch

    buffer = io.BytesIO()
    was = model.training
    model.eval()
    try:
        torch.onnx.export(model, arguments, buffer, dynamo=False)
    finally:
        model.train(was)
    return buffer.getvalue()


def _curve(labels: Any, predictions: Any, thresholds: int, weights: Any) -> Any:
    """Return true and false positives, true and false negatives, precision and recall by threshold, shape (6, thresholds).

    Source: the PR curve plugin of TensorBoard; bucket i holds predictions from i / (thresholds - 1) on.
    """
    true = array_of(labels).ravel().astype(bool)
    near = array_of(predictions).ravel().astype(np.float64)
    weight = np.ones(len(true)) if weights is None else array_of(weights).ravel().astype(np.float64)
    bucket = np.floor(np.clip(near, 0, 1) * (thresholds - 1)).astype(int)
    hits = np.bincount(bucket, weight * true, thresholds)[::-1].cumsum()[::-1]
    misses = np.bincount(bucket, weight * ~true, thresholds)[::-1].cumsum()[::-1]
    least = 1e-7
    precision, recall = hits / np.maximum(least, hits + misses), hits / max(least, hits[0])
    return np.stack((hits, misses, misses[0] - misses, hits[0] - hits, precision, recall))


def _pr_tensor(rows: Any) -> Tensor:
    return Tensor(rows.astype(np.float32), "pr_curves", number(2, rows.shape[1]))
