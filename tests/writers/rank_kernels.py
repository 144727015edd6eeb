"""Writes a job of which every rank has its kernels and its communication with their times: stages of a pipeline, clocks that
differ, ranks that lack kernels, operators that one rank alone runs.

All ranks of a stage do the same by a true clock; rank r computes longer by a little, so it comes later to its collectives.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from parsers.profiler.groups import hash_of

BEGIN_NS = 1_764_246_877_000_000_000
KERNEL_NS = 40_000
GAP_NS = 5_000
SLOWER_NS = 200
"""By which each kernel takes longer, times the number of the rank within its stage."""
TRANSFER_NS = 90_000
ALONE = "OnlyHere"
_CORES = ("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "AI_VECTOR_CORE", "AI_CPU")
_TYPES = ("MatMulV2", "Add", "FlashAttentionScore", "LayerNorm", "Range")


def write(
    folder: Path, *, ranks: int, operators: int, stages: int = 1, steps: int = 1, every: int = 10,
    clocks: Mapping[int, int] | None = None, without: Collection[int] = (), alone: Collection[int] = (),
) -> None:  # fmt: skip
    """Write the job. operators: kernels of a rank in a step; every so many of them there is an all-reduce of the stage.

    clocks: ns by which the clock of a rank is ahead. without: ranks that have no kernel_details.csv. alone: ranks that run an
    operator of their own in the middle of the first step.
    """
    width = ranks // stages
    slowest = KERNEL_NS + SLOWER_NS * (width - 1) + GAP_NS
    for rank in range(ranks):
        stage, place = divmod(rank, width)
        name = f"stage_{stage}"
        hashed = hash_of(name)
        ahead = (clocks or {}).get(rank, 0)
        rows = ["Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Stream ID"]
        told: dict[str, Any] = {}
        met = BEGIN_NS + stage * 300_000  # when the stage met last, by the true clock
        for step in range(1, steps + 1):
            entries: dict[str, Any] = {}
            for first in range(0, operators, every):
                at = met
                for number in range(first, min(first + every, operators)):
                    kind = number % len(_TYPES)
                    length = KERNEL_NS + place * SLOWER_NS
                    rows.append(
                        _row(step, f"aclnn{_TYPES[kind]}_{number % 7}", _TYPES[kind], _CORES[kind], at + ahead, length, 2)
                    )
                    at += length + GAP_NS
                if first == 0 and step == 1 and rank in alone:
                    rows.append(_row(step, ALONE, "Custom", "AI_CORE", at + ahead, KERNEL_NS, 2))
                met += every * slowest + 2 * KERNEL_NS + TRANSFER_NS
                called = f"hcom_allReduce__{hashed[-3:]}_{first // every}_{step}"
                rows.append(_row(step, called, "hcom_allReduce_", "HCCL", at + ahead, met - at, ""))
                entries[f"{called}@{hashed}"] = _operation(at + ahead, met - at)
            told[f"step{step}"] = {"p2p": {}, "collective": entries}
        base = folder / f"rank_{rank}_ascend_pt"
        output = base / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        members = [*range(stage * width, (stage + 1) * width)]
        groups = {name: {"group_name": "tp", "global_ranks": members}}
        if stages > 1:
            groups[f"chain_{place}"] = {"group_name": "pp", "global_ranks": [*range(place, ranks, width)]}
        about = {"distributed_args": {"rank": rank, "world_size": ranks}, "parallel_group_info": groups}
        (base / "profiler_metadata.json").write_text(json.dumps(about))
        (base / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank}))
        (output / "communication.json").write_text(json.dumps(told))
        if rank not in without:
            (output / "kernel_details.csv").write_text("\n".join(rows) + "\n")


def _row(step: int, name: str, kind: str, core: str, begin_ns: int, length_ns: int, stream: int | str) -> str:
    begin = f"{begin_ns // 1000}.{begin_ns % 1000:03d}"
    return f"{step},0,{name},{kind},{core},{begin},{length_ns / 1000:.3f},0,{stream}"


def _operation(begin_ns: int, length_ns: int) -> Any:
    elapse = length_ns / 1e6
    return {
        "Communication Time Info": {
            "Start Timestamp(us)": begin_ns / 1e3, "Elapse Time(ms)": elapse, "Transit Time(ms)": TRANSFER_NS / 1e6,
            "Wait Time(ms)": 0.0, "Synchronization Time(ms)": 0.0, "Idle Time(ms)": 0.0,
        },
        "Communication Bandwidth Info": {},
    }  # fmt: skip
