"""A million files in one directory and a hundred thousand directories: listed within a bound of time and memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

CPU_SECONDS = 60.0
MEMORY = 500 << 20
INODES = 1_200_000
LIST = """
import json, sys, time
from parsers.discovery.scanner import Scanner
began = time.process_time()
runs = Scanner(sys.argv[1]).scan()
seconds = time.process_time() - began
peak = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) * 1024
print(json.dumps([len(runs), sum(len(run.files) for run in runs), seconds, peak]))
"""


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    """A directory that is deleted at once: pytest keeps those of three runs."""
    if os.statvfs(tmp_path).f_favail < INODES:
        pytest.skip("needs a file system with room for a million files")
    yield tmp_path
    shutil.rmtree(tmp_path)


def touch(name: str, directory: int) -> None:
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=directory))


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
@pytest.mark.parametrize(("directories", "files"), [(0, 1_000_000), (100_000, 1)])
def test_a_million_files_and_a_hundred_thousand_directories_are_listed(base: Path, directories: int, files: int) -> None:
    opened = os.open(base, os.O_RDONLY)
    try:
        for number in range(directories):
            os.mkdir(f"run{number}", dir_fd=opened)
        for number in range(max(directories, files)):
            below = f"run{number}/" if directories else ""
            touch(f"{below}events.out.events.summary.{1_600_000_000 + number % 100_000}.{number}.h_MS", opened)
    finally:
        os.close(opened)
    done = subprocess.run([sys.executable, "-c", LIST, str(base)], capture_output=True, text=True, check=True)
    runs, listed, seconds, peak = json.loads(done.stdout)
    assert (runs, listed) == ((directories, directories) if directories else (1, files))
    assert seconds <= CPU_SECONDS
    assert peak <= MEMORY
