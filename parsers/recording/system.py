"""How busy the machine is: processors, memory, disk and network from /proc, accelerators from nvidia-smi and npu-smi."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Callable

INTERVAL = 10.0
"""Seconds between two samples."""
_SECTOR = 512
_PARTITION = re.compile(r"(?:loop|ram|zram|dm-)\d+|(?:sd|vd|xvd|hd)[a-z]+\d+|(?:nvme\d+n\d+|mmcblk\d+)p\d+")
_NVIDIA = ("index", "utilization.gpu", "memory.used", "memory.total", "temperature.gpu", "power.draw")
_NVIDIA_TAGS = ("utilization_percent", "memory_used_bytes", "memory_total_bytes", "temperature_celsius", "power_watts")
_MEBIBYTE = 1 << 20
_NPU_LINE = re.compile(
    r"\|\s*(\d+)(?:\s+\d+)?\s*\|\s*[0-9A-Fa-f]+:[0-9A-Fa-f:.]+\s*\|\s*(\d+)\s+(\d+)\s*/\s*(\d+)(?:\s+(\d+)\s*/\s*(\d+))?\s*\|"
)
_NPU_HEAD = re.compile(r"\|\s*(\d+)\s+\S+\s*\|\s*\S+\s*\|\s*([\d.]+|-)\s+(\d+|-)\s")

Totals = dict[str, float]


def totals(root: str = "/proc", process: str = "self") -> tuple[Totals, Totals]:
    """Return (counters that only grow, present amounts) from a /proc directory; what cannot be read is missing.

    Counters: cpu_busy and cpu_all in ticks of all processors, process_ticks, disk_read, disk_write, network_in, network_out in
    bytes. Amounts: memory_used, memory_total and process_memory in bytes. Source: proc(5) of Linux.
    """
    counters: Totals = {}
    amounts: Totals = {}
    for read, into in (
        (_processors, counters), (_disks, counters), (_networks, counters), (_memory, amounts),
    ):  # fmt: skip
        try:
            into.update(read(root))
        except (OSError, ValueError, IndexError, KeyError):
            continue
    try:
        with open(f"{root}/{process}/stat", encoding="ascii", errors="replace") as file:
            parts = file.read().rpartition(")")[2].split()
        counters["process_ticks"] = float(parts[11]) + float(parts[12])
        amounts["process_memory"] = float(parts[21]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    return counters, amounts


def _lines(path: str) -> list[str]:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read().splitlines()


def _processors(root: str) -> Totals:
    with open(f"{root}/stat", encoding="ascii", errors="replace") as file:
        ticks = [float(part) for part in file.readline().split()[1:9]]
    return {"cpu_busy": sum(ticks) - ticks[3] - ticks[4], "cpu_all": sum(ticks)}


def _disks(root: str) -> Totals:
    rows = [line.split() for line in _lines(f"{root}/diskstats")]
    whole = [row for row in rows if len(row) > 9 and not _PARTITION.fullmatch(row[2])]
    read, written = (_SECTOR * sum(float(row[place]) for row in whole) for place in (5, 9))
    return {"disk_read": read, "disk_write": written}


def _networks(root: str) -> Totals:
    rows = [line.partition(":") for line in _lines(f"{root}/net/dev") if ":" in line]
    found = [rest.split() for name, _, rest in rows if name.strip() != "lo"]
    return {"network_in": sum(float(row[0]) for row in found), "network_out": sum(float(row[8]) for row in found)}


def _memory(root: str) -> Totals:
    rows = (line.partition(":") for line in _lines(f"{root}/meminfo"))
    found = {name: float(rest.split()[0]) * 1024 for name, _, rest in rows}
    return {"memory_used": found["MemTotal"] - found["MemAvailable"], "memory_total": found["MemTotal"]}


def sample(before: Totals, now: Totals, amounts: Totals, seconds: float, ticks: float) -> dict[str, float]:
    """Return the values of an interval by tag: percent, bytes, and bytes per second. ticks are those of a second."""

    def rate(name: str) -> float | None:
        return max(0.0, now[name] - before[name]) / seconds if name in now and name in before and seconds > 0 else None

    found: dict[str, float | None] = {f"system/{name}_bytes": value for name, value in amounts.items()}
    for name in ("disk_read", "disk_write", "network_in", "network_out"):
        found[f"system/{name}_bytes_per_second"] = rate(name)
    busy, whole, own = rate("cpu_busy"), rate("cpu_all"), rate("process_ticks")
    found["system/cpu_percent"] = 100 * busy / whole if busy is not None and whole else None
    found["system/process_cpu_percent"] = 100 * own / ticks if own is not None else None
    return {name: value for name, value in found.items() if value is not None}


def nvidia_values(line: str) -> dict[str, float]:
    """Return the values of a line of `nvidia-smi --query-gpu=... --format=csv,noheader,nounits` by tag; [N/A] is left out."""
    parts = [part.strip() for part in line.split(",")]
    if len(parts) != len(_NVIDIA) or not parts[0].isdigit():
        return {}
    found = {}
    for name, part in zip(_NVIDIA_TAGS, parts[1:]):
        try:
            value = float(part)
        except ValueError:
            continue
        found[f"system/gpu_{parts[0]}/{name}"] = value * _MEBIBYTE if name.endswith("bytes") else value
    return found


def npu_values(table: str) -> dict[str, float]:
    """Return the values of the table of `npu-smi info` by tag: AI core, memory, temperature and power of each NPU."""
    found: dict[str, float] = {}
    card = ""
    for line in table.splitlines():
        chip = _NPU_LINE.match(line)
        if chip and card:
            place = f"system/npu_{card}" if chip[1] == "0" else f"system/npu_{card}_{chip[1]}"
            used, whole = (chip[5], chip[6]) if chip[5] and int(chip[6]) else (chip[3], chip[4])
            found[f"{place}/utilization_percent"] = float(chip[2])
            found[f"{place}/memory_used_bytes"] = float(used) * _MEBIBYTE
            found[f"{place}/memory_total_bytes"] = float(whole) * _MEBIBYTE
            continue
        head = _NPU_HEAD.match(line)
        if head:
            card = head[1]
            for name, part in (("power_watts", head[2]), ("temperature_celsius", head[3])):
                if part != "-":
                    found[f"system/npu_{card}/{name}"] = float(part)
    return found


class SystemSampler:
    """Records a sample every INTERVAL seconds, in a thread of its own, until it is stopped or the process ends."""

    def __init__(
        self, record: Callable[[float, Mapping[str, float]], None], directory: str, interval: float = INTERVAL
    ) -> None:
        """record takes a wall time in seconds and values by tag. directory: its file system's free space is recorded, too."""
        self._record, self._directory, self._interval = record, directory, interval
        self._stopped = threading.Event()
        self._gpus = NvidiaReader(interval)
        self._npu = shutil.which("npu-smi")
        self._thread = threading.Thread(target=self._run, name="mindscope-system", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End sampling."""
        self._stopped.set()
        self._gpus.stop()
        self._thread.join(5)

    def _run(self) -> None:
        before, _ = totals()
        then = time.monotonic()
        while not self._stopped.wait(self._interval):
            counters, amounts = totals()
            now = time.monotonic()
            values = sample(before, counters, amounts, now - then, float(os.sysconf("SC_CLK_TCK")))
            before, then = counters, now
            values.update(self._free())
            values.update(self._gpus.values())
            values.update(self._npus())
            if values:
                self._record(time.time(), values)

    def _free(self) -> dict[str, float]:
        try:
            space = os.statvfs(self._directory)
        except OSError:
            return {}
        return {"system/disk_free_bytes": float(space.f_bavail * space.f_frsize)}

    def _npus(self) -> dict[str, float]:
        if self._npu is None:
            return {}
        try:
            done = subprocess.run([self._npu, "info"], capture_output=True, text=True, timeout=self._interval, check=True)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            self._npu = None
            return {}
        return npu_values(done.stdout)


class NvidiaReader:
    """Reads one `nvidia-smi --loop` process, which ends when nobody reads its output any more."""

    def __init__(self, interval: float) -> None:
        """interval is in seconds. Without nvidia-smi there are never values."""
        self._latest: dict[str, float] = {}
        self._child: subprocess.Popen[str] | None = None
        program = shutil.which("nvidia-smi")
        if program is None:
            return
        options = [f"--query-gpu={','.join(_NVIDIA)}", "--format=csv,noheader,nounits", f"--loop={max(1, round(interval))}"]
        try:
            self._child = subprocess.Popen([program, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
        except OSError:
            return
        threading.Thread(target=self._run, args=(self._child,), name="mindscope-nvidia", daemon=True).start()

    def values(self) -> dict[str, float]:
        """Return the last values of all GPUs by tag."""
        return dict(self._latest)

    def stop(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.terminate()
            self._child.wait()

    def _run(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        with child.stdout as lines:
            for line in lines:
                self._latest = {**self._latest, **nvidia_values(line)}
