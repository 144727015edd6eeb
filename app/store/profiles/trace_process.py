"""Reads a trace and writes its columns, its pyramid, and its idle time by cause: a separate program, which `traces` starts and
can kill.

    python -m app.store.profiles.trace_process DIRECTORY NAME SOURCE...

writes a line "<bytes read> <bytes>" now and then, "storing" when all are read, "columns" when they can be opened, and then
"<slices done> <slices>" of the pyramid, and "pyramid" when it is built; idle time comes last. Its exit code is 0 if the
directory is complete.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from parsers.profiler.trace import idle, pyramid, sources, storage

PAUSE = 0.1
"""Seconds between two lines."""


def main(directory: str, name: str, *paths: str) -> None:
    """Read the files, write the directory."""
    said = 0.0

    def say(done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= PAUSE:
            said = now
            _write(f"{done} {total}")

    trace = sources.read_all(sources.TraceFiles(name, paths), progress=say)
    _write("storing")
    Path(directory).mkdir(parents=True, exist_ok=True)
    storage.write(trace, directory)
    _write("columns")
    pyramid.build(trace, directory, progress=say)
    _write("pyramid")
    del trace
    idle.write(idle.find(storage.open(directory, verify=False), pyramid.open(directory)), directory)


def _write(line: str) -> None:
    """Write a line at once. This fails when nobody listens any more, which ends this process with its server."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(5)
    main(*sys.argv[1:])
