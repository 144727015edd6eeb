"""A whole TensorBoard, if BENCH_PEERS has one: its web server and its server in Rust, beside our server and pages."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.measure import NO_BOUND, Figure, cpu_of_family, free_port
from benchmarks.peers import RUST

NAME = "TensorBoard, whole: its server in Rust and its web server"
PAGE = "?darkMode=false#timeseries"
PAINTED = """(least) => {
  const cards = [...document.querySelectorAll("scalar-card")];
  const drawn = cards.filter((card) => card.querySelector("line-chart") && !card.querySelector("mat-spinner"));
  return drawn.length >= least;
}"""
"""A function of JavaScript: whether at least that many cards show their curves."""
_READ = (b"load cycle", b"finish")
_VERBOSE = "--verbosity=0"  # INFO: the server in Rust tells the end of its first reading
_READ_S, _ANSWERED_S = 120.0, 60.0


def there_is_one() -> bool:
    """Whether BENCH_PEERS has a TensorBoard."""
    return RUST.python is not None


@contextlib.contextmanager
def tensorboard(base: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A TensorBoard that has read a directory and answered its first page: (process, address)."""
    port = free_port()
    command = [str(RUST.python), "-m", "tensorboard.main", "--logdir", str(base), "--port", str(port), "--load_fast=true"]
    process = subprocess.Popen([*command, _VERBOSE], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    address = f"http://localhost:{port}"
    is_read = threading.Event()
    threading.Thread(target=_follow, args=(process.stderr or (), is_read), daemon=True).start()
    try:
        if not is_read.wait(_READ_S):
            raise RuntimeError(f"TensorBoard has not read {base} in {_READ_S:g} s")
        _answered(address)
        yield process, address
    finally:
        process.terminate()
        process.wait(20)


def _follow(told: Iterable[bytes], is_read: threading.Event) -> None:
    """Read what it tells until it ends, as it would wait for us otherwise."""
    for line in told:
        if all(word in line.lower() for word in _READ):
            is_read.set()


def started(base: Path, times: int) -> list[Figure]:
    """Return the CPU seconds of all its processes until a directory is read and the first page answered; [] without it."""
    if not there_is_one():
        return []
    spent = []
    for _ in range(times):
        with tensorboard(base) as (process, _address):
            spent.append(cpu_of_family(process.pid))
    return [Figure(f"  {NAME}", "CPU s", NO_BOUND, tuple(spent))]


def _answered(address: str) -> None:
    end = time.monotonic() + _ANSWERED_S
    while True:
        try:
            for path in ("/", "/data/runs"):
                with urllib.request.urlopen(address + path, timeout=30) as answer:
                    answer.read()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
