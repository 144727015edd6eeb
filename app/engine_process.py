"""Reads the files of ranks into columns: a separate program, which `engines` starts several times and may kill.

    python -m app.engine_process

It imports readers and nothing of the server; how it takes tasks and answers is in `app.tasks`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import msgspec

from app.tasks import serve
from parsers.profiler.ranks import columns_of
from parsers.profiler.sessions import ProfileFile

Read = Callable[[Sequence[ProfileFile], Sequence[str]], bytes]


class ProfileFileMessage(msgspec.Struct, array_like=True):
    """A `ProfileFile`, whose path need not be text."""

    path: bytes
    name: str
    kind: str
    rank: int
    size: int
    mtime_ns: int


class RankFilesMessage(msgspec.Struct, array_like=True):
    """What a task for a rank needs: its files, and names of frames."""

    files: list[ProfileFileMessage]
    what: tuple[str, ...]


def main(read: Read = columns_of) -> None:
    """Read ranks until there are none."""
    decoder = msgspec.msgpack.Decoder(RankFilesMessage)

    def do(body: msgspec.Raw) -> bytes:
        asked = decoder.decode(body)
        files = [
            ProfileFile(os.fsdecode(one.path), one.name, one.kind, one.rank, one.size, one.mtime_ns) for one in asked.files
        ]
        return read(files, asked.what)

    serve(do)


if __name__ == "__main__":
    main()
