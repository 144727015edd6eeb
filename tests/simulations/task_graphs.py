"""Simulates one process that launches kernels, of which the critical path is known, and gives the trace torch would write.

Host threads run nested calls; some launch a kernel on a stream, some wait for one. A kernel starts once its launch has arrived,
the kernel before it on the stream has ended, and kernels of other streams that it needs have. Which of these came last is kept,
so the critical path is followed back exactly. Times are ns since the begin of the trace.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

BASE_NS = 1_764_000_000_000_000_000
PROCESS, MAIN, BACKWARD = 4242, 4242, 4250
COMPUTE, COPY, COMMUNICATION = 7, 20, 24
QUEUE_NS, EVENT_NS = 900, 1_200
"""From the end of a kernel to the begin of the next one on its stream, and of one on another stream that waits for it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What is drawn: how many launches, and what is usual."""

    seed: int = 0
    launches: int = 60
    """Launches of a step."""
    steps: int = 1
    launch_us: tuple[float, float] = (1.5, 4.0)
    """From the end of a launching call to the earliest begin of its kernel."""
    kernel_us: float = 30.0
    """Median duration of kernels; with 5 the host limits, with 200 the device does."""
    call_us: float = 6.0
    """Median time of a call itself, its inner calls excepted."""
    threads: int = 1
    """2: another thread runs the second half of a step while the main one waits."""
    streams: int = 2
    crossing: float = 0.1
    """Share of kernels that wait for one on another stream."""
    synchronising: float = 0.03
    """Share of launches after which the host waits for the stream."""
    sync_at_end: bool = True
    waits_recorded: bool = True
    """Whether the trace has events that make streams wait for each other, and what synchronising calls wait for."""
    jitter: float = 0.02
    """How far the times of steps differ."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of the trace; pid and tid as written: device and stream, or process and thread."""

    name: str
    category: str
    pid: int
    tid: int
    start: int
    end: int
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Activity:
    """A stretch of time in which one thing happens: kind is host, wait, or device."""

    kind: str
    slice: int
    """The innermost slice that it is in."""
    start: int
    end: int
    cause: int = -1
    """The activity whose end let this one begin (a wait: end); -1 for none."""
    link: str = ""
    """How: thread, launch, queue (order of a stream), event (another stream), sync, or handoff (another thread)."""


@dataclass(frozen=True, slots=True)
class PathPart:
    """A stretch of the critical path.

    kind is host or device, or why nothing of the path ran: launch, queue, event, sync or handoff.
    """

    kind: str
    slice: int
    """The slice, of a gap the one that it leads to."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """What ran, and what decided how long it took."""

    layout: Layout
    slices: list[Slice]
    activities: list[Activity]
    steps: list[tuple[int, int]]
    """Begin and end of each step on the host."""
    flows: list[tuple[int, int]]
    """(slice of the launching call, slice of what it launched)."""

    @property
    def duration(self) -> int:
        """From the begin to the end of the last activity."""
        return max(one.end for one in self.activities)

    def path(self, begin: int = 0, end: int | None = None) -> list[PathPart]:
        """Return the critical path from `begin` to the last activity that ended by `end`, the first part first, without gaps."""
        until = self.duration if end is None else end
        place = max((one.end, number) for number, one in enumerate(self.activities) if one.end <= until)[1]
        found: list[PathPart] = []
        while place >= 0 and self.activities[place].end > begin:
            one = self.activities[place]
            before = self.activities[one.cause].end if one.cause >= 0 else one.start
            if one.kind == "wait":
                found.append(PathPart(one.link, one.slice, before, one.end))
            else:
                found.append(PathPart(one.kind, one.slice, one.start, one.end))
                found.append(PathPart(one.link, one.slice, before, one.start))
            place = one.cause
        inside = [replace(part, start=max(part.start, begin)) for part in found if part.end > max(part.start, begin)]
        return inside[::-1]

    def shares(self) -> dict[str, float]:
        """Return the share of the path that each kind takes."""
        path = self.path()
        kinds = {part.kind for part in path}
        return {kind: sum(part.end - part.start for part in path if part.kind == kind) / self.duration for kind in kinds}


class _Machine:
    """Threads and streams, and what they have done."""

    def __init__(self, layout: Layout, stretched: dict[int, int]) -> None:
        self.layout, self.stretched = layout, stretched
        self.slices: list[Slice] = []
        self.activities: list[Activity] = []
        self.flows: list[tuple[int, int]] = []
        self.time = {MAIN: 0, BACKWARD: 0}
        self.last = {MAIN: -1, BACKWARD: -1}
        self.link = {MAIN: "thread", BACKWARD: "thread"}
        self.open: dict[int, list[int]] = {MAIN: [], BACKWARD: []}
        self.streams: dict[int, int] = {}
        self.kernels = 0
        self.correlation = 1000

    def add(self, activity: Activity) -> int:
        self.activities.append(activity)
        return len(self.activities) - 1

    def number(self) -> int:
        self.correlation += 1
        return self.correlation

    def host(self, thread: int, took: int) -> None:
        """The thread runs for a time, in the innermost call that is open."""
        start = self.time[thread]
        one = Activity("host", self.open[thread][-1], start, start + took, self.last[thread], self.link[thread])
        self.last[thread], self.time[thread], self.link[thread] = self.add(one), one.end, "thread"

    @contextmanager
    def call(self, thread: int, name: str, category: str = "cpu_op", **args: Any) -> Iterator[int]:
        """A slice of a thread, for as long as the block runs."""
        place = len(self.slices)
        args = {"External id": place + 1, **args} if category != "python_function" else args
        self.slices.append(Slice(name, category, PROCESS, thread, self.time[thread], -1, args))
        self.open[thread].append(place)
        yield place
        self.open[thread].pop()
        self.slices[place] = replace(self.slices[place], end=self.time[thread])

    def launch(self, thread: int, name: str, stream: int, took: int, delay: int, calling: int, needs: int) -> int:
        """A launching call and its kernel, which also waits for the activity `needs` (-1: none); returns its activity."""
        number = self.number()
        copy = stream == COPY
        with self.call(thread, "cudaMemcpyAsync" if copy else "cudaLaunchKernel", "cuda_runtime", correlation=number) as call:
            self.host(thread, calling)
        causes = [(self.time[thread] + delay, "launch", self.last[thread])]
        if stream in self.streams:
            causes.append((self.activities[self.streams[stream]].end + QUEUE_NS, "queue", self.streams[stream]))
        if needs >= 0:
            causes.append((self.activities[needs].end + EVENT_NS, "event", needs))
        start, link, cause = max(causes)
        took += self.stretched.get(self.kernels, 0)
        self.kernels += 1
        args = {"correlation": number, "stream": stream, "device": 0, "context": 1, "External id": call + 1}
        self.slices.append(Slice(name, "gpu_memcpy" if copy else "kernel", 0, stream, start, start + took, args))
        self.flows.append((call, len(self.slices) - 1))
        self.streams[stream] = self.add(Activity("device", len(self.slices) - 1, start, start + took, cause, link))
        return self.streams[stream]

    def wait_event(self, thread: int, stream: int, other: int) -> int:
        """Make a stream wait for what the other one was given last; returns that activity, -1 if there is none."""
        needed = self.streams.get(other, -1)
        if needed < 0 or not self.layout.waits_recorded:
            return needed
        record, number = self.number(), self.number()
        with self.call(thread, "cudaEventRecord", "cuda_runtime", correlation=record):
            self.host(thread, 800)
        with self.call(thread, "cudaStreamWaitEvent", "cuda_runtime", correlation=number):
            self.host(thread, 700)
        args = {
            "cuda_sync_kind": "Stream Wait Event", "stream": stream, "wait_on_stream": other, "correlation": number,
            "wait_on_cuda_event_record_corr_id": record, "wait_on_cuda_event_id": record, "device": 0, "context": 1,
        }  # fmt: skip
        self.slices.append(Slice("Stream Wait Event", "cuda_sync", 0, stream, self.time[thread], self.time[thread], args))
        return needed

    def synchronise(self, thread: int, stream: int, returning: int) -> None:
        """The thread waits for a stream, or for all if it is -1, and goes on a little after it has ended."""
        number = self.number()
        name = "cudaDeviceSynchronize" if stream < 0 else "cudaStreamSynchronize"
        with self.call(thread, name, "cuda_runtime", correlation=number) as place:
            self.host(thread, 1_500)
            asked = self.time[thread]
            targets = [one for key, one in self.streams.items() if stream in (-1, key)]
            target = max(targets, key=lambda one: self.activities[one].end, default=-1)
            if target >= 0 and self.activities[target].end + returning > asked:
                end = self.activities[target].end + returning
                self.last[thread] = self.add(Activity("wait", place, asked, end, target, "sync"))
                self.time[thread] = end
            self.host(thread, 500)
        if self.layout.waits_recorded:
            kind = "Context Sync" if stream < 0 else "Stream Sync"
            args = {"cuda_sync_kind": kind, "stream": stream, "correlation": number, "device": 0, "context": 1}
            self.slices.append(Slice(kind, "cuda_sync", 0, stream, asked, self.time[thread] - 500, args))

    def hand_over(self, source: int, target: int, took: int) -> None:
        """The target thread goes on a little after the source has come here."""
        if self.open[target]:
            place, asked = self.open[target][-1], self.time[target]
            self.time[target] = self.time[source] + took
            self.last[target] = self.add(Activity("wait", place, asked, self.time[target], self.last[source], "handoff"))
        else:
            self.time[target], self.last[target], self.link[target] = self.time[source] + took, self.last[source], "handoff"


# What a step does -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Work:
    """One operator: its nested calls and what the innermost one launches. Times in ns."""

    name: str
    depth: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    stream: int
    took: int
    delay: int
    calling: int
    needs_stream: int
    """The stream for whose last kernel its kernel waits; -1 for none."""
    synchronises: bool
    returning: int


_NAMES = ("linear", "addmm", "conv2d", "relu", "layer_norm", "softmax", "mul", "copy_")


def _draw(random: np.random.Generator, layout: Layout) -> list[_Work]:
    """The operators of a step, the same in all steps."""
    streams = (COMPUTE, COMMUNICATION, COPY)[: layout.streams]

    def around(median: float, spread: float) -> int:
        return max(round(1e3 * median * math.exp(spread * random.standard_normal())), 300)

    found = []
    for _ in range(layout.launches):
        stream = COMPUTE if random.random() < 0.8 else int(random.choice(streams))
        depth = int(random.integers(1, 4))
        others = [one for one in streams if one != stream]
        crosses = bool(others) and random.random() < layout.crossing
        found.append(_Work(
            str(random.choice(_NAMES)), depth, tuple(around(layout.call_us / depth, 0.5) for _ in range(depth)),
            tuple(around(layout.call_us / depth / 3.0, 0.5) for _ in range(depth)), stream, around(layout.kernel_us, 0.9),
            round(1e3 * random.uniform(*layout.launch_us)), around(3.0, 0.2),
            int(random.choice(others)) if crosses else -1, bool(random.random() < layout.synchronising), around(3.0, 0.3),
        ))  # fmt: skip
    return found


def _run(machine: _Machine, random: np.random.Generator, thread: int, work: _Work) -> None:
    def shaken(ns: int) -> int:
        return max(round(ns * (1.0 + machine.layout.jitter * random.standard_normal())), 100)

    def nested(level: int) -> None:
        with machine.call(thread, f"aten::{work.name}{'_' * level}"):
            machine.host(thread, shaken(work.before[level]))
            if level + 1 < work.depth:
                nested(level + 1)
            else:
                needed = machine.wait_event(thread, work.stream, work.needs_stream) if work.needs_stream >= 0 else -1
                kernel = f"{work.name}_kernel" if work.stream != COMMUNICATION else "ncclDevKernel_AllReduce_Sum"
                machine.launch(
                    thread, "Memcpy DtoH (Device -> Pinned)" if work.stream == COPY else kernel, work.stream,
                    shaken(work.took), shaken(work.delay), shaken(work.calling), needed,
                )  # fmt: skip
            machine.host(thread, shaken(work.after[level]))

    nested(0)
    if work.synchronises:
        with machine.call(thread, "aten::item"):
            machine.host(thread, 1_000)
            machine.synchronise(thread, work.stream, work.returning)


def simulate(layout: Layout, stretched: dict[int, int] | None = None) -> TaskGraph:
    """Run the steps; stretched: ns by which kernels last longer, by their number in the order of launches."""
    works = _draw(np.random.default_rng(layout.seed), layout)
    random = np.random.default_rng([layout.seed, 1])
    machine = _Machine(layout, stretched or {})
    steps = []
    half = len(works) // 2 if layout.threads > 1 else len(works)
    for number in range(layout.steps):
        begin = machine.time[MAIN]
        with machine.call(MAIN, f"ProfilerStep#{number + 1}", "user_annotation"):
            machine.host(MAIN, 5_000)
            for work in works[:half]:
                _run(machine, random, MAIN, work)
            if half < len(works):
                _backward(machine, random, works[half:])
            if layout.sync_at_end:
                machine.synchronise(MAIN, -1, 4_000)
            machine.host(MAIN, 3_000)
        steps.append((begin, machine.time[MAIN]))
    return TaskGraph(layout, machine.slices, machine.activities, steps, machine.flows)


def _backward(machine: _Machine, random: np.random.Generator, works: list[_Work]) -> None:
    """The main thread waits in one call while another thread runs these operators."""
    with machine.call(MAIN, "torch::autograd::backward"):
        machine.host(MAIN, 4_000)
        machine.hand_over(MAIN, BACKWARD, 8_000)
        for work in works:
            with machine.call(BACKWARD, f"autograd::engine::evaluate_function: {work.name}Backward0"):
                machine.host(BACKWARD, 1_000)
                _run(machine, random, BACKWARD, work)
        machine.hand_over(BACKWARD, MAIN, 6_000)
        machine.host(MAIN, 2_000)


def draw(random: np.random.Generator) -> Layout:
    """Choose a layout: 30, 60 or 200 launches, one or ten steps, short or long launch delays, waits recorded or not."""
    return Layout(
        seed=int(random.integers(2**31)), launches=int(random.choice([30, 60, 200])), steps=int(random.choice([1, 10])),
        launch_us=((1.5, 4.0), (15.0, 100.0))[random.integers(2)], kernel_us=float(random.choice([4.0, 12.0, 40.0, 150.0])),
        call_us=float(random.choice([4.0, 10.0, 25.0])), threads=int(random.choice([1, 2])), streams=int(random.integers(1, 4)),
        crossing=float(random.choice([0.0, 0.1, 0.3])), synchronising=float(random.choice([0.0, 0.03])),
        sync_at_end=bool(random.random() < 0.7), waits_recorded=bool(random.random() < 0.6),
    )  # fmt: skip


# As a trace -------------------------------------------------------------------------------------------------------------------


def _us(ns: int) -> float:
    return round(ns / 1e3, 3)


def events(graph: TaskGraph) -> list[dict[str, Any]]:
    """All events: names of processes and threads, slices in the order of `graph.slices`, and ac2g flows."""
    found: list[dict[str, Any]] = []
    found.append({"ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": {"name": "python"}})
    found.append({"ph": "M", "name": "process_labels", "pid": PROCESS, "tid": 0, "args": {"labels": "CPU"}})
    found.append({"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}})
    found.append({"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}})
    for pid, tid in dict.fromkeys((one.pid, one.tid) for one in graph.slices):
        name = f"stream {tid} " if pid == 0 else f"thread {tid} (python)"
        found.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}})
    found += [
        {
            "ph": "X", "cat": one.category, "name": one.name, "pid": one.pid, "tid": one.tid, "ts": _us(one.start),
            "dur": _us(one.end - one.start), "args": one.args,
        } for one in graph.slices
    ]  # fmt: skip
    for call, kernel in graph.flows:
        shared = {"id": graph.slices[call].args["correlation"], "cat": "ac2g", "name": "ac2g"}
        for phase, one in (("s", graph.slices[call]), ("f", graph.slices[kernel])):
            found.append({"ph": phase, "pid": one.pid, "tid": one.tid, "ts": _us(one.start), **shared}
                         | ({"bp": "e"} if phase == "f" else {}))  # fmt: skip
    return found


def text(graph: TaskGraph) -> str:
    """The file, as torch.profiler exports it."""
    device = {"id": 0, "name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42_297_524_224, "computeMajor": 8, "computeMinor": 0}
    whole = {
        "schemaVersion": 1, "deviceProperties": [device], "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS,
        "traceEvents": events(graph), "traceName": "trace.json",
    }  # fmt: skip
    return json.dumps(whole)
