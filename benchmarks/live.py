"""Live training: a tensor of 100 MB is fetched from training in another process and shown."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Figure, in_fresh_process

LARGE_BYTES = 100_000_000
ROOT = Path(__file__).parent.parent


def figures(times: int) -> list[Figure]:
    """Fetch the tensor in fresh processes."""
    found = in_fresh_process("benchmarks.live", "fetch", str(LARGE_BYTES), times=times)
    return [
        Figure("memory to receive and show a tensor of 100 MB / its size", "x", 2.2, tuple(one["ratio"] for one in found)),
        Figure("processor time to receive it", "CPU s", 1.0, tuple(one["cpu"] for one in found)),
    ]


def fetch(size: int) -> dict[str, float]:
    """Return the memory that fetching and showing a tensor takes, as a multiple of its size, and CPU seconds to receive it."""
    from app.live.server import DebuggerServer
    from app.live.sessions import Sessions
    from app.store.store import Store
    from app.web.server import create_app

    sessions = Sessions()
    server = DebuggerServer(sessions, port=0)
    command = [sys.executable, "-m", "tests.writers.debugger_client", str(server.port), "--large", str(size)]
    with tempfile.TemporaryDirectory() as base, subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as client:
        store = Store([base], sessions=sessions).start()
        pages = create_app(store).server.test_client()
        try:
            while not any(one.state == "waiting" for one in store.live.status().sessions):
                time.sleep(0.05)
            shown(pages, store, "fc0.weight")  # what the first tensor imports is no part of the second
            before = rss_bytes()
            cpu = time.process_time()
            values = shown(pages, store, "large.weight")
            cpu = time.process_time() - cpu
            peak = peak_bytes()
            assert values == size
            return {"ratio": (peak - before) / size, "cpu": cpu}
        finally:
            client.kill()
            store.stop()
            server.stop()


def shown(pages: Any, store: Any, name: str) -> int:
    """Fetch a parameter as the page does: a rectangle of values, and statistics; return its bytes."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        opened = store.dumps.open("live:1")
        tensors = opened.dump.tensors
        row = int(np.flatnonzero(((tensors["name"] == name) & (tensors["iteration"] == 0)).to_numpy())[-1])
        answer = pages.get(
            f"/api/dump-values?run=live:1&row={row}&mark={opened.mark}&rows=0:64&cols=0:64", headers={"Host": "localhost"}
        )
        if answer.status_code == 200:
            told = store.dumps.open("live:1").dump.statistics_of([row]).iloc[0]
            assert told["source"] == "computed"
            return int(told["count"]) * 4
        time.sleep(0.02)
    raise TimeoutError(answer.get_data(as_text=True))


def peak_bytes() -> int:
    """Return the most memory that this process has had. (What `getrusage` says includes its parent's when it was started.)"""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024


def rss_bytes() -> int:
    """Return the memory of this process now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    print(json.dumps(fetch(int(sys.argv[2]))))
