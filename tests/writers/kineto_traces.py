"""Writes traces as torch.profiler does (libkineto/src/output_json.cpp): events with times in microseconds of three decimals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BASE_NS = 1_712_000_000_000_000_000
HOST, GPU, THREAD, STREAM, NCCL_STREAM = 4000, 0, 4001, 7, 20


@dataclass
class KinetoWriter:
    """Collects events; all times are ns since BASE_NS, and host and device have one clock."""

    rank: int | None = None
    world_size: int = 0
    device: str = "NVIDIA A100-SXM4-40GB"
    events: list[dict[str, Any]] = field(default_factory=list)
    correlation: int = 100
    external: int = 0
    thread: int = THREAD

    def host(self, name: str, start: int, duration: int, category: str = "cpu_op", **arguments: Any) -> int:
        """Add an operator or annotation of the host; return its External id."""
        self.external += 1
        found = {"External id": self.external, **{key.replace("_", " "): value for key, value in arguments.items()}}
        self._add(name, category, start, duration, HOST, self.thread, found)
        return self.external

    def launch(
        self, kernel: str, call_start: int, start: int, duration: int, stream: int = STREAM, *, call: str = "cudaLaunchKernel",
        call_duration: int = 4_000, category: str = "kernel", **arguments: Any,
    ) -> int:  # fmt: skip
        """Add a call of the runtime and what it launched; return the correlation of both."""
        self.correlation += 1
        same = {"correlation": self.correlation, "External id": self.external}
        self._add(call, "cuda_runtime", call_start, call_duration, HOST, self.thread, {"cbid": 211, **same})
        self.kernel(kernel, start, duration, stream, category, **same, **arguments)
        return self.correlation

    def kernel(
        self, name: str, start: int, duration: int, stream: int = STREAM, category: str = "kernel", **arguments: Any
    ) -> None:
        """Add something that the device ran."""
        told: dict[str, Any] = {"device": GPU, "stream": stream, **arguments}
        if category == "kernel":
            usual = {"grid": [108, 1, 1], "block": [256, 1, 1], "registers per thread": 32, "est. achieved occupancy %": 50}
            told = usual | told
        self._add(name, category, start, duration, GPU, stream, told)

    def memory(self, time: int, address: int, size: int, total: int, reserved: int, *, on_cpu: bool = False) -> None:
        """Add an allocation, or of a negative size a release."""
        told = {
            "Total Reserved": 0 if on_cpu else reserved, "Total Allocated": total, "Device Id": -1 if on_cpu else GPU,
            "Device Type": 0 if on_cpu else 1, "Addr": address, "Bytes": size,
        }  # fmt: skip
        self.events.append({
            "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": HOST, "tid": THREAD, "ts": us(time),
            "args": told,
        })  # fmt: skip

    def text(self) -> str:
        """Return the file."""
        about: dict[str, Any] = {
            "schemaVersion": 1,
            "deviceProperties": [
                {
                    "id": number, "name": self.device, "totalGlobalMem": 40 << 30, "numSms": 108, "computeMajor": 8,
                    "computeMinor": 0,
                }
                for number in range(2)
            ],
        }  # fmt: skip
        if self.rank is not None:
            ranks = list(range(self.world_size))
            group = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": self.world_size, "ranks": ranks}
            about["distributedInfo"] = {
                "backend": "nccl", "rank": self.rank, "world_size": self.world_size, "pg_count": 1, "pg_config": [group],
            }  # fmt: skip
        names = [
            {"ph": "M", "name": "process_name", "pid": HOST, "tid": 0, "ts": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "process_labels", "pid": GPU, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}},
        ]
        head = json.dumps({**about, "baseTimeNanoseconds": BASE_NS, "displayTimeUnit": "ms"})[:-1]
        events = ",\n".join(_decimal(json.dumps(each)) for each in [*names, *self.events])
        return f'{head}, "traceEvents": [\n{events}\n], "traceName": "trace.json"}}'

    def _add(
        self, name: str, category: str, start: int, duration: int, pid: int, tid: int, arguments: Mapping[str, Any]
    ) -> None:
        self.events.append({
            "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": us(start), "dur": us(duration),
            "args": dict(arguments),
        })  # fmt: skip


def us(ns: int) -> str:
    """Return a time as the file has it; `_decimal` takes the quotes off."""
    sign = "-" if ns < 0 else ""
    return f"\0{sign}{abs(ns) // 1000}.{abs(ns) % 1000:03d}\0"


def _decimal(text: str) -> str:
    return text.replace('"\\u0000', "").replace('\\u0000"', "")


def training(steps: int = 3, *, rank: int | None = 0, world_size: int = 2, changing: bool = True) -> KinetoWriter:
    """Return steps of 1 ms: fetch data, copy it, run operators, reduce gradients over ranks, and free what was allocated."""
    made = KinetoWriter(rank, world_size)
    made.kernel("void started_before<float>(float*)", 500, 1_500, correlation=7)
    for step in range(steps):
        at = 10_000 + step * 1_000_000
        width = 32 + 8 * step if changing else 32
        made.host(f"ProfilerStep#{step + 3}", at, 990_000, "user_annotation")
        made.host("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 1_000, 200_000, "user_annotation")
        made.host("aten::copy_", at + 205_000, 40_000, Input_Dims=[[8, width], [8, width]], Input_type=["float", "float"])
        made.launch(
            "Memcpy HtoD (Pageable -> Device)", at + 210_000, at + 216_000, 25_000, call="cudaMemcpyAsync",
            call_duration=30_000, category="gpu_memcpy", bytes=8 * width * 4,
        )  # fmt: skip
        made.memory(at + 206_000, 0x7000, 8 * width * 4, 8 * width * 4, 2 << 20)
        made.host(
            "aten::linear", at + 250_000, 100_000, Input_Dims=[[8, width], [16, width], [16]], Input_type=["float"] * 3,
            Call_stack="model.py(7): forward;train.py(21): <module>;",
        )  # fmt: skip
        made.host("aten::addmm", at + 260_000, 80_000, Input_Dims=[[16], [8, width], [width, 16]], Input_type=["float"] * 3)
        made.launch("void gemm<float, 128>(float*, float const*)", at + 270_000, at + 280_000, 300_000)
        made.launch("void add<float>(float*)", at + 300_000, at + 580_000, 50_000)
        made.host(
            "record_param_comms", at + 400_000, 30_000, Collective_name="allreduce", In_msg_nelems=4096, Out_msg_nelems=4096,
            dtype="Float", Group_size=world_size, Process_Group_Name="0", Process_Group_Description="default_pg",
        )  # fmt: skip
        collective = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"
        made.launch(collective, at + 405_000, at + 600_000, 200_000, NCCL_STREAM)
        made.memory(at + 900_000, 0x7000, -8 * width * 4, 0, 2 << 20)
    return made


def write(path: Path, made: KinetoWriter) -> Path:
    """Write a file; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.text(), encoding="utf-8")
    return path

