"""The kinds of files this library reads: one line each. A format is recognised by its content first, by its name second.

To add a format, write one module with a `Reader` and add it to READERS. Discovery, the list of runs, `open_run`, `check`,
export and the contract tests take it from there; the contract tests need a sample under tests/data/<producer>/<version>/.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from fnmatch import translate

from parsers.checkpoints import LANDSCAPE_FILES
from parsers.events.explain import EXPLAIN
from parsers.events.lineage import LINEAGE
from parsers.events.mindspore import MINDSPORE
from parsers.events.tensorboard import TENSORBOARD
from parsers.files import beginning
from parsers.graphs.conversion import CONVERSIONS
from parsers.graphs.reader import GRAPHS
from parsers.lineage.configs import CONFIGS
from parsers.mlflow.database import MLFLOW_DATABASE, MLFLOW_RUN
from parsers.mlflow.directories import MLFLOW_METRIC
from parsers.model import FileKind, Reader, SourceFile
from parsers.nsys import NSYS
from parsers.tables.csv_tables import CSV_TABLES
from parsers.tables.json_lines import JSON_LINES
from parsers.tables.trainer_state import TRAINER_STATE
from parsers.wandb.reader import WANDB

HEAD = 4096

# Where content and name leave a choice, the first one is taken.
READERS: tuple[Reader, ...] = (
    MINDSPORE,
    LINEAGE,
    EXPLAIN,
    TENSORBOARD,
    GRAPHS,
    CSV_TABLES,
    JSON_LINES,
    TRAINER_STATE,
    WANDB,
    CONVERSIONS,
)
# Readers of what no name of a file tells: discovery says where it is.
PLACED: tuple[Reader, ...] = (MLFLOW_METRIC, MLFLOW_RUN, NSYS)
# Kinds of files that belong to a run, whether a Reader reads them or not.
KINDS: tuple[FileKind, ...] = (*READERS, CONFIGS, LANDSCAPE_FILES, MLFLOW_DATABASE)


# Most files of a directory are of no kind: one search rejects them.
_ANY = re.compile("|".join(re.sub(r"\(\?P<\w+>", "(?:", kind.pattern.pattern) for kind in KINDS))


_tables: list[re.Pattern[str]] = []


def read_as_tables(patterns: Sequence[str]) -> None:
    """Read files whose names match one of these patterns, as `*_log.csv`, as tables of metrics too, in the whole program."""
    _tables[:] = [re.compile(translate(pattern)) for pattern in patterns]


def kind_of(name: str) -> tuple[FileKind, int | None] | None:
    """Return the kind of a file and the seconds in its name, by its name alone; None for a file of no interest."""
    if "summary." in name or _ANY.search(name):  # the first is a tenth of the second, and true of most event files
        for kind in KINDS:
            match = kind.pattern.search(name)
            if match is not None:
                return kind, kind.stamp(match)
    if any(pattern.match(name) for pattern in _tables):
        return JSON_LINES if re.search(r"json[^.]*\Z", name) else CSV_TABLES, None
    return None


def reader_for(path: str, head: bytes | None = None) -> Reader | None:
    """Return the reader of a file, or None. head is its first up to 4,096 bytes; they are read if they are not given."""
    name = os.path.basename(path)
    content = _head(path) if head is None else head
    by_name = []
    for reader in READERS:
        if reader.named(name):
            if reader.sniff(content):
                return reader
            by_name.append(reader)
    others = (reader for reader in READERS if reader not in by_name)
    return next((reader for reader in others if reader.sniff(content)), None) or next(iter(by_name), None)


def reader_named(name: str) -> Reader | None:
    """Return the reader of a name, or None."""
    return next((reader for reader in (*READERS, *PLACED) if reader.name == name), None)


def reader_of_file(file: SourceFile, known: str = "") -> Reader:
    """Return the reader that has begun a file (known is its name), else the one for its content, its name or its kind."""
    placed = next((reader for reader in PLACED if reader.name == file.kind), None)
    found = placed or reader_named(known) or reader_for(file.path) or reader_named(file.kind)
    if found is None:
        raise LookupError(f"{file.path}: no reader for files of kind {file.kind!r}")
    return found


def _head(path: str) -> bytes:
    try:
        return beginning(path, HEAD)
    except OSError:
        return b""
