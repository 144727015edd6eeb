"""What open pages without new data cost: the polls of fifty in the server, in percent of a core.

The polls are sent at the pace of the browser's clock, as `assets/kit/chrome.js` sets it; pages send nothing else while nothing
happens (`tests/browser/shell/test_idle.py`).
"""

from __future__ import annotations

import gzip
import http.client
import json
import time
from urllib.parse import urlsplit

from benchmarks.data import folder
from benchmarks.measure import Figure, cpu_seconds
from benchmarks.starting import server, wait_for

PAGES = 50
EVERY = 3.0
"""Seconds between polls of a page with the usual settings."""
SECONDS = 30.0
OUTPUTS = ("status", "version", "mark", "changes")
FRAME = "ms-scalars"


def figures(times: int) -> list[Figure]:
    """Measure a server over one run of ten tags with fifty pages, in all: what it does without pages is part of it."""
    shares = []
    for _ in range(times):
        with server(folder() / "ms" / "S1", "--no-cache") as (process, address):
            wait_for(address, 1_000_000)
            connections = [http.client.HTTPConnection(urlsplit(address).netloc, timeout=30) for _ in range(PAGES)]
            known = _poll(connections[0], None, None)
            time.sleep(5)
            begun, before = time.monotonic(), cpu_seconds(process.pid)
            _polls(connections, known["version"], known["mark"], begun)
            shares.append(100 * (cpu_seconds(process.pid) - before) / (time.monotonic() - begun))
    return [Figure(f"server with {PAGES} open pages and no new data: share of a core", "%", 2.0, tuple(shares))]


def _polls(connections: list[http.client.HTTPConnection], version: str, mark: str, begun: float) -> None:
    for number in range(int(PAGES * SECONDS / EVERY)):
        time.sleep(max(0.0, begun + number * EVERY / PAGES - time.monotonic()))
        answer = _poll(connections[number % PAGES], version, mark)
        if "version" in answer:
            raise RuntimeError("nothing happened, but the version changed")


def _poll(connection: http.client.HTTPConnection, version: str | None, mark: str | None) -> dict[str, str]:
    """Send a poll; return the new values of version and mark, if there are any."""
    sent = {
        "output": ".." + "...".join(f"{FRAME}-{part}.data" for part in OUTPUTS) + "..",
        "outputs": [{"id": f"{FRAME}-{part}", "property": "data"} for part in OUTPUTS],
        "inputs": [
            {"id": f"{FRAME}-interval", "property": "n_intervals", "value": 1},
            {"id": f"{FRAME}-reload", "property": "data", "value": 0},
        ],
        "changedPropIds": [f"{FRAME}-interval.n_intervals"],
        "state": [
            {"id": f"{FRAME}-version", "property": "data", "value": version},
            {"id": f"{FRAME}-mark", "property": "data", "value": mark},
        ],
    }
    headers = {
        "Content-Type": "application/json", "Origin": f"http://{connection.host}:{connection.port}", "Accept-Encoding": "gzip",
    }  # fmt: skip
    connection.request("POST", "/_dash-update-component", json.dumps(sent), headers)
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {body[:300]!r}")
    if response.getheader("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    found = json.loads(body)["response"]
    return {part: found[f"{FRAME}-{part}"]["data"] for part in ("version", "mark") if f"{FRAME}-{part}" in found}
