"""Takes the place of MindSpore's `SummaryCollector`: change one import, and the name.

    from mindscope_record.adapters.mindspore import Collector

The constructor is that of SummaryCollector, and so are the tags, so that runs recorded by either compare. It adds the learning
rate by step and its schedule as a setting, and counts steps in data sink mode, too. A file that has reached max_file_size is
followed by another one.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import mindspore
import numpy as np
from mindspore.train import Callback

from ..errors import RecordingError
from ..landscape_plan import LandscapePlanWriter
from ..recorder import Recorder
from ..values import Histogram, Tensor, array_of

KEYS = (
    "collect_metric", "collect_graph", "collect_train_lineage", "collect_eval_lineage", "collect_input_data",
    "collect_dataset_graph", "histogram_regular", "collect_landscape",
)  # fmt: skip
_FIRST_PARAMETERS = 5
_MOST_TENSORS = 20
"""Steps at which tensors of summary operators are recorded by default."""
_KINDS = {"[:scalar]": "scalar", "[:image]": "image", "[:tensor]": "tensor", "[:histogram]": "histogram"}


class Collector(Callback):
    """Records loss, learning rate, parameters, graphs, inputs and lineage of `Model.train` and `Model.eval`."""

    def __init__(
        self, summary_dir: str, collect_freq: int = 10, num_process: int = 32,
        collect_specified_data: Mapping[str, Any] | None = None, keep_default_action: bool = True,
        custom_lineage_data: Mapping[str, Any] | None = None, collect_tensor_freq: int | None = None,
        max_file_size: int | None = None, export_options: Mapping[str, Any] | None = None, **options: Any,
    ) -> None:
        """Options are those of SummaryCollector; num_process has no effect. Further ones are those of Recorder.

        collect_freq counts steps, also in data sink mode. RecordingError for options that SummaryCollector refuses.
        """
        super().__init__()
        del num_process
        for name, value in (("collect_freq", collect_freq), ("collect_tensor_freq", collect_tensor_freq)):
            if (name == "collect_freq" or value is not None) and (not isinstance(value, int) or value <= 0):
                raise RecordingError(f"{name}: expected a whole number above 0, found {value!r}")
        self._wanted = _wanted(collect_specified_data, keep_default_action)
        landscape = self._wanted.get("collect_landscape")
        self._plan = LandscapePlanWriter(summary_dir, landscape) if landscape else None
        self._every, self._every_tensor = collect_freq, collect_tensor_freq
        self._export = (export_options or {}).get("tensor_format") == "npy"
        self._last_step, self._last_tensors = -collect_freq, -1
        self._begun, self._first_rate = False, None
        self._directory = os.fspath(summary_dir)
        self.recorder = Recorder(self._directory, layout="mindspore", largest=max_file_size or 0, **options)
        self._custom = {**_of_search(), **(custom_lineage_data or {})}

    def __enter__(self) -> Collector:
        return self

    def __exit__(self, *error: object) -> None:
        self.recorder.flush()

    def on_train_begin(self, run_context: Any) -> None:
        """Record settings once."""
        if self._custom:
            self.recorder.settings(self._custom)
            self._custom = {}

    def on_train_step_end(self, run_context: Any) -> None:
        """Record the values of a step."""
        parameters = run_context.original_args()
        if not self._begun:
            self._begun = True
            self._first_rate = self.recorder.attempt("learning_rate", lambda: _rate(_optimizer(parameters)))
            self.recorder.attempt("graph", lambda: self._graph(parameters))
            self.recorder.attempt("dataset_graph", lambda: self._pipeline(parameters))
        step = parameters.cur_step_num
        operators = self.recorder.attempt("summary operators", _of_operators) or {}
        if step // self._every > self._last_step // self._every or self._last_step < 0:
            self._last_step = step
            self._values(parameters, step, {name: one for name, one in operators.items() if not isinstance(one, Tensor)})
        frequency = self._every_tensor or self.recorder.attempt("tensors", self._tensor_frequency, parameters) or self._every
        tensors = {name: one for name, one in operators.items() if isinstance(one, Tensor)}
        if tensors and (self._last_tensors < 0 or step // frequency > self._last_tensors // frequency):
            self._last_tensors = step
            self.recorder.log(step, tensors)
            if self._export:
                self.recorder.attempt("export", lambda: self._save(step, tensors))
        self.recorder.attempt("collect_landscape", lambda: self._checkpoint(parameters, "step", step))

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Write what was recorded now."""
        parameters = run_context.original_args()
        self.recorder.attempt("collect_landscape", lambda: self._checkpoint(parameters, "epoch", parameters.cur_epoch_num))
        self.recorder.flush()

    def on_train_end(self, run_context: Any) -> None:
        """Record the lineage of a training; its learning rate is that of the first step."""
        parameters = run_context.original_args()
        if self._wanted.get("collect_train_lineage"):
            found = self.recorder.attempt("train_lineage", lambda: _trained(parameters))
            numbers = {"learning_rate": self._first_rate, "loss": self.recorder.attempt("loss/auto", lambda: _loss(parameters))}
            rounded = {name: float(str(np.float32(value))) for name, value in numbers.items() if value is not None}
            self.recorder.settings({**(found or {}), **rounded})
        self.recorder.flush()

    def on_eval_end(self, run_context: Any) -> None:
        """Record the results of an evaluation."""
        metrics = run_context.original_args().metrics
        if self._wanted.get("collect_eval_lineage") and isinstance(metrics, Mapping):
            self.recorder.metrics(metrics)
        self.recorder.flush()

    def _values(self, parameters: Any, step: int, operators: Mapping[str, Any]) -> None:
        found = dict(operators)
        if self._wanted.get("collect_metric"):
            found["loss/auto"] = self.recorder.attempt("loss/auto", lambda: _loss(parameters))
        if self._wanted.get("collect_input_data"):
            picture = self.recorder.attempt("input_data/auto", lambda: _input(parameters))
            found["input_data/auto"] = None if picture is None else self.recorder.image(picture, "NCHW")
        optimizer = self.recorder.attempt("optimizer", _optimizer, parameters)
        if optimizer is not None:
            found["learning_rate/auto"] = self.recorder.attempt("learning_rate/auto", lambda: _rate(optimizer))
            found.update(self.recorder.attempt("histogram_regular", self._histograms, optimizer) or {})
        self.recorder.log(step, found)

    def _histograms(self, optimizer: Any) -> dict[str, Histogram]:
        if "histogram_regular" not in self._wanted:
            return {}
        pattern, parameters = self._wanted["histogram_regular"], list(optimizer.parameters)
        matching = parameters[:_FIRST_PARAMETERS] if pattern is None else parameters
        chosen = [one for one in matching if re.match(pattern or "", one.name)]
        return {f"{one.name}/auto": Histogram(one.asnumpy()) for one in chosen}

    def _tensor_frequency(self, parameters: Any) -> int:
        whole = parameters.epoch_num * parameters.batch_num
        return max(self._every, -(-whole // (_MOST_TENSORS - 1)))

    def _graph(self, parameters: Any) -> None:
        if self._wanted.get("collect_graph"):
            serialised = parameters.train_network.get_func_graph_proto()
            if serialised:
                self.recorder.graph(_graph_of_model(bytes(serialised)), "graphdef")

    def _pipeline(self, parameters: Any) -> None:
        if self._wanted.get("collect_dataset_graph") and parameters.train_dataset is not None:
            from mindspore.train.callback._dataset_graph import DatasetGraph

            found = DatasetGraph().package_dataset_graph(parameters.train_dataset)
            if found is not None:
                self.recorder.pipeline(found.SerializeToString())

    def _checkpoint(self, parameters: Any, unit: str, number: int) -> None:
        """Save the weights for a landscape if this step or epoch belongs to an interval."""
        if self._plan is None or not self._plan.wants(unit, number):
            return
        network = _backbone(parameters.train_network)
        path = self._plan.path(type(network).__name__, number)
        mindspore.save_checkpoint(network, path)
        self._plan.add(number, path, parameters.batch_num)

    def _save(self, step: int, tensors: Mapping[str, Tensor]) -> None:
        """Save tensors as files of numpy, where SummaryCollector does."""
        from urllib.parse import quote

        directory = os.path.join(self._directory, f"export_{self.recorder.begun}", "tensor")
        os.makedirs(directory, exist_ok=True)
        for tag, tensor in tensors.items():
            np.save(os.path.join(directory, f"{quote(tag, safe='')}_{step}.npy"), array_of(tensor.values))


def _backbone(network: Any) -> Any:
    """Return the network that is trained, without the cells for loss and optimizer around it, as SummaryCollector takes it."""
    found = next((cell._backbone for _, cell in network.cells_and_names() if hasattr(cell, "_backbone")), network)
    while "network" in found.name_cells():
        trains = "optimizer" in found.name_cells()
        found = found.network
        if trains:
            break
    return found


def _wanted(specified: Mapping[str, Any] | None, keep: bool) -> dict[str, Any]:
    """Return what is to be collected by key."""
    given = dict(specified or {})
    unknown = set(given) - set(KEYS)
    if unknown:
        raise RecordingError(f"collect_specified_data: expected {', '.join(KEYS)}; found {', '.join(sorted(unknown))}")
    pattern = given.get("histogram_regular")
    if pattern is not None:
        try:
            re.compile(pattern)
        except (re.error, TypeError) as error:
            raise RecordingError(f"histogram_regular: expected a regular expression, found {pattern!r}: {error}") from None
    defaults: dict[str, Any] = dict.fromkeys(KEYS[:6], True) if keep else {}
    return {**({**defaults, "histogram_regular": None} if keep else {}), **given}


def _of_search() -> dict[str, Any]:
    """Return the settings of a search, which its keeper hands over in the environment."""
    try:
        found = json.loads(os.environ.get("MINDINSIGHT_HYPER_CONFIG", "{}")).get("custom_lineage_data")
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_operators() -> dict[str, Any]:
    """Return what summary operators of the network have given since the last call, by tag."""
    from mindspore.train.summary import summary_record

    found: dict[str, Any] = {}
    for name, value in summary_record._get_summary_tensor_data().items():  # the only way to them
        tag = next((name[: -len(end)] for end in _KINDS if name.lower().endswith(end)), name)
        kind = next((kind for end, kind in _KINDS.items() if name.lower().endswith(end)), "scalar")
        array = array_of(value)
        if kind == "image":
            from ..pictures import image_of

            found[tag] = image_of(array, "NCHW"[-array.ndim :])
        else:
            found[tag] = Histogram(array) if kind == "histogram" else Tensor(array) if kind == "tensor" else array.mean()
    return found


def _loss(parameters: Any) -> Any:
    output = parameters.net_outputs
    first = output[0] if isinstance(output, (list, tuple)) and output else output
    return None if first is None else float(np.mean(array_of(first)))


def _input(parameters: Any) -> Any:
    """Return the input of the step if it may be pictures."""
    element = getattr(parameters, "train_dataset_element", None)
    first = element[0] if isinstance(element, (list, tuple)) and element else element
    if first is None:
        return None
    array = array_of(first)
    return array if array.ndim == 4 and array.shape[1] in (1, 3) else None


def _optimizer(parameters: Any) -> Any:
    """Return the optimizer of a training, which may be a part of its network; None if there is none."""
    found = parameters.optimizer
    if found is None and parameters.train_network is not None:
        cells: Iterable[Any] = (cell for _, cell in parameters.train_network.cells_and_names())
        kind = mindspore.nn.Optimizer
        found = next((one for cell in cells for one in (cell, getattr(cell, "optimizer", None)) if isinstance(one, kind)), None)
    return found


def _rate(optimizer: Any) -> Any:
    """Return the learning rate of the present step, None without an optimizer or where parameters have different ones."""
    if optimizer is None:
        return None
    rate = optimizer.get_lr() if getattr(optimizer, "dynamic_lr", False) else optimizer.learning_rate
    return None if isinstance(rate, (list, tuple)) else float(np.ravel(array_of(rate))[0])


def _schedule(optimizer: Any) -> dict[str, Any]:
    """Return how the learning rate changes: the kind of schedule and its numbers."""
    rate = optimizer.learning_rate
    if isinstance(rate, mindspore.nn.learning_rate_schedule.LearningRateSchedule):
        options = inspect.signature(type(rate).__init__).parameters
        return {"schedule": {"kind": type(rate).__name__, **{name: one for name, one in vars(rate).items() if name in options}}}
    if getattr(optimizer, "dynamic_lr", False):
        return {"schedule": {"kind": type(rate).__name__}}
    return {}


def _trained(parameters: Any) -> dict[str, Any]:
    """Return the settings of a training."""
    found: dict[str, Any] = {
        "epoch": parameters.epoch_num, "parallel_mode": str(parameters.parallel_mode), "device_num": parameters.device_number,
        "network": type(parameters.network).__name__,
    }  # fmt: skip
    optimizer = _optimizer(parameters)
    if optimizer is not None:
        found["optimizer"] = type(optimizer).__name__
        found.update(_schedule(optimizer))
    if parameters.loss_fn is not None:
        found["loss_function"] = type(parameters.loss_fn).__name__
    data = parameters.train_dataset
    if data is not None:
        found["batch_size"] = int(data.get_batch_size())
        found["train_dataset_count"] = int(data.get_dataset_size() * data.get_batch_size())
    return found


def _graph_of_model(model: bytes) -> bytes:
    """Return the GraphProto inside a serialised ModelProto (field 4) of MindSpore's anf_ir.proto."""
    place = 0

    def varint() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = model[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(model):
        key = varint()
        size = varint()
        if key & 7 == 0:
            continue
        if key == 4 << 3 | 2:
            return model[place : place + size]
        place += size
    raise RecordingError("graph: expected a ModelProto with a graph, found none")
