"""What `app.dask_engine` has done on workers, in which ranks do what their directory is named after: kill, fail, hang."""

from __future__ import annotations

import os

import msgspec

from app.dask_pieces import read_rank
from app.engine_process import RankFilesMessage
from parsers.profiler.sessions import ProfileFile
from tests.app.hostile_process import read


def act(body: msgspec.Raw) -> bytes:
    """Read the files of a rank, unless the name of a directory above says otherwise."""
    asked = msgspec.msgpack.decode(body, type=RankFilesMessage)
    files = [ProfileFile(os.fsdecode(one.path), one.name, one.kind, one.rank, one.size, one.mtime_ns) for one in asked.files]
    read(files, asked.what)
    return read_rank(body)
