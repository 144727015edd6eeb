"""Other programs on the same files: tbparse, TensorBoard's reader in Python, its server in Rust, and MindInsight.

BENCH_PEERS names a directory of virtual environments called tbparse, tensorboard and mindinsight; those that exist are measured
beside every row that they can read. A peer that does not end within LIMIT seconds is stopped, and its row says so.

    python -m venv peers/tensorboard && peers/tensorboard/bin/pip install tensorboard
    BENCH_PEERS=peers make bench ONLY="reading many growth"
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data import folder
from benchmarks.measure import NO_BOUND, Figure

LIMIT = 120.0
"""Seconds of wall time for one peer and one set of files."""

# Each program prints {"cpu": seconds, "points": number} for the directory in its argument; importing does not count.
_TBPARSE = """
import json, sys, time
from tbparse import SummaryReader
begun = time.process_time()
points = len(SummaryReader(sys.argv[1], event_types={"scalars"}).scalars)
print(json.dumps({"cpu": time.process_time() - begun, "points": points}))
"""
_TENSORBOARD = """
import json, sys, time
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
begun = time.process_time()
all_of_them = EventMultiplexer(size_guidance={"scalars": 0, "tensors": 0})
all_of_them.AddRunsFromDirectory(sys.argv[1])
all_of_them.Reload()
points = sum(len(all_of_them.Tensors(run, tag)) for run, tags in all_of_them.Runs().items() for tag in tags["tensors"])
print(json.dumps({"cpu": time.process_time() - begun, "points": points}))
"""
_RUST = """
import json, os, resource, subprocess, sys
from tensorboard_data_server import server_binary
command = [server_binary(), "--logdir", sys.argv[1], "--port", "0", "--reload", "once", "-v"]
server = subprocess.Popen([*command, "--samples-per-plugin", "scalars=all"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
for line in server.stderr:
    if b"load cycle" in line.lower() and b"finish" in line.lower():
        break
fields = open(f"/proc/{server.pid}/stat").read().rsplit(")", 1)[1].split()
server.kill()
print(json.dumps({"cpu": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), "points": 0}))
"""
_MINDINSIGHT = """
import json, logging, os, resource, sys
logging.disable(logging.CRITICAL)
from mindinsight.datavisual.data_transform.data_loader import DataLoader
def used():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
if __name__ == "__main__":
    begun = used()
    for place, _, names in os.walk(sys.argv[1]):
        if any(".summary." in name for name in names):
            DataLoader(place).load()
    from mindinsight.utils.computing_resource_mgr import ComputingResourceManager
    ComputingResourceManager.get_instance().exit()
    print(json.dumps({"cpu": used() - begun, "points": 0}))
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another program: its environment, the layouts it reads, what reads a directory with it."""

    name: str
    environment: str
    layouts: tuple[str, ...]
    program: str

    @property
    def python(self) -> Path | None:
        """The Python of its environment, None if there is none."""
        python = Path(os.environ.get("BENCH_PEERS", ""), self.environment, "bin", "python").absolute()
        return python if "BENCH_PEERS" in os.environ and python.is_file() else None

    def read(self, base: Path) -> tuple[float, str]:
        """Return the CPU seconds it needs for a directory, and a remark; infinite if it does not end or fails."""
        before = _children()
        command = [str(self.python), "-c", self.program, str(base)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        except subprocess.TimeoutExpired:
            return float("inf"), f"stopped after {LIMIT:.0f} s, {_children() - before:.0f} s of CPU"
        if done.returncode:
            return float("inf"), (done.stderr.strip().splitlines() or ["no reason"])[-1][:120]
        return float(json.loads(done.stdout.strip().splitlines()[-1])["cpu"]), ""


RUST = Peer("TensorBoard, server in Rust", "tensorboard", ("tb",), _RUST)
"""The fastest of them; it ends in time also for ten thousand runs."""
PEERS = (
    RUST,
    Peer("TensorBoard, reader in Python", "tensorboard", ("tb",), _TENSORBOARD),
    Peer("tbparse", "tbparse", ("tb",), _TBPARSE),
    Peer("MindInsight", "mindinsight", ("ms",), _MINDINSIGHT),
)


def beside(base: Path, layout: str, times: int = 1, those: Sequence[Peer] = PEERS) -> list[Figure]:
    """Return the CPU seconds of every peer there is of those for a directory in a layout ("ms", "tb")."""
    found = []
    for peer in those:
        if layout not in peer.layouts or peer.python is None:
            continue
        results = [peer.read(base) for _ in range(times)]
        remark = next((text for _, text in results if text), "")
        found.append(Figure(f"  {peer.name}", "CPU s", NO_BOUND, tuple(cpu for cpu, _ in results), remark))
    return found


def figures(times: int) -> list[Figure]:
    """Every peer on S1."""
    found = []
    for layout in ("tb", "ms"):
        found += beside(folder() / layout / "S1", layout, min(times, 2))
    if not found:
        print("no peer to measure: BENCH_PEERS names no directory with their environments", file=sys.stderr)
    return found


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
