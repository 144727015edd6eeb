"""What a mirror costs: listings of many objects, new ones, and a large one that grew, against an object store of our own.

The store is a thread of this process that answers the two requests a mirror sends; moto takes seconds for a listing. The mirror
is the command as users run it, in a process of its own. What a mirror of nothing costs, its imports, is taken off. This needs
`mindscope[s3]`: without it there are no figures (`make test-remote` makes an environment that has it).
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from app.mirror.planning import CPU_SHARE
from benchmarks.measure import ROOT, Figure

KNOWN, NEW, SMALL = 10_000, 2_000, 200
LARGE, GROWTH = 1_000_000_000, 1_000_000
_PAGE = 1000
_ENTRY = (
    "<Contents><Key>{}</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified><ETag>&quot;{}&quot;</ETag>"
    "<Size>{}</Size></Contents>"
)


@dataclass(slots=True)
class Store:
    """Objects of zeros: sizes by key, and what was asked for."""

    sizes: dict[str, int] = field(default_factory=dict)
    port: int = 0
    requests: int = 0
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """cpu in seconds, memory in MB, requests, and bytes of objects sent."""

    cpu: float
    memory: float
    requests: int
    sent: int


def figures(times: int) -> list[Figure]:
    """Measure mirrors of 10,000 known objects, of 2,000 new ones and of 1 GB that grew by 1 MB."""
    if importlib.util.find_spec("s3fs") is None:
        print("     mindscope[s3] is not installed: no figures of mirrors")
        return []
    found = [_measured() for _ in range(times)]
    unchanged, new, grown, memory = zip(*found, strict=True)
    return [
        Figure(f"mirror: full listing of {KNOWN:,} known objects, CPU", "s", 2.0, unchanged),
        Figure("mirror: the same on average, share of a core", "%", 3.0, tuple(_share(one) for one in unchanged)),
        Figure(f"mirror: a new object of {SMALL} bytes, CPU", "ms", 5.0, tuple(1000 * one for one in new)),
        Figure("mirror: 1 GB that grew by 1 MB, requests", "", 2, tuple(float(one.requests) for one in grown)),
        Figure("mirror: 1 GB that grew by 1 MB, read", "MB", 1.1, tuple(one.sent / 1e6 for one in grown)),
        Figure("mirror: memory, the most of all these", "MB", 150, memory),
    ]


def _share(cpu: float) -> float:
    """Return the percent of a core that listings take whose processor time is this, as `seconds_between` sets them apart."""
    return 100 * cpu / max(10.0, cpu / CPU_SHARE)


def _measured() -> tuple[float, float, Cost, float]:
    with _served() as store, tempfile.TemporaryDirectory() as place:
        nothing = _run(store, place, "nothing")
        store.sizes = _many("known", KNOWN)
        _run(store, place, "known")
        known = _run(store, place, "known")
        store.sizes = _many("new", NEW)
        copied = _run(store, place, "new")
        listed = _run(store, place, "new")
        store.sizes = {"large/events.out.tfevents.1": LARGE}
        _run(store, place, "large")
        store.sizes["large/events.out.tfevents.1"] += GROWTH
        grown = _run(store, place, "large")
        memory = max(one.memory for one in (known, copied, listed, grown))
        return known.cpu - nothing.cpu, (copied.cpu - listed.cpu) / NEW, grown, memory


def _many(prefix: str, number: int) -> dict[str, int]:
    return {f"{prefix}/run{one // 20:05}/events.out.tfevents.{one}": SMALL for one in range(number)}


def _run(store: Store, place: str, name: str) -> Cost:
    before, sent = store.requests, store.sent
    environment = os.environ | {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{store.port}", "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "here",
    }  # fmt: skip
    command = [sys.executable, "-m", "app", "mirror", f"s3://bucket/{name}", str(Path(place) / name), "--once"]
    child = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"the mirror of {name} ended with {child.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, store.requests - before, store.sent - sent)


@contextlib.contextmanager
def _served() -> Iterator[Store]:
    store = Store()

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            store.requests += 1
            asked = urlsplit(self.path)
            if "list-type" in asked.query:
                self._answer(200, _page(store, parse_qs(asked.query)), "application/xml")
                return
            size = store.sizes[unquote(asked.path).removeprefix("/bucket/")]
            first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last), size - 1) + 1
            self._answer(206, end - begin, "binary/octet-stream", {"Content-Range": f"bytes {begin}-{end - 1}/{size}"})
            store.sent += end - begin

        def _answer(self, status: int, body: bytes | int, kind: str, more: dict[str, str] | None = None) -> None:
            length = body if isinstance(body, int) else len(body)
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(length), **(more or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            if isinstance(body, bytes):
                self.wfile.write(body)
                return
            zeros = bytes(1 << 20)
            for begin in range(0, length, len(zeros)):
                self.wfile.write(zeros[: length - begin])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name of the class above
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    store.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()


def _page(store: Store, asked: dict[str, list[str]]) -> bytes:
    prefix, begin = asked["prefix"][0], int(asked.get("continuation-token", ["0"])[0])
    keys = [key for key in store.sizes if key.startswith(prefix)]
    some = keys[begin : begin + _PAGE]
    more = begin + len(some) < len(keys)
    tags = {key: hashlib.md5(f"{key}{store.sizes[key]}".encode(), usedforsecurity=False).hexdigest() for key in some}
    contents = "".join(_ENTRY.format(key, tags[key], store.sizes[key]) for key in some)
    following = f"<NextContinuationToken>{begin + len(some)}</NextContinuationToken>" if more else ""
    truncated = f"<IsTruncated>{str(more).lower()}</IsTruncated>{following}"
    return f"<ListBucketResult><Name>bucket</Name>{truncated}{contents}</ListBucketResult>".encode()
