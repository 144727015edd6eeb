"""Writes a made job with a pipeline as torch_npu writes it, of which every time is known.

Of `stages` stages each waits `stage` micro batches at first (hcom_receive), then computes `micro` of them (forward 10 ms,
backward 20 ms), then waits for the stages after it (hcom_send), and ends with an all-reduce of 5 ms in its stage, of which the
last backward hides 1 ms. So each rank waits (stages - 1) * 30 ms of (micro + stages - 1) * 30 + 4 ms.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parsers.profiler.groups import hash_of

BEGIN_US = 1_764_246_877_000_000
FORWARD_US, BACKWARD_US, REDUCE_US, HIDDEN_US = 10_000, 20_000, 5_000, 1_000
BATCH_US = FORWARD_US + BACKWARD_US
PAUSE_US = 7_000
"""Between two steps."""
_HEADER = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)"


def step_us(stages: int, micro: int) -> int:
    """The length of a step."""
    return (micro + stages - 1) * BATCH_US + REDUCE_US - HIDDEN_US


def write(
    folder: Path, *, stages: int = 2, width: int = 2, steps: int = 2, micro: int = 4, kernels: int = 1, marks: str = "",
    info: dict[str, Any] | None = None, without: tuple[tuple[int, str], ...] = (), groups: bool = True, ahead_us: int = 0,
) -> None:  # fmt: skip
    """Write the job: `width` ranks a stage, each forward and backward as so many kernels.

    marks: "device" or "host", where ranges are marked; info is pp_info; without are (rank, file) that are missing; groups:
    whether metadata list them; ahead_us: by how much the clock of each rank is ahead of the one before.
    """
    for rank in range(stages * width):
        stage = rank // width
        base = folder / f"host{stage}_{rank}_20261120233012998_ascend_pt"
        output = base / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        metadata: dict[str, Any] = {"distributed_args": {"rank": rank, "world_size": stages * width}}
        if groups:
            column = [*range(rank % width, stages * width, width)]
            row = [*range(stage * width, (stage + 1) * width)]
            metadata["parallel_group_info"] = {
                f"pp_{rank % width}": {"group_name": "pp", "group_rank": stage, "global_ranks": column},
                f"dp_{stage}": {"group_name": "dp", "group_rank": rank % width, "global_ranks": row},
            }
        if info is not None:
            metadata["pp_info"] = info
        (base / "profiler_metadata.json").write_text(json.dumps(metadata))
        at = BEGIN_US + rank * ahead_us
        made = [_step(number, at + number * (step_us(stages, micro) + PAUSE_US), stage, stages, micro, kernels)
                for number in range(steps)]  # fmt: skip
        hashes = hash_of(f"pp_{rank % width}"), hash_of(f"dp_{stage}")
        files = {
            "kernel_details.csv": "\n".join([_HEADER, *(line for one in made for line in one["kernels"])]) + "\n",
            "communication.json": json.dumps({
                f"step{number + 1}": {
                    "p2p": {f"{name}@{hashes[0]}": time for name, time in one["p2p"].items()},
                    "collective": {f"{name}@{hashes[1]}": time for name, time in one["collective"].items()},
                } for number, one in enumerate(made)
            }),
            "step_trace_time.csv": "\n".join(
                ["Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"]
                + [_parts(number, stages, micro) for number in range(steps)]
            ) + "\n",
        }  # fmt: skip
        if marks:
            files["trace_view.json"] = json.dumps(_marked([range_ for one in made for range_ in one["ranges"]], marks))
        for name, text in files.items():
            if (rank, name) not in without:
                (output / name).write_text(text)


def _step(number: int, begin: int, stage: int, stages: int, micro: int, kernels: int) -> dict[str, Any]:
    at = begin + stage * BATCH_US
    lines, ranges = [], []
    for batch in range(micro):
        for name, took in (("forward_step", FORWARD_US), ("backward_step", BACKWARD_US)):
            ranges.append((name, at, took))
            each = took / kernels
            lines += [
                f"{number + 1},MatMul_{batch},MatMul,AI_CORE,{at + one * each:.3f}\t,{each:.3f}" for one in range(kernels)
            ]
            at += took
    tail = (stages - 1 - stage) * BATCH_US
    p2p = {}
    if stage:
        p2p[f"hcom_receive__{number}_0_1"] = _times(begin, stage * BATCH_US)
    if tail:
        p2p[f"hcom_send__{number}_1_1"] = _times(at, tail)
    # the last backward of the last stage hides the begin of the all-reduce; stages before it have nothing to hide it with
    hidden = 0 if tail else HIDDEN_US
    collective = {f"hcom_allReduce__{number}_2_1": _times(at + tail - hidden, REDUCE_US - (0 if hidden else HIDDEN_US))}
    return {"kernels": lines, "ranges": ranges, "p2p": p2p, "collective": collective}


def _times(begin: int, took: int) -> dict[str, Any]:
    return {"Communication Time Info": {"Start Timestamp(us)": begin, "Elapse Time(ms)": took / 1e3}}


def _parts(number: int, stages: int, micro: int) -> str:
    computing, total = micro * BATCH_US, step_us(stages, micro)
    exposed = total - computing
    return f"{number + 1},{computing},{exposed},0,{exposed},0,{total},0,0"


def _marked(ranges: list[tuple[str, int, int]], where: str) -> list[dict[str, Any]]:
    process = "Ascend Hardware" if where == "device" else "python3 (mstx)"
    thread = "Stream 2" if where == "device" else "Thread 7"
    names = [("process_name", process), ("thread_name", thread)]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": what, "pid": 2, "tid": 2, "args": {"name": name}} for what, name in names
    ]
    for name, begin, took in ranges:
        text = str({"name": name})
        events.append({"ph": "X", "name": text, "pid": 2, "tid": 2, "ts": f"{begin}.000", "dur": took, "args": {}})
    return events
