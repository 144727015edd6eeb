"""What open pages without new data cost: the questions of fifty in the server, in percent of a core.

They are sent at the pace of the browser's clock, as `assets/kit/polling.js` has it after half a minute without news; pages send
nothing else while nothing happens (`tests/browser/shell/test_idle.py`).
"""

from __future__ import annotations

import http.client
import json
import time
from urllib.parse import urlsplit

from benchmarks.data import folder
from benchmarks.measure import Figure, cpu_seconds
from benchmarks.starting import server, wait_for

PAGES = 50
EVERY = 3.0
"""Seconds between questions of a page with the usual settings."""
SECONDS = 30.0


def figures(times: int) -> list[Figure]:
    """Measure a server over one run of ten tags with fifty pages, in all: what it does without pages is part of it."""
    shares = []
    for _ in range(times):
        with server(folder() / "ms" / "S1", "--no-cache") as (process, address):
            wait_for(address, 1_000_000)
            shares.append(share(process.pid, address))
    return [Figure(f"server with {PAGES} open pages and no new data: share of a core", "%", 2.0, tuple(shares))]


def share(pid: int, address: str) -> float:
    """Return the percent of a core that a server with open pages takes; RuntimeError if something happens meanwhile."""
    connections = [http.client.HTTPConnection(urlsplit(address).netloc, timeout=30) for _ in range(PAGES)]
    version = _version(connections[0])
    time.sleep(5)
    begun, before = time.monotonic(), cpu_seconds(pid)
    for number in range(int(PAGES * SECONDS / EVERY)):
        time.sleep(max(0.0, begun + number * EVERY / PAGES - time.monotonic()))
        if _version(connections[number % PAGES]) != version:
            raise RuntimeError("nothing happened, but the version changed")
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - begun)


def _version(connection: http.client.HTTPConnection) -> int:
    connection.request("GET", "/api/status.json", headers={"Accept-Encoding": "gzip"})
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {body[:300]!r}")
    found: int = json.loads(body)["version"]
    return found
