"""How busy the machine is, from stored /proc files and stored output of nvidia-smi and npu-smi."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import psutil
import pytest

from parsers.recording import system
from parsers.recording.system import NvidiaReader, SystemSampler, npu_values, nvidia_values, sample, totals

NPU = """
+------------------------------------------------------------------------------------------------+
| npu-smi 23.0.rc3                 Version: 23.0.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.2        45                0    / 0             |
| 0                         | 0000:C1:00.0  | 37          0    / 0          4152 / 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | -           46                0    / 0             |
| 0                         | 0000:01:00.0  | 0           2148 / 15137      0    / 0             |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 1234          | python                   | 4100                    |
+===========================+===============+====================================================+
"""
PROC = {
    "stat": "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\n",
    "diskstats": " 8 0 sda 5 0 100 0 7 0 40 0\n 8 1 sda1 5 0 100 0 7 0 40 0\n 259 0 nvme0n1 1 0 10 0 1 0 20 0\n",
    "net/dev": "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 1000 1 0 0 0 0 0 0 500 1 0\n",
    "meminfo": "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 400 kB\n",
    "self/stat": "42 (a) b (c) S " + " ".join(["0"] * 10) + " 30 12 " + " ".join(["0"] * 7) + " 0 25 0\n",
}


def proc(directory: Path, **changed: str) -> str:
    for name, content in {**PROC, **changed}.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return str(directory)


def test_counters_become_rates(tmp_path: Path) -> None:
    before, _ = totals(proc(tmp_path))
    now, amounts = totals(proc(
        tmp_path, stat="cpu  150 0 50 850 50 0 0 0\n",
        diskstats=" 8 0 sda 5 0 300 0 7 0 40 0\n 259 0 nvme0n1 1 0 10 0 1 0 60 0\n",
        **{"net/dev": "  eth0: 3000 1 0 0 0 0 0 0 1500 1 0\n", "self/stat": PROC["self/stat"].replace("30 12", "130 12")},
    ))  # fmt: skip
    found = sample(before, now, amounts, 2.0, 100.0)
    assert found == {
        "system/cpu_percent": 50.0, "system/process_cpu_percent": 50.0, "system/memory_used_bytes": 600 * 1024.0,
        "system/memory_total_bytes": 1000 * 1024.0, "system/process_memory_bytes": 25.0 * os.sysconf("SC_PAGE_SIZE"),
        "system/disk_read_bytes_per_second": 51_200.0, "system/disk_write_bytes_per_second": 10_240.0,
        "system/network_in_bytes_per_second": 1000.0, "system/network_out_bytes_per_second": 500.0,
    }  # fmt: skip


@pytest.mark.parametrize("broken", ["", "garbage\n", "cpu\n", "a: b: c\n"])
def test_what_cannot_be_read_is_missing(tmp_path: Path, broken: str) -> None:
    root = proc(tmp_path, **dict.fromkeys(PROC, broken))
    counters, amounts = totals(root)
    assert all(value >= 0 for value in {**counters, **amounts}.values())
    assert totals(str(tmp_path / "missing")) == ({}, {})


def test_this_machine_is_described_as_psutil_does() -> None:
    _, amounts = totals()
    assert amounts["memory_total"] == psutil.virtual_memory().total
    assert amounts["process_memory"] == pytest.approx(psutil.Process().memory_info().rss, rel=0.1)


def test_lines_of_nvidia_smi_are_read() -> None:
    assert nvidia_values("1, 87, 4025, 81559, 54, 312.45") == {
        "system/gpu_1/utilization_percent": 87, "system/gpu_1/memory_used_bytes": 4025 << 20,
        "system/gpu_1/memory_total_bytes": 81559 << 20, "system/gpu_1/temperature_celsius": 54,
        "system/gpu_1/power_watts": 312.45,
    }  # fmt: skip
    assert "system/gpu_0/power_watts" not in nvidia_values("0, [N/A], 1, 2, 3, [Not Supported]")
    assert nvidia_values("No devices were found") == {}


def test_the_table_of_npu_smi_is_read() -> None:
    found = npu_values(NPU)
    assert found == {
        "system/npu_0/power_watts": 93.2, "system/npu_0/temperature_celsius": 45, "system/npu_0/utilization_percent": 37,
        "system/npu_0/memory_used_bytes": 4152 << 20, "system/npu_0/memory_total_bytes": 65536 << 20,
        "system/npu_1/temperature_celsius": 46, "system/npu_1/utilization_percent": 0,
        "system/npu_1/memory_used_bytes": 2148 << 20, "system/npu_1/memory_total_bytes": 15137 << 20,
    }  # fmt: skip


def test_samples_come_from_a_thread_until_it_is_stopped(tmp_path: Path) -> None:
    seen: list[Mapping[str, float]] = []
    enough = Event()

    def record(at: float, values: Mapping[str, float]) -> None:
        seen.append(values)
        enough.set()

    sampler = SystemSampler(record, str(tmp_path), interval=0.02)
    assert enough.wait(10)
    sampler.stop()
    count = len(seen)
    assert {"system/cpu_percent", "system/memory_used_bytes", "system/disk_free_bytes"} <= set(seen[0])
    assert len(seen) == count


def test_one_nvidia_smi_serves_all_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho '0, 87, 1, 2, 54, 300'\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(program))
    reader = NvidiaReader(10)
    for _ in range(500):
        if reader.values():
            break
        Event().wait(0.01)
    assert reader.values()["system/gpu_0/utilization_percent"] == 87
    reader.stop()
    assert reader._child is not None
    assert reader._child.returncode is not None


def test_without_accelerators_there_is_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert NvidiaReader(10).values() == {}
    assert system.shutil.which("npu-smi") is None
