"""Reads a trace and writes its columns, its pyramid, and its idle time by cause: a separate program, which `traces` starts and
can kill.

    python -m app.store.trace_process SOURCE DIRECTORY

writes a line "<bytes read> <bytes>" now and then, and "indexing" when all are read; its exit code is 0 if the directory is
complete.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from parsers.profiler.trace import idle, pyramid, sources, storage

PAUSE = 0.1
"""Seconds between two lines."""


def main(source: str, directory: str) -> None:
    """Read the source, write the directory."""
    said = 0.0

    def say(done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= PAUSE:
            said = now
            _write(f"{done} {total}")

    trace = sources.read(source, progress=say)
    _write("indexing")
    Path(directory).mkdir(parents=True, exist_ok=True)
    storage.write(trace, directory)
    pyramid.build(trace, directory)
    del trace
    stored = storage.open(directory)
    idle.write(idle.find(stored, pyramid.open(directory)), directory)


def _write(line: str) -> None:
    """Write a line at once. This fails when nobody listens any more, which ends this process with its server."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)
    main(*sys.argv[1:])
