"""The formats this library reads. A format is recognised by its content first, by its name second."""

from __future__ import annotations

import os

from parsers.events.explain import EXPLAIN
from parsers.events.files import EventFile
from parsers.events.lineage import LINEAGE
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.graphs.reader import GRAPHS
from parsers.model import Reader

HEAD = 4096

# Where content and name leave a choice, the first one is taken.
READERS: tuple[Reader, ...] = (MINDSPORE, TENSORBOARD, LINEAGE, EXPLAIN, GRAPHS)


def reader_for(path: str, head: bytes | None = None) -> Reader | None:
    """The reader of the file, or None. head is its first up to 4,096 bytes; they are read where they are not given."""
    name = os.path.basename(path)
    by_name = [reader for reader in READERS if reader.named(name)]
    content = _head(path) if head is None else head
    by_content = [reader for reader in READERS if reader.sniff(content)]
    for reader in by_content:
        if reader in by_name:
            return reader
    return next(iter(by_content or by_name), None)


def reader_of_kind(kind: str) -> Reader | None:
    """The reader for a `SourceFile.kind`, or None."""
    return next((reader for reader in READERS if kind in reader.kinds), None)


def _head(path: str) -> bytes:
    try:
        with EventFile(path) as file:
            return file.read(0, HEAD)
    except OSError:
        return b""
