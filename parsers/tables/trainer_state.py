"""Reads trainer_state.json, which the Trainer of Hugging Face Transformers writes beside each checkpoint and with `save_state`.

Read is `log_history`: every number of its entries is a scalar at their `step`. The file has no times, and is written anew each
time. Of the checkpoints of a training only the newest is read, which has the history of all (`parsers.discovery.joining`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from parsers.file_reading import read_whole
from parsers.files import RegularFile
from parsers.json_text import parse_json
from parsers.model import Batch, Cursor, Problem, Reader
from parsers.tables.rows import MetricRows

LARGEST = 256 << 20
"""Bytes. A larger file is refused: JSON has to be read whole."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainerStateReader(Reader):
    """Reads trainer_state.json."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:  # noqa: ARG002  one piece
        """Read the whole history; nothing if the file has not changed."""
        return read_whole(path, cursor, _read)


TRAINER_STATE = TrainerStateReader(name="trainer_state", pattern=re.compile(r"\Atrainer_state\.json\Z"))


def _read(file: RegularFile, now: Cursor) -> Batch:
    if file.size > LARGEST:
        return _refused(file, now, f"a file of at most {LARGEST:,} bytes, found {file.size:,}")
    try:
        state = parse_json(file.whole().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return _refused(file, now, f"JSON, found {error}")
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list):
        return _refused(file, now, "a list `log_history`, found none")
    rows = MetricRows(file.path)
    for number, entry in enumerate(history):
        if isinstance(entry, dict):
            rows.add(entry, number)
        else:
            rows.complain(0, 0, f"Expected an object as entry {number} of `log_history`; it was skipped.")
    return Batch(now, rows.blocks(), problems=rows.problems, records=rows.records or 1, bytes_read=file.size)


def _refused(file: RegularFile, now: Cursor, text: str) -> Batch:
    problem = Problem(file.path, 0, file.size, "bad_table", f"Expected {text}; the file was skipped.")
    return Batch(now, problems=[problem], bytes_read=file.size)
