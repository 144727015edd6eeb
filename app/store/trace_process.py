"""Reads a trace and writes its columns and its pyramid: a separate program, which `traces` starts and can kill.

    python -m app.store.trace_process SOURCE DIRECTORY

prints a line "<bytes read> <bytes>" now and then, and "indexing" when all are read; its exit code is 0 if the directory has been
written.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from parsers.profiler.trace import pyramid, sources, storage

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
            print(done, total, flush=True)  # fails once nobody listens, which ends this process with its server

    trace = sources.read(source, progress=say)
    print("indexing", flush=True)
    Path(directory).mkdir(parents=True, exist_ok=True)
    storage.write(trace, directory)
    pyramid.build(trace, directory)


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)
    main(*sys.argv[1:])
