"""Run a measurement several times in fresh processes and report the results."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NO_BOUND = float("inf")
"""The bound of a figure that is only reported, such as that of a peer."""


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


def in_fresh_process(module: str, *arguments: str, times: int = 5) -> list[dict[str, float]]:
    """Return the JSON lines that `python -m module arguments` prints in several fresh processes, one after the other."""
    command = [sys.executable, "-m", module, *arguments]
    results = []
    for _ in range(times):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()[-2000:]}")
        results.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return results


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
