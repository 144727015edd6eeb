"""The worst file of each format costs at most five times what an intact one of its size costs, and 64 MB more memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parsers import open_run
from parsers.profiler.communication_json import read_links
from parsers.profiler.lines import Complaints
from parsers.profiler.trace import chrome
from parsers.tuning.journal import StudyFile
from tests.amounts import long_after
from tests.writers.worst_files import FORMATS

MEMORY = 64 << 20
"""Bytes at the peak beyond those of an intact file."""
TIMES = 5.0
FLOOR = 0.5
"""Seconds that any file may take: below, the ratio is that of two noises."""
STARTING_TWICE = 100
"""Seconds after which a process is given up."""


def read(kind: str, path: Path, run: Path) -> None:
    """Read one file as the program does."""
    if kind == "trace":
        chrome.read(str(path), None)
    elif kind == "matrix":
        read_links(str(path), Complaints(str(path)))
    elif kind == "journal":
        StudyFile(str(path)).refresh()
    elif kind.startswith("metrics"):
        len(open_run(run).scalars["step"])
    else:
        profiled = open_run(run)
        for key in profiled.profile:
            profile = profiled.profile[key]
            profile.frame(kind)
            list(profile.problems)


def measured(kind: str, make: str, folder: Path) -> tuple[float, int]:
    """Return the seconds of the processor and the bytes at the peak of a process that reads one file."""
    path = folder / make / FORMATS[kind].path
    path.parent.mkdir(parents=True)
    written = FORMATS[kind].intact if make == "intact" else FORMATS[kind].worst[make]
    path.write_bytes(written())
    done = subprocess.run(
        [sys.executable, "-m", "tests.parsers.test_worst_files", kind, str(path), str(folder / make)],
        capture_output=True, text=True, timeout=STARTING_TWICE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return seconds, peak


MEASURED = ("metrics_csv", "journal")
CASES = [("metrics_csv", "quotes"), ("journal", "string")]
CASES += [(kind, make) for kind in MEASURED for make in FORMATS[kind].worst if (kind, make) not in CASES]


@pytest.mark.parametrize(("kind", "make"), long_after(2, CASES))
def test_the_worst_file_costs_little_more_than_an_intact_one(kind: str, make: str, tmp_path: Path) -> None:
    intact, peak = measured(kind, "intact", tmp_path)
    worst, highest = measured(kind, make, tmp_path)
    assert worst <= max(FLOOR, TIMES * intact)
    assert highest - peak <= MEMORY


def _peak() -> int:
    # Not getrusage: its peak is at least that of the process that started this one.
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    begin = time.process_time()
    read(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    sys.stdout.write(json.dumps([time.process_time() - begin, _peak()]))
