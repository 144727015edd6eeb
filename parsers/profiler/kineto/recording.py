"""A Kineto trace as tables of the host and of the device: what ran within what, and which call launched what.

Rules (libkineto and torch/autograd/profiler_util.py): slices of the host nest by time on their thread. The call of the runtime
with the correlation of a slice on the device launched it; the innermost operator around this call is its operator, as the
`External id` of a kernel names another one in some versions. It only helps where no call was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.json_text import parse_json
from parsers.model import Ints
from parsers.profiler.kineto.around import nearest
from parsers.profiler.kineto.events import (
    ANNOTATION,
    CALL,
    CLASSES,
    COUNTERS,
    MEMORY,
    MEMORY_COLUMNS,
    NOTHING,
    ON_DEVICE,
    ON_HOST,
    OPERATOR,
    ArgumentTable,
    EventArguments,
)
from parsers.profiler.kineto.stacks import ProgramStacks, stacks_around
from parsers.profiler.kineto.texts import lines_of
from parsers.profiler.tables import NONE
from parsers.profiler.trace import chrome, lanes
from parsers.profiler.trace.columns import INSTANT, Trace

_STEP = re.compile(r"ProfilerStep#(\d{1,18})")
_FETCH = re.compile(r"enumerate\(Data(?:Loader|Pipe)\)#.*\.__next__")
_GRAPH = re.compile(r"GraphLaunch")


@dataclass(frozen=True, slots=True)
class HostRows:
    """Operators, annotations and calls of the runtime, by thread, start, longest first; times in ns since the origin."""

    slice: NDArray[np.int32]
    """Row of the slice in the trace."""
    class_: NDArray[np.uint8]
    name: NDArray[np.int32]
    start: Ints
    duration: Ints
    own: Ints
    """Duration without what runs within it."""
    around: NDArray[np.int32]
    """The row that it lies in, -1 for none."""
    track: NDArray[np.int32]

    @property
    def end(self) -> Ints:
        """When each ends."""
        return self.start + self.duration

    def __len__(self) -> int:
        return len(self.slice)


@dataclass(frozen=True, slots=True)
class DeviceRows:
    """Kernels, copies and fills, in the order of their start."""

    slice: Ints
    class_: NDArray[np.uint8]
    name: Ints
    start: Ints
    duration: Ints
    track: Ints
    call: Ints
    """Row in HostRows of the call that launched it; -1 where none was recorded."""
    owner: Ints
    """Row in HostRows whose time on the device it is (`KinetoRecording.owner_of_host`); -1 for what was launched before."""

    @property
    def end(self) -> Ints:
        """When each ends."""
        return self.start + self.duration

    def __len__(self) -> int:
        return len(self.slice)


@dataclass(frozen=True, slots=True)
class StepWindows:
    """The steps as the host marked them, in the order of time; none if it marked none."""

    number: Ints
    start: Ints
    end: Ints

    def at(self, time: Ints) -> Ints:
        """Return the place of the step around each time, -1 for none."""
        if not len(self.start):
            return np.full(len(time), -1, np.int64)
        place = np.searchsorted(self.start, time, "right") - 1
        inside = (place >= 0) & (time < self.end[np.maximum(place, 0)])
        return np.where(inside, place, -1).astype(np.int64)


class ArgumentsOfSlices:
    """Arguments of slices by name, a row each; what is missing is NONE, NaN or code 0. Columns are made when asked for."""

    def __init__(self, table: ArgumentTable, at: NDArray[np.int32]) -> None:
        self._table, self._at = table, at
        self._made: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._made:
            values = self._table.column(name)
            missing: Any = NONE if values.dtype == np.int64 else np.nan if values.dtype == np.float64 else 0
            found = np.full(len(self._at), missing, values.dtype)
            known = self._at >= 0
            found[known] = values[self._at[known]]
            self._made[name] = found
        return self._made[name]


class KinetoRecording:
    """A Kineto trace with the arguments of its events: host and device rows, launches, steps, memory."""

    def __init__(self, trace: Trace, arguments: EventArguments) -> None:
        self.trace, self.arguments = trace, arguments
        self._texts: dict[str, list[bytes]] = {}

    @property
    def is_kineto(self) -> bool:
        """Whether any slice is of a category that Kineto writes."""
        return bool((self._class_of_slice != NOTHING).any())

    @cached_property
    def _class_of_slice(self) -> NDArray[np.uint8]:
        classes = np.array([*(CLASSES.get(text, NOTHING) for text in self.trace.categories), NOTHING], np.uint8)
        found = classes[self.trace.slices.category]
        found[self.trace.slices.phase == INSTANT] = NOTHING
        return found

    def arguments_of(self, slices: NDArray[Any], *classes: int) -> ArgumentsOfSlices:
        """Return the arguments of slices of these classes."""
        table = self.arguments.table(*classes)
        return ArgumentsOfSlices(table, table.rows_of(self.trace.slices.event[slices]))

    @cached_property
    def host(self) -> HostRows:
        """The rows of the host."""
        slices = self.trace.slices
        rows = np.flatnonzero(np.isin(self._class_of_slice, ON_HOST)).astype(np.int32)
        track = slices.track[rows]
        start, duration = slices.start[rows], slices.duration[rows]
        around, own = lanes.parents(track, start, duration)
        return HostRows(rows, self._class_of_slice[rows], slices.name[rows], start, duration, own, around, track)

    @cached_property
    def stacks(self) -> ProgramStacks:
        """Where the program called each row of the host."""
        code = self.arguments_of(self.host.slice, OPERATOR, ANNOTATION)["stack"].astype(np.int64)
        texts = [lines_of(text) for text in self.texts("stack")]
        if any(texts[one] for one in np.unique(code).tolist()):
            return ProgramStacks(code, texts)
        return stacks_around(self.trace, self.host.slice)

    @cached_property
    def owner_of_host(self) -> NDArray[np.int32]:
        """What time of the device counts for, of each row of the host: the innermost operator around it, itself included.

        Where there is none it is the innermost annotation, of the launch of a graph and without annotation the row itself.
        """
        host, names = self.host, self.trace.names
        graphs = [code for code in np.unique(host.name[host.class_ == CALL]).tolist() if _GRAPH.search(names[code])]
        operator, annotation = self.innermost(OPERATOR), self.innermost(ANNOTATION)
        itself = (annotation < 0) | ((host.class_ == CALL) & np.isin(host.name, graphs))
        return np.where(operator >= 0, operator, np.where(itself, np.arange(len(host), dtype=np.int32), annotation))

    def innermost(self, class_: int) -> NDArray[np.int32]:
        """Return the innermost row of a class around each row of the host, itself included; -1 for none."""
        return nearest(self.host.around, self.host.class_ == class_)

    @cached_property
    def device_arguments(self) -> ArgumentsOfSlices:
        """The arguments of the rows of the device."""
        return self.arguments_of(self._device_slices, *ON_DEVICE)

    @cached_property
    def _device_slices(self) -> Ints:
        rows = np.flatnonzero(np.isin(self._class_of_slice, ON_DEVICE))
        return rows[np.argsort(self.trace.slices.start[rows], kind="stable")]

    @cached_property
    def device(self) -> DeviceRows:
        """The rows of the device."""
        rows, slices = self._device_slices, self.trace.slices
        call, owner = self._launched(slices.start[rows])
        return DeviceRows(
            rows, self._class_of_slice[rows], slices.name[rows].astype(np.int64), slices.start[rows], slices.duration[rows],
            slices.track[rows].astype(np.int64), call, owner,
        )  # fmt: skip

    def _launched(self, start: Ints) -> tuple[Ints, Ints]:
        """Return call and owner of each row of the device."""
        host = self.host
        calls = np.flatnonzero(host.class_ == CALL)
        known = self.arguments_of(host.slice[calls], CALL)["correlation"]
        calls, known = calls[known != NONE], known[known != NONE]
        order = np.lexsort((host.start[calls], known))
        calls, known = calls[order], known[order]
        wanted = self.device_arguments["correlation"]
        low, high = np.searchsorted(known, wanted), np.searchsorted(known, wanted, "right")
        call = np.full(len(wanted), -1, np.int64)
        there = (high > low) & (wanted != NONE)
        call[there] = calls[low[there]]
        for row in np.flatnonzero(there & (high - low > 1)).tolist():  # a correlation that was used again
            begins = host.start[calls[low[row] : high[row]]]
            place = max(int(np.searchsorted(begins, start[row], "right")) - 1, 0)
            call[row] = calls[low[row] + place]
        owner = np.where(call >= 0, self.owner_of_host[np.maximum(call, 0)] if len(host) else -1, -1)
        left = call < 0
        if left.any():
            owner[left] = self._by_external_id(self.device_arguments["external"][left])
        return call, owner

    def _by_external_id(self, wanted: Ints) -> Ints:
        host = self.host
        rows = np.flatnonzero(host.class_ == OPERATOR)
        known = self.arguments_of(host.slice[rows], OPERATOR, ANNOTATION)["external"]
        rows, known = rows[known > 0], known[known > 0]
        order = np.argsort(known, kind="stable")
        rows, known = rows[order], known[order]
        if not len(rows):
            return np.full(len(wanted), -1, np.int64)
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where((known[place] == wanted) & (wanted > 0), rows[place], -1)

    @cached_property
    def steps(self) -> StepWindows:
        """The steps marked on the host; of slices that overlap the first one counts."""
        found = []
        host, names = self.host, self.trace.names
        marks = {code: int(match[1]) for code in np.unique(host.name).tolist() if (match := _STEP.fullmatch(names[code]))}
        rows = np.flatnonzero(np.isin(host.name, list(marks)) & (host.class_ != CALL)) if marks else np.zeros(0, np.int64)
        last = -1
        for row in rows[np.argsort(host.start[rows], kind="stable")].tolist():
            begin, end = int(host.start[row]), int(host.start[row] + host.duration[row])
            if begin >= last:
                found.append((marks[int(host.name[row])], begin, end))
                last = end
        columns = np.array(found, np.int64).reshape(-1, 3).T
        return StepWindows(columns[0], columns[1], columns[2])

    @cached_property
    def step_of_device(self) -> Ints:
        """The place in `steps` of the step in which each row of the device was launched, -1 for none."""
        device, host = self.device, self.host
        by = np.where(device.call >= 0, device.call, device.owner)
        time = np.where(by >= 0, host.start[np.maximum(by, 0)] if len(host) else -1, -1)
        return self.steps.at(time)

    @cached_property
    def fetches(self) -> Ints:
        """The rows of the host that fetch data: the iterator of torch's DataLoader, the outermost ones."""
        host, names = self.host, self.trace.names
        codes = [code for code in np.unique(host.name).tolist() if _FETCH.fullmatch(names[code])]
        rows = np.flatnonzero(np.isin(host.name, codes) & (host.class_ != CALL))
        inner = host.around[rows]
        return rows[~((inner >= 0) & np.isin(host.name[np.maximum(inner, 0)], codes))]

    @cached_property
    def memory(self) -> tuple[dict[str, NDArray[Any]], Ints]:
        """Allocations and releases in the order of time as columns, and the row of the slice of each."""
        slices, table = self.trace.slices, self.arguments.table(MEMORY)
        rows = np.flatnonzero(slices.phase == INSTANT)
        at = table.rows_of(slices.event[rows])
        rows, at = rows[at >= 0], at[at >= 0]
        order = np.lexsort((at, slices.start[rows]))
        rows, at = rows[order], at[order]
        return {name: table.column(name)[at] for name in MEMORY_COLUMNS}, rows

    @cached_property
    def counters(self) -> tuple[Ints, list[dict[str, Any]]]:
        """Ranges whose counters were read: rows of their slices, and their arguments."""
        rows = np.flatnonzero(self._class_of_slice == COUNTERS)
        row_of = dict(zip(self.trace.slices.event[rows].tolist(), rows.tolist(), strict=True))
        found = [(row_of[place], values) for place, values in self.arguments.counters if place in row_of]
        return np.array([row for row, _ in found], np.int64), [values for _, values in found]

    @cached_property
    def devices(self) -> list[Mapping[str, Any]]:
        """What the file says about the devices of the machine."""
        for name in ("deviceProperties", "computeProperties"):
            found = self._value(name)
            if isinstance(found, list):
                return [each for each in found if isinstance(each, dict)]
        return []

    @cached_property
    def distributed(self) -> Mapping[str, Any]:
        """What the file says about the job: rank, world_size, backend, pg_config; empty without torch.distributed."""
        found = self._value("distributedInfo")
        return found if isinstance(found, dict) else {}

    def _value(self, name: str) -> Any:
        try:
            return parse_json(self.arguments.values.get(name, b"null").decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None

    def texts(self, column: str) -> list[bytes]:
        """Return the texts of a column of arguments by their codes."""
        if column not in self._texts:
            self._texts[column] = list(self.arguments.texts[column])
        return self._texts[column]


def read(path: str) -> KinetoRecording:
    """Read a trace with its arguments; OSError if the file cannot be read."""
    arguments = EventArguments()
    return KinetoRecording(chrome.read(path, beside=arguments), arguments)
