"""Run a measurement several times in fresh processes and report the results."""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STACK = (
    "import numpy, dash, dash_ag_grid, dash_cytoscape, flask_compress, brotli, msgspec, orjson, diskcache, google_crc32c, "
    "waitress"
)
"""The bare imports of the libraries of a server."""
NO_BOUND = float("inf")
"""The bound of a figure that is only reported, such as that of a peer."""


def compile_programs() -> None:
    """Compile the modules of a server, as pip does when it installs them, and let measured processes keep what they compile.

    With PYTHONDONTWRITEBYTECODE in a checkout every process compiles all its modules anew: a start takes 1.3 s instead of 0.55.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for package in ("app", "layouts", "parsers", "benchmarks"):
        compileall.compile_dir(ROOT / package, quiet=1)
    subprocess.run([sys.executable, "-c", STACK], cwd=ROOT, check=True)


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report: the measured quantity, its bound, and the results (all in one unit)."""

    what: str
    unit: str
    bound: float
    values: tuple[float, ...]
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def line(self) -> str:
        bounded = self.bound != NO_BOUND
        verdict = "    " if not bounded else "ok  " if self.median <= self.bound else "MISS"
        bound = f"must be <= {self.bound:g}" if bounded else ""
        spread = f"{min(self.values):.3g} to {max(self.values):.3g}, n={len(self.values)}"
        note = f"; {self.note}" if self.note else ""
        return f"{verdict} {self.what:<74} {self.median:>8.3g} {self.unit:<5} {bound:<16} ({spread}{note})"


def in_fresh_process(module: str, *arguments: str, times: int = 5, watched: bool = False) -> list[dict[str, float]]:
    """Return the JSON lines that `python -m module arguments` prints in several fresh processes, one after the other.

    watched adds `all_mb`: the most memory (PSS, in MB) that the process and those it started had at once.
    """
    command = [sys.executable, "-m", module, *arguments]
    results = []
    for _ in range(times):
        most = 0.0
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while watched and process.poll() is None:
                most = max(most, shared_out(process.pid))
                time.sleep(0.05)
            output, errors = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: {errors.strip()[-2000:]}")
        results.append(json.loads(output.strip().splitlines()[-1]) | ({"all_mb": most} if watched else {}))
    return results


ANONYMOUS = ("Pss_Anon:", "Pss_Shmem:")


def shared_out(pid: int, parts: tuple[str, ...] = ("Pss:",)) -> float:
    """Return the memory of a process and all it started in MB, shared pages divided among all that have them: PSS (Linux).

    Pages of files count the more, the fewer other processes on the machine have them: a server whose libraries others used took
    60 MB more from the minute on when these ended. ANONYMOUS parts are a process's own.
    """
    total = 0.0
    for one in (pid, *started_by(pid)):
        with contextlib.suppress(OSError):  # it has ended
            told = Path(f"/proc/{one}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) / 1024 for line in told.splitlines() if line.startswith(parts))
    return total


def started_by(pid: int) -> list[int]:
    """Return the processes that a process started, and those that these started (Linux)."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                found += [child, *started_by(child)]
    return found


def anonymous_rss(pid: int | str = "self") -> float:
    """Return the anonymous resident memory of a process in MB (Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("this system does not say how much memory is anonymous")


def cpu_seconds(pid: int) -> float:
    """Return the user and system CPU seconds a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processes() -> list[int]:
    """Return the ids of all processes (Linux)."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def cpu_of_family(root: int) -> float:
    """Return the CPU seconds of a process, its descendants, and those of them that have ended."""
    ticks, children = {}, defaultdict(list)
    for pid in processes():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            ticks[pid] = sum(map(int, fields[11:15]))
            children[int(fields[1])].append(pid)
    family = [root]
    for pid in family:
        family += children[pid]
    return sum(ticks.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")
