"""Records a run: numbers, distributions, pictures, arrays, texts, graphs, settings and results, while a training goes on.

    with Recorder("runs/a", settings={"lr": 0.1}) as run:
        for step, batch in enumerate(run.steps(loader)):
            run.log(step, {"loss": loss, "fc.weight": run.histogram(weights)})

Recording never ends the training: what cannot be recorded is left out with one warning for each tag, and a disk that is full or
not writable ends recording with one warning.
"""

from __future__ import annotations

import operator
import os
import threading
import time
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .errors import RecordingError
from .explaining import ExplanationWriter, GuardedExplanations
from .graphs import write_graph
from .layouts import Layout, MindSporeLayout, TensorBoardLayout, layout_of
from .lineage import LineageLayout, Setting, flat_metrics, flat_settings
from .output import Flusher, RecordedFiles, first_second
from .pictures import image_of
from .profiling import ProfilePlan
from .recognition import recognised
from .timing import StepTimer
from .values import Histogram, Image, Landscape, Tensor, Text, Value

if TYPE_CHECKING:
    from .system import SystemSampler

T = TypeVar("T")
_MOST_WARNINGS = 100
"""Tags that are warned of; later ones are left out in silence."""


class RecordingWarning(UserWarning):
    """Something was not recorded; the training is not affected."""


class Recorder:
    """Records one run into a directory. Methods may be called by any thread.

        with Recorder("runs/a", settings={"lr": 0.1}, system=True) as run:
            for step, batch in enumerate(run.steps(loader)):  # times the steps and how long data takes
                run.log(step, {"loss": train(batch), "fc.weight": run.histogram(weights)})
            run.metrics({"accuracy": accuracy})  # results of the whole run, beside its settings

    `log` takes numbers, texts, pictures and arrays by tag; `histogram`, `image`, `tensor` and `text` say what an array or text
    is to be shown as; `settings` and `metrics` are what runs are compared by. `mindscope --summary-base-dir runs` shows it all.

    What was logged is in the file 2 s later, or when 256 KiB wait, even if the process is killed then. A second Recorder on the
    same directory, also of another process or host, writes files of its own. In a forked child a Recorder of its parent records
    nothing.
    """

    def __init__(
        self, directory: str, *, settings: object = None, layout: str = "tensorboard", rank: int | None = None,
        system: bool = False, largest: int = 0, fsync: bool = False, environment: Sequence[str] = (),
    ) -> None:
        """Begin a run.

        settings: a mapping, or an object with attributes such as argparse gives. layout: "tensorboard" opens in TensorBoard,
        too; "mindspore" is that of SummaryRecord. rank: records below rank_<n> of the directory. system: also records how busy
        processors, memory, disk, network and accelerators are, and once the command line, git commit and versions.
        largest: bytes after which the next file begins, 0 for no limit. fsync: what was written survives a power cut, too.
        environment: names of environment variables to record with system; no others are. RecordingError for wrong options.
        """
        self._layout = layout_of(layout)
        if rank is not None and rank < 0:
            raise RecordingError(f"rank: expected 0 or more, found {rank}")
        if largest < 0:
            raise RecordingError(f"largest: expected 0 or more bytes, found {largest}")
        where = os.fspath(directory)
        self.directory = where if rank is None else os.path.join(where, f"rank_{rank}")
        self._rank, self._largest, self._fsync = rank or 0, largest, fsync
        self._process, self._lock = os.getpid(), threading.RLock()
        self._outputs: dict[type[Layout], RecordedFiles] = {}
        self._settings: dict[str, Setting] = {}
        self._metrics: dict[str, float] = {}
        self._warned: set[str] = set()
        self._stopped = False
        self._explanations: list[ExplanationWriter] = []
        self._plan: ProfilePlan | None = None
        self.begun = first_second(self.directory)
        outputs, end = self._outputs, weakref.WeakMethod(self._end)  # the thread must not keep the Recorder alive
        self._flusher = Flusher(lambda: list(outputs.values()), lambda error: _call(end(), error))
        self._finalizer = weakref.finalize(self, _finish, self._process, self._flusher, outputs)
        self._main = self._output(self._layout)
        self._sampler: SystemSampler | None = None
        if settings is not None:
            self.settings(settings)
        if system:
            self.attempt("system", self._begin_system, environment)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Values of a step ------------------------------------------------------------------------------------------------

    def log(self, step: int, values: Mapping[str, object], *, wall_time: float | None = None) -> None:
        """Record the values of a step by tag. wall_time is in seconds since 1970, by default now.

        Numbers may be of Python, numpy or a framework; strings are texts, pictures of PIL images, other arrays tensors.
        """
        if self._stopped or self._process != os.getpid():
            return
        at = time.time() if wall_time is None else self.attempt("wall_time", float, wall_time)
        whole = step if type(step) is int else self.attempt("step", operator.index, step)
        if whole is None or at is None:
            return
        try:
            plain = True
            for value in values.values():
                if type(value) is not float:
                    plain = False
                    break
            if plain:
                self._write(self._main, whole, at, values)  # type: ignore[arg-type]  # all are floats
            else:
                self._log_any(whole, at, values)
        except Exception as error:  # noqa: BLE001  whatever is logged, the training goes on
            self._warn("log", f"log: expected values by tag, found {type(values).__name__}: {_said(error)}")

    def histogram(self, values: Any) -> Histogram:
        """Return the distribution of an array of any shape, to be logged."""
        return Histogram(values)

    def tensor(self, values: Any) -> Tensor:
        """Return an array of any shape, to be logged as it is."""
        return Tensor(values)

    def image(self, picture: Any, order: str = "") -> Image | None:
        """Return a picture, to be logged: of PIL, or an array of shape (height, width), with 1, 3 or 4 channels, or a batch.

        order names the axes (like "CHW") where the shape does not tell. None, with a warning, for what is no picture.
        """
        return self.attempt("image", lambda: image_of(picture, order))

    def text(self, text: object) -> Text | None:
        """Return a text, to be logged; None, with a warning, for an object that gives none."""
        return self.attempt("text", lambda: Text(str(text)))

    def steps(self, iterable: Iterable[T], start: int = 0) -> Iterator[T]:
        """Iterate as before, and record for each step how long it waited for data and how long it took, in seconds.

        The tags are time/data and time/step; the first step has the number `start`.
        """
        times = StepTimer(self._timed, start)
        step = start
        times.waits()
        try:
            for item in iterable:
                times.begins()
                if self._plan is not None:
                    self.attempt("profile", self._plan.begins, step)
                yield item
                if self._plan is not None:
                    self.attempt("profile", self._plan.ends, step)
                step += 1
                times.waits()
        finally:
            times.ends()
            self._stop_profile()

    def profile(self, first: int = 100, steps: int = 5) -> None:
        """Profile `steps` steps of `run.steps` from step `first` on, with the profiler of the framework that is in use.

        The profile lies below the directory of the run.
        """
        self._plan = ProfilePlan(self.directory, first, steps, self._warn)

    # The run ---------------------------------------------------------------------------------------------------------

    def settings(self, values: object) -> None:
        """Record settings, in addition to earlier ones: of a mapping or the attributes of an object; "/" joins inner names."""
        found = self.attempt("settings", flat_settings, values)
        if found:
            with self._lock:
                self._settings.update(found)
                self._lineage(lambda layout: layout.settings(time.time(), self._settings))

    def metrics(self, values: Mapping[str, object]) -> None:
        """Record results of the whole run by name, in addition to earlier ones."""
        found = self.attempt("metrics", flat_metrics, values)
        if found:
            with self._lock:
                self._metrics.update(found)
                self._lineage(lambda layout: layout.metrics(time.time(), self._metrics))

    def pipeline(self, graph: bytes) -> None:
        """Record a data pipeline: a serialised `DatasetGraph` of MindSpore's lineage.proto."""
        with self._lock:
            self._lineage(lambda layout: layout.pipeline(time.time(), bytes(graph)))

    def graph(self, model: Any, kind: str = "") -> None:
        """Record a graph: bytes or a message of ONNX or of TensorFlow's GraphDef, or a text of DOT.

        kind is "onnx", "graphdef" or "dot"; by default it is recognised.
        """

        def write(found: bytes) -> None:
            output = self._main
            self._add(output, output.layout.graph(found, time.time()))

        self.attempt("graph", lambda: write_graph(self.directory, model, kind, write))

    def landscape(self, tag: str, landscape: Landscape) -> None:
        """Record a loss landscape, in a file of MindSpore's layout."""
        if not self._away():
            self._write(self._output(MindSporeLayout), 0, time.time(), {tag: landscape})

    def explain(
        self, labels: Sequence[str], *, explainers: Sequence[str] = (), metrics: Sequence[str] = ()
    ) -> ExplanationWriter:
        """Return a writer of explanations into the directory of the run; it is closed with the run.

        What it cannot record is left out with one warning.
        """
        options = {"labels": labels, "explainers": explainers, "metrics": metrics}
        writer = GuardedExplanations(self.attempt, self.directory, options)
        self._explanations.append(writer)
        return writer

    def attempt(self, tag: str, work: Callable[..., T], *arguments: Any) -> T | None:
        """Return what work returns; where it fails, warn once for the tag and return None.

        An error of the files of the run ends recording where they are written; any other one costs its tag only.
        """
        if self._away():
            return None
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001  recording must not end the training, whatever a value does
            self._warn(tag, f"{tag}: not recorded: {_said(error)}")
        return None

    def flush(self) -> None:
        """Write what was recorded to the files now."""
        if not self._away():
            try:
                for output in list(self._outputs.values()):
                    output.flush()
            except OSError as error:
                self._end(error)

    def close(self) -> None:
        """Write what was recorded and close the files. Later calls record nothing."""
        if self._process != os.getpid():
            return
        self._stop_profile()
        if self._sampler is not None:
            self._sampler.stop()
        for writer in self._explanations:
            self.attempt("explain", writer.close)
        self._stopped = True
        self._finalizer.detach()
        self._flusher.stop()
        try:
            for output in self._outputs.values():
                output.close()
        except OSError as error:
            self._warn("", f"recording ended early: {error}")

    # Inside ----------------------------------------------------------------------------------------------------------

    def _away(self) -> bool:
        return self._stopped or self._process != os.getpid()

    def _log_any(self, step: int, at: float, values: Mapping[str, object]) -> None:
        """Record values of which some are no Python floats: convert them, and put each into a layout that holds it."""
        groups: dict[type[Layout], dict[str, Value]] = {}
        for tag, value in values.items():
            if value is None:
                continue
            found = self.attempt(str(tag), recognised, value)
            if found is not None:
                groups.setdefault(_holder(found, self._layout), {})[str(tag)] = found
        for kind, group in groups.items():
            self._write(self._output(kind), step, at, group)

    def _write(self, output: RecordedFiles, step: int, at: float, values: Mapping[str, Value]) -> None:
        try:
            record = output.layout.step(step, at, values)
        except Exception:  # noqa: BLE001  each value is tried alone, and warned of
            record = self._each(output, step, at, values)
        self._add(output, record)

    def _each(self, output: RecordedFiles, step: int, at: float, values: Mapping[str, Value]) -> bytes:
        """Return the records of a step of which something cannot be recorded: each value alone, without the wrong ones."""
        found = []
        for tag, value in values.items():
            record = self.attempt(str(tag), output.layout.step, step, at, {str(tag): value})
            found.append(record or b"")
        return b"".join(found)

    def _add(self, output: RecordedFiles, record: bytes) -> None:
        if not record or self._stopped or self._process != os.getpid():
            return
        try:
            if output.add(record):
                self._flusher.notice()
        except OSError as error:
            self._end(error)

    def _output(self, kind: type[Layout]) -> RecordedFiles:
        with self._lock:
            if kind not in self._outputs:
                name = _name_of(kind, self._rank)
                self._outputs[kind] = RecordedFiles(self.directory, name, kind, largest=self._largest, durable=self._fsync)
            return self._outputs[kind]

    def _lineage(self, encode: Callable[[LineageLayout], bytes]) -> None:
        if not self._away():
            output = self._output(LineageLayout)
            assert isinstance(output.layout, LineageLayout)
            record = self.attempt("lineage", encode, output.layout)
            self._add(output, record or b"")

    def _begin_system(self, environment: Sequence[str]) -> None:
        from .provenance import facts  # these take time to import
        from .system import SystemSampler

        self._sampler = SystemSampler(self._sampled, self.directory)
        self.log(0, {"run/" + name: Text(value) for name, value in facts(environment).items()})

    def _timed(self, step: int, at: float, data: float, whole: float) -> None:
        self._write(self._main, step, at, {"time/data": data, "time/step": whole})

    def _sampled(self, at: float, values: Mapping[str, float]) -> None:
        """Record a sample of the system; its step is the number of seconds since the run began."""
        if not self._away():
            self._write(self._main, max(0, round(at) - self.begun), at, values)

    def _stop_profile(self) -> None:
        if self._plan is not None:
            self.attempt("profile", self._plan.stop)

    def _warn(self, tag: str, text: str) -> None:
        with self._lock:
            if tag in self._warned or len(self._warned) > _MOST_WARNINGS:
                return
            self._warned.add(tag)
        warnings.warn(f"{self.directory}: {text}", RecordingWarning, stacklevel=4)

    def _end(self, error: OSError) -> None:
        """End recording since a file cannot be written."""
        self._stopped = True
        self._warn("", f"recording ended, the training goes on: {error}")


def _name_of(kind: type[Layout], rank: int) -> Callable[[int, str], str]:
    """Return what makes names of files of a layout, from seconds and a writer, as its readers know them."""
    if kind is TensorBoardLayout:
        return lambda second, writer: f"events.out.tfevents.{second:010d}.{writer}"
    ending = "lineage" if kind is LineageLayout else "MS"
    return lambda second, writer: f"events.out.events.summary.{second}.{rank}.{writer}_{ending}"


def _holder(value: Value, layout: type[Layout]) -> type[Layout]:
    """Return the layout that can hold a value: texts are for TensorBoard only, landscapes for MindSpore."""
    if isinstance(value, Text):
        return TensorBoardLayout
    return MindSporeLayout if isinstance(value, Landscape) else layout


def _said(error: Exception) -> str:
    """Return what an error says, which may fail itself."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001
        return type(error).__name__


def _call(handler: Callable[[OSError], None] | None, error: OSError) -> None:
    if handler is not None:
        handler(error)


def _finish(process: int, flusher: Flusher, outputs: Mapping[type[Layout], RecordedFiles]) -> None:
    """Write what a Recorder that nobody closed holds back, when it or the interpreter ends."""
    if process != os.getpid():
        return
    flusher.stop()
    for output in outputs.values():
        try:
            output.close()
        except OSError as error:
            warnings.warn(f"{output.path}: recording ended early: {error}", RecordingWarning, stacklevel=1)

