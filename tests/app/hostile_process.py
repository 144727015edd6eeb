"""The program of `app.engine_process`, in which files do what their directory is named after: kill, hang, fail."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from app.engine_process import main
from parsers.profiler.progress import report_read
from parsers.profiler.ranks import columns_of
from parsers.profiler.sessions import ProfileFile

ACTS = ("kills", "once", "raises", "prints", "hangs", "slow")


def read(files: Sequence[ProfileFile], what: Sequence[str]) -> bytes:
    """Read the files of a rank, unless the name of a directory above says otherwise."""
    above = Path(files[0].path).parents
    folder = next((one for one in above if one.name.split("_")[0] in ACTS), above[0])
    act = folder.name.split("_")[0]
    if act == "kills" or (act == "once" and not (folder / "seen").exists()):
        with open(folder / "seen", "a", encoding="utf-8") as seen:
            seen.write(act)
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "raises":
        raise MemoryError("no room")
    if act == "prints":
        sys.stdout.write("not an answer\n")
        sys.stdout.flush()
    if act == "hangs":
        (folder / "seen").touch()
        time.sleep(600)
    if act == "slow":
        for _ in range(3):
            time.sleep(0.15)
            report_read(files[0].size)
    return columns_of(files, what)


if __name__ == "__main__":
    main(read)
