"""Jobs of many ranks, with the columns, texts and widths of those of torch_npu; the same call writes the same bytes.

`job` writes the communication files of each rank, `communication` one file of any size, `directories` what discovery sees of
a job: as many files a rank as a profiler of level 2 writes. An operation takes about 1.2 kB, the matrix of a step in a group
of eight 22 kB.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from parsers.profiler.groups import hash_of

GROUP = 8
"""Neighbouring ranks that do the same work."""
_START_US = 1_764_246_877_147_674.5
_TYPES = ("allReduce", "allGather", "reduceScatter")
_CLASSES = ("top1", "middle", "bottom1", "bottom2", "bottom3", "total")
_NOTHING = (
    '{"Transit Size(MB)": 0, "Transit Time(ms)": 0, "Bandwidth(GB/s)": 0, "Large Packet Ratio": 0, "Size Distribution": {}}'
)
STEPS_HEADER = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n"
)
OUTPUT = "ASCEND_PROFILER_OUTPUT"
_OTHERS = (
    "analysis.db", "ascend_pytorch_profiler_{rank}.db", "api_statistic.csv", "communication.json", "communication_matrix.json",
    "data_preprocess.csv", "kernel_details.csv", "l2_cache.csv", "memory_record.csv", "npu_module_mem.csv", "op_statistic.csv",
    "operator_details.csv", "operator_memory.csv", "soc_pmu.csv", "static_op_mem.csv", "step_trace_time.csv", "trace_view.json",
)  # fmt: skip
_BESIDE = ("FRAMEWORK/torch.op_range", "FRAMEWORK/torch.op_mark", "logs/profiler_1.log", "logs/profiler_2.log")
FILES = len(_OTHERS) + len(_BESIDE) + 2
"""Files of a rank in `directories`."""


def job(folder: Path, *, ranks: int, steps: int, operations: int, matrix: bool = True) -> None:
    """Write communication.json, communication_matrix.json and step_trace_time.csv of each rank."""
    for rank in range(ranks):
        base = rank_folder(folder, rank)
        (base / OUTPUT).mkdir(parents=True)
        _write_about(base, rank, ranks)
        draw = random.Random(rank)
        hashed = hash_of(f"group_{rank // GROUP}")
        communication(base / OUTPUT / "communication.json", draw, steps, operations, hashed)
        if matrix:
            _write_matrix(base / OUTPUT / "communication_matrix.json", draw, steps, rank % GROUP, hashed)
        with (base / OUTPUT / "step_trace_time.csv").open("w") as file:
            file.write(STEPS_HEADER)
            for step in range(1, steps + 1):
                computing, free = draw.gauss(231_290.1, 2_000.0), draw.gauss(15_855.0, 200.0)
                whole = computing + 42_017.25 + free
                file.write(f"{rank % GROUP},{step},{computing},42017.25,0.0,42017.25,{free},{whole},0,42017.25,206.25\n")


def rank_folder(folder: Path, rank: int) -> Path:
    """Return the directory of a rank, as torch_npu names it."""
    return folder / f"host-{rank // GROUP:04}_{10_000 + rank}_20261120233012998_ascend_pt"


def _write_about(base: Path, rank: int, ranks: int) -> None:
    """Write the small files: what the profiler was set to, and the groups of the rank."""
    first = rank // GROUP * GROUP
    groups = {
        "default": {"group_name": "default_group", "group_rank": rank, "global_ranks": [*range(ranks)]},
        f"group_{first // GROUP}": {
            "group_name": "tp", "group_rank": rank - first, "global_ranks": [*range(first, min(first + GROUP, ranks))],
        },
        f"across_{rank % GROUP}": {
            "group_name": "dp", "group_rank": rank // GROUP, "global_ranks": [*range(rank % GROUP, ranks, GROUP)],
        },
    }  # fmt: skip
    sizes = {
        "tensor_model_parallel_size": GROUP, "pipeline_model_parallel_size": 1, "data_parallel_size": -(-ranks // GROUP),
        "rank": rank, "world_size": ranks,
    }  # fmt: skip
    about = json.dumps({"distributed_args": sizes, "parallel_group_info": groups})
    (base / "profiler_metadata.json").write_text(about)
    (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank, "torch_npu_version": "2.7.1"}))


def communication(path: Path, draw: random.Random, steps: int, operations: int, hashed: str) -> None:
    """Write communication.json: nothing between two ranks, `operations` of a group in each step."""
    with path.open("w") as file:
        file.write("{")
        for step in range(1, steps + 1):
            file.write(f'{", " if step > 1 else ""}"step{step}": {{"p2p": {{}}, "collective": {{')
            file.writelines(_operations(draw, step, operations, hashed))
            file.write("}}")
        file.write("}")


def _operations(draw: random.Random, step: int, operations: int, hashed: str) -> Iterator[str]:
    start = _START_US + step * 1e6
    for number in range(operations):
        size, transit, wait = draw.randrange(1, 10**9) / 1e6, draw.random() * 10, draw.random()
        start += transit * 1e3 + 500.5
        moved = f'"Transit Size(MB)": {size}, "Transit Time(ms)": {transit}, "Bandwidth(GB/s)": {size / transit:.4f}'
        yield (
            f'{", " if number else ""}"hcom_{_TYPES[number % 3]}__{hashed[-3:]}_{number}_{step}@{hashed}": '
            f'{{"Communication Time Info": {{"Start Timestamp(us)": {start}, "Elapse Time(ms)": {transit + wait + 0.03264}, '
            f'"Transit Time(ms)": {transit}, "Wait Time(ms)": {wait}, "Synchronization Time(ms)": {wait}, '
            f'"Idle Time(ms)": 0.03264, "Wait Time Ratio": {wait / (wait + transit):.4f}, "Synchronization Time Ratio": 0.9}}, '
            f'"Communication Bandwidth Info": {{"RDMA": {_NOTHING}, "HCCS": {{{moved}, "Large Packet Ratio": 1.0, '
            f'"Size Distribution": {{"{size / 2}": [2, {transit}]}}}}, "PCIE": {_NOTHING}, "SDMA": {{{moved}, '
            f'"Large Packet Ratio": 0, "Size Distribution": {{}}}}, "SIO": {_NOTHING}}}}}'
        )


def _write_matrix(path: Path, draw: random.Random, steps: int, local: int, hashed: str) -> None:
    with path.open("w") as file:
        file.write("{")
        for step in range(1, steps + 1):
            file.write(f'{", " if step > 1 else ""}"step{step}": {{"p2p": {{}}, "collective": {{')
            parts = []
            for kind in _TYPES:
                for name in _CLASSES:
                    links = (
                        f'"{local}-{target}": {{"Transport Type": "{"LOCAL" if target == local else "HCCS"}", '
                        f'"Transit Size(MB)": {draw.randrange(10**9) / 1e6}, "Transit Time(ms)": {draw.random()}, '
                        f'"Bandwidth(GB/s)": 20.8838, "Op Name": "hcom_{kind}__{hashed[-3:]}_1_{step}"}}'
                        for target in range(GROUP)
                    )
                    parts.append(f'"{kind.lower()}-{name}@{hashed}": {{{", ".join(links)}}}')
            file.write(", ".join(parts) + "}}")
        file.write("}")


def directories(folder: Path, ranks: int) -> None:
    """Write the directories of a job: the small files whole, of the others a byte."""
    for rank in range(ranks):
        base = rank_folder(folder, rank)
        for name in (OUTPUT, "FRAMEWORK", "logs"):
            (base / name).mkdir(parents=True)
        _write_about(base, rank, ranks)
        for name in (*(f"{OUTPUT}/{name}" for name in _OTHERS), *_BESIDE):
            (base / name.format(rank=rank)).write_bytes(b"\n")
