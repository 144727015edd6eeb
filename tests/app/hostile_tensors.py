"""The program of `app.tensor_process`, in which files do what their names contain: kill, hang."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import msgspec

from app.tasks import serve
from app.tensor_process import TensorsMessage, measured


def do(body: msgspec.Raw) -> bytes:
    """Measure tensors, unless the name of one says otherwise."""
    asked = msgspec.msgpack.decode(body, type=TensorsMessage)
    for one in asked.tensors:
        path = Path(os.fsdecode(one.path))
        if "_kills" in path.name:
            os.kill(os.getpid(), signal.SIGKILL)
        if "_hangs" in path.name:
            (path.parents[2] / "seen").touch()
            time.sleep(600)
    return measured(asked)


if __name__ == "__main__":
    serve(do)
