"""Reads the event, lineage and graph files of runs: a separate program, which `engines` starts several times and may kill.

    python -m app.run_process

A task is the files of one run; its answer is their snapshot (`parsers.snapshot`). How it takes tasks and answers is in
`app.tasks`.
"""

from __future__ import annotations

import os

import msgspec

from app.tasks import serve
from parsers.model import Source, SourceFile
from parsers.payloads.cache import PayloadCache
from parsers.profiler.progress import report_read
from parsers.runs import Run
from parsers.snapshot import dump

SLICE = 32 << 20
"""Bytes that are read between two reports of progress."""


class SourceFileMessage(msgspec.Struct, array_like=True):
    """A `SourceFile`, whose path need not be text."""

    path: bytes
    kind: str
    size: int
    mtime: float
    stamp: int | None
    device: int
    inode: int


class RunMessage(msgspec.Struct, array_like=True):
    """The directory of a run, which need not be text, and its files."""

    path: bytes
    files: list[SourceFileMessage]

    @classmethod
    def of(cls, source: Source) -> RunMessage:
        """Return what is asked for a run."""
        files = [
            SourceFileMessage(os.fsencode(one.path), one.kind, one.size, one.mtime, one.stamp, one.device, one.inode)
            for one in source.files
        ]
        return cls(os.fsencode(source.path), files)

    @property
    def source(self) -> Source:
        """The run, with these files alone."""
        path = os.fsdecode(self.path)
        files = [
            SourceFile(os.fsdecode(one.path), one.kind, one.size, one.mtime, one.stamp, one.device, one.inode)
            for one in self.files
        ]
        return Source(path, path, ".", tuple(files))


def read_run(asked: RunMessage) -> bytes:
    """Return the snapshot of a run; b"" if it cannot be kept in one."""
    source = asked.source
    run = Run(source, PayloadCache())
    run.refresh(source, limit=SLICE)
    while run.behind:
        report_read(SLICE)
        run.refresh(source, limit=SLICE)
    return b"".join(dump(list(run.states.values())) or ())


def main() -> None:
    """Read runs until there are none."""
    decoder = msgspec.msgpack.Decoder(RunMessage)
    serve(lambda body: read_run(decoder.decode(body)))


if __name__ == "__main__":
    main()
