"""Writes a simulated data pipeline as MindSpore's profiler does: queues, iterator or queue of the device, CPU, step trace.

The iterator notes the size of its queue after it took a batch (as recordings with MindSpore 2.0 and 2.10 show), the
sender to the device before. Sizes of queues are sampled; times are whole ms, on the device µs, in the step trace 10 ns.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.simulations.data_pipelines import Recording, Stage


def write(recording: Recording, directory: Path, *, interval: int = 10, rank: int = 0) -> Path:
    """Writes the files of one rank into `directory`/profiler, which it returns; `interval` is ms between two samples."""
    target = directory / "profiler"
    target.mkdir(parents=True)
    every = max(interval, int((recording.end - recording.start) / 250))
    times = np.arange(recording.start + every, recording.end, every)
    (target / f"pipeline_profiling_{rank}.json").write_text(json.dumps(_pipeline(recording, times, every)))
    (target / f"minddata_cpu_utilization_{rank}.json").write_text(json.dumps(_cpu(recording, times, every)))
    if recording.plan.sink:
        (target / f"device_queue_profiling_{rank}.txt").write_text(_sent(recording))
        (target / f"minddata_aicpu_{rank}.txt").write_text(_got(recording))
    else:
        (target / f"dataset_iterator_profiling_{rank}.txt").write_text(_iterated(recording))
    if recording.plan.traced:
        (target / f"step_trace_raw_{rank}_detail_time.csv").write_text(_trace(recording))
        points = {"fp_start": "Default/Conv2D-op1", "bp_end": "Default/Grad-op9"}
        (target / "step_trace_point_info.json").write_text(json.dumps(points))
    return target


def numbers(recording: Recording) -> list[int]:
    """The number that MindSpore gives each operation, from the source to the batch: the last is 0."""
    return list(range(len(recording.stages)))[::-1]


def sizes(stage: Stage, times: np.ndarray) -> np.ndarray:
    """How many items the queue of `stage` held at `times` (ms)."""
    return np.searchsorted(np.sort(stage.put), times, "right") - np.searchsorted(np.sort(stage.taken), times, "right")


def _pipeline(recording: Recording, times: np.ndarray, every: int) -> dict[str, object]:
    made = []
    for number, stage, operation in zip(numbers(recording), recording.stages, recording.plan.operations, strict=True):
        depth = [int(size) for size in np.clip(sizes(stage, times), 0, stage.queue)]
        queue = {"output_queue": {"length": stage.queue, "size": depth}}
        entry: dict[str, object] = {
            "metrics": queue, "num_workers": operation.workers, "op_id": number, "op_type": f"{operation.kind}Op",
        }  # fmt: skip
        made.append(entry if number == len(recording.stages) - 1 else {"children": [number + 1], **entry})
    return {"op_info": made[::-1], "sampling_interval": every}


def _busy(stage: Stage, times: np.ndarray) -> np.ndarray:
    """The time (ms) that workers of `stage` served until each of `times`."""

    def passed(events: list[float]) -> np.ndarray:
        ordered = np.sort(events)
        sums = np.concatenate([[0.0], np.cumsum(ordered)])
        count = np.searchsorted(ordered, times, "right")
        return count * times - sums[count]

    return passed(stage.started) - passed(stage.served)


def _cpu(recording: Recording, times: np.ndarray, every: int) -> dict[str, object]:
    edges = np.concatenate([[recording.start], times])
    operations, whole = [], np.zeros(len(times))
    for number, stage, operation in zip(numbers(recording), recording.stages, recording.plan.operations, strict=True):
        used = 100 * operation.cpu * np.diff(_busy(stage, edges)) / every / recording.plan.cores
        whole += used
        user = [int(value) for value in np.clip(used, 0, 100)]
        operations.append({"metrics": {"sys_utilization": [0] * len(user), "user_utilization": user}, "op_id": number})
    user = [int(value) for value in np.clip(whole, 0, 95)]
    zeros = [0] * len(user)
    doubled = [0] * (2 * len(user))
    idle = [value for used in user for value in (100 - used, 0)]
    machine = {"context_switch_count": doubled, "idle_utilization": idle, "io_utilization": doubled,
               "runnable_process": doubled, "sys_utilization": zeros, "user_utilization": user}  # fmt: skip
    process = {"sys_utilization": zeros[1:], "user_utilization": user[1:]}
    return {"cpu_processor_num": recording.plan.cores, "sampling_interval": every, "time_stamp": [int(time) for time in times],
            "device_info": machine, "op_info": operations[::-1], "process_info": process}  # fmt: skip


def _rows(step: int, get: int, push: int, capacity: int, size: int, at: int) -> str:
    return f"0 1 {step} {push} {at}\n0 2 {step} {get + push} {at}\n0 0 {step} {get} {at}\n1 {capacity} {step} {size} {at}\n"


def _sent(recording: Recording) -> str:
    """Batches sent to the device during the recording; the push includes the wait for room."""
    queue, rows = recording.stages[-1], []
    for asked, had, pushed in recording.fetched:
        if recording.start <= pushed <= recording.end:
            size = int(np.clip(sizes(queue, np.array([asked - 1e-6]))[0], 0, queue.queue))
            push = int(pushed) - int(had)
            rows.append(_rows(len(rows) + 1, int(pushed) - int(asked) - push, push, queue.queue, size, int(pushed)))
    return "".join(rows)


def _iterated(recording: Recording) -> str:
    queue, first, rows = recording.stages[-1], recording.plan.skipped, []
    for step, (asked, had, _) in enumerate(recording.fetched[first : first + recording.plan.steps], 1):
        size = int(np.clip(sizes(queue, np.array([had + 1e-6]))[0], 0, queue.queue))
        rows.append(_rows(step, int(had) - int(asked), 0, queue.queue, size, int(had)))
    return "".join(rows)


def _got(recording: Recording) -> str:
    pushed = recording.fetched[:, 2]
    rows = []
    for number, (asked, had, *_) in enumerate(recording.recorded(), recording.plan.skipped):
        size = max(int(np.searchsorted(pushed, asked, "right")) - number, 0)
        rows.append(f"GetNext_dequeue_wait {int(asked * 1000)} {int(had * 1000) + 1} {size}\n")
    return "".join(rows)


def _trace(recording: Recording) -> str:
    """The interval before a step ends when its network starts; the tail is a tenth of the network's time."""
    rows = ["step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail"]
    parts = []
    before = recording.recorded()[0, 2]
    for step, (*_, started, ended) in enumerate(recording.recorded(), 1):
        middle = started + 0.9 * (ended - started)
        start, forward, backward, end = (round(value * 1e5) for value in (before, started, middle, ended))
        parts.append((end - start, forward - start, backward - forward, end - backward))
        rows.append(",".join(map(str, (step, start, end, parts[-1][0], forward, backward, *parts[-1][1:]))))
        before = ended
    total, *others = (int(value) for value in np.mean(parts[1:], axis=0))
    rows.append(",".join(map(str, (0, 0, 0, total, 0, 0, *others))))
    return "\n".join(rows) + "\n"
