"""A server's threads share a few arenas of malloc, so that what one of them freed is there for all."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

THREADS = 12
SCRIPT = f"""
import ctypes, sys, threading
from types import SimpleNamespace
from app.commands import serving

if sys.argv[1] == "limited":
    serving._set_up_process(SimpleNamespace(debug=False))
met = threading.Barrier({THREADS})
threads = [threading.Thread(target=lambda: (bytearray(50_000), met.wait())) for _ in range({THREADS})]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def arenas(how: str, **more: str) -> int:
    """Return how many arenas a process has after its threads ran at once."""
    environment = {name: value for name, value in os.environ.items() if name != "MALLOC_ARENA_MAX"} | more
    done = subprocess.run([sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=True, env=environment)
    return sum(line.startswith("Arena ") for line in done.stderr.splitlines())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's malloc has arenas")
def test_threads_of_a_server_share_two_arenas() -> None:
    assert arenas("limited") <= 2
    assert arenas("as usual", MALLOC_ARENA_MAX="20") > 2
    assert arenas("limited", MALLOC_ARENA_MAX="20") > 2, "whoever sets the variable is not overruled"
