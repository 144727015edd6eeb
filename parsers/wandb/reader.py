"""Reads run-<id>.wandb, which wandb writes beside each run; `WANDB_MODE=offline` leaves it in offline-run-*.

Read are the rows of the history (every number is a scalar; nested names are joined by "/"), system metrics as `system/...`,
whose step is the number of the sample, and config and summary as settings. Media, tables, code, console output and telemetry
are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from parsers.errors import FormatError
from parsers.events.wire import WireError
from parsers.file_reading import read_growing
from parsers.files import RegularFile
from parsers.lineage.values import Setting
from parsers.model import Batch, Cursor, PayloadBlock, Problem, Reader, ScalarBlock
from parsers.tables.rows import MOST_TAGS, STEPS, TIMES, MetricRows
from parsers.wandb import messages
from parsers.wandb.chunks import BLOCK, HEADER, Chunks

SAMPLES = "samples"
"""What the number of the next sample of system metrics is named in `Cursor.plugins`."""
MOST_SETTINGS = 1000
_NO_SCALARS = ("_runtime",)
_OF_ROWS = (b"_runtime", b"_wandb")
"""What a summary has that wandb updates with each row."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WandbReader(Reader):
    """Reads .wandb files."""

    def sniff(self, head: bytes) -> bool:
        """Return whether a file begins with the mark of the format."""
        return head.startswith(HEADER[:4])

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read the records after the cursor; an unfinished last one waits for its rest."""
        return read_growing(path, cursor, lambda file, resumed: _read(file, resumed, limit))

    def settings(self, path: str, places: Sequence[int]) -> tuple[Mapping[str, Setting], Sequence[Problem]]:
        """Return what the records at these offsets say; a later one replaces what an earlier one says."""
        found: dict[str, Setting] = {}
        problems = []
        try:
            with RegularFile(path) as file:
                for place in places[-MOST_SETTINGS:]:
                    data = next((data for at, data in Chunks(file, place, BLOCK).records() if at == place), b"")
                    try:
                        found |= messages.settings(data)
                    except FormatError as error:
                        problems.append(Problem(path, place, len(data), "bad_value", f"Settings cannot be read: {error}."))
        except OSError:
            return found, problems  # which reading it says
        return found, problems


WANDB = WandbReader(name="wandb", pattern=re.compile(r"\.wandb\Z"), signed=True, appendable=True, checksummed=True)


class _Reading:
    """What the records of one read say."""

    def __init__(self, path: str, samples: int) -> None:
        self.history, self.system = MetricRows(path), MetricRows(path, samples)
        self.settings: list[int] = []
        self._rows: dict[tuple[str, ...], tuple[list[int], list[list[float]]]] = {}
        self._names, self._samples = messages.FieldNames(), messages.FieldNames()

    def add(self, offset: int, data: bytes) -> None:
        """Take one record; FormatError, WireError or IndexError if it is none."""
        number, content = messages.record(data)
        if number == messages.HISTORY:
            self._add_row(offset, content)
        elif number == messages.STATS:
            time = messages.stats_time(content)
            items = dict(self._samples.items(_items_of(content), 3))
            numbers = {f"system/{name}": found for name, value in items.items() if (found := _number(value)) is not None}
            self.system.add({**numbers, "timestamp": time}, offset)
        elif number in (messages.RUN, messages.CONFIG) or (number == messages.SUMMARY and not any(m in data for m in _OF_ROWS)):
            self.settings.append(offset)


    def _add_row(self, offset: int, content: memoryview) -> None:
        names, values = self._names.names_and_values(bytes(content), 1)
        try:
            numbers = [*map(float, values)]
        except ValueError:
            pairs = [(name, one) for name, value in zip(names, values, strict=True) if (one := _number(value)) is not None]
            names, numbers = tuple(name for name, _ in pairs), [one for _, one in pairs]
        if "_step" not in names:
            step = messages.step_of(content)
            if step is not None:
                names, numbers = (*names, "_step"), [*numbers, float(step)]
        offsets, rows = self._rows.setdefault(names, ([], []))
        offsets.append(offset)
        rows.append(numbers)

    def blocks(self) -> list[ScalarBlock]:
        """Return history and system metrics."""
        blocks = [self._block(names, *rows) for names, rows in self._rows.items()]
        return [*filter(None, blocks), *self.history.blocks(), *self.system.blocks()]

    def _block(self, names: tuple[str, ...], offsets: list[int], rows: list[list[float]]) -> ScalarBlock | None:
        """Return the rows with the same names; None if there is none, or they were put into `history` one by one."""
        columns = np.array(rows, np.float64).T
        step = columns[names.index("_step")] if "_step" in names else np.full(len(rows), np.nan)
        with np.errstate(invalid="ignore"):
            plain = bool((np.abs(step) < 2**53).all() and (step == np.floor(step)).all())
        if not plain or len(set(names)) < len(names):
            for offset, row in zip(offsets, rows, strict=True):
                values = dict(zip(names, row, strict=True))
                self.history.add({name: value for name, value in values.items() if name not in _NO_SCALARS}, offset)
            return None
        time = columns[names.index("_timestamp")] if "_timestamp" in names else np.full(len(rows), np.nan)
        kept = [place for place, name in enumerate(names) if name and name not in _NO_SCALARS and name not in (*STEPS, *TIMES)]
        tags = tuple(names[place] for place in kept[:MOST_TAGS])
        if not tags:
            return None
        return ScalarBlock(tags, step.astype(np.int64), time, np.array(offsets, np.int64), columns[kept[:MOST_TAGS]])


def _items_of(content: memoryview) -> bytes:
    """Return the items of a record of system metrics, which come after its type and time."""
    kept = bytearray()
    at = 0
    data = bytes(content)
    while at < len(data):
        begin, key = at, data[at]
        at += 1
        if key & 7 == 0:
            _, at = messages.delimited_length(data, at)
            continue
        if key & 7 != 2:
            break
        if key >= 128:
            break  # _info
        length, at = messages.delimited_length(data, at)
        at += length
        if key == 3 << 3 | 2:
            kept += data[begin:at]
    return bytes(kept)


def _number(value: bytes) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _read(file: RegularFile, resumed: Cursor, limit: int | None) -> Batch:
    reading = _Reading(file.path, int(dict(resumed.plugins).get(SAMPLES, "0")))
    chunks = Chunks(file, resumed.offset)
    records, stopped = 0, False
    problems: list[Problem] = []
    for offset, data in chunks.records():
        try:
            reading.add(offset, data)
        except (FormatError, WireError, IndexError) as error:
            text = f"Expected a record of wandb, found {error}; it was skipped."
            problems.append(Problem(file.path, offset, len(data), "bad_message", text))
        records += 1
        if limit is not None and chunks.end - resumed.offset >= limit:
            stopped = chunks.end < file.size
            break
    blocks = reading.blocks()
    pending = file.size - chunks.end if not stopped else 0
    text = f"The last record has no end: {pending:,} bytes were not read. All records before it are shown."
    times = [float(np.nanmin(block.wall_time)) for block in blocks if not np.isnan(block.wall_time).all()]
    return Batch(
        file.cursor(chunks.end, file.size, plugins=((SAMPLES, str(reading.system.number)),)), blocks,
        _index(reading.settings, times), problems=[*chunks.problems, *problems[:1000]], records=records,
        bytes_read=chunks.end - resumed.offset, pending=pending, more=stopped,
        tail=Problem(file.path, chunks.end, pending, "truncated", text) if pending else None, started=min(times, default=None),
    )  # fmt: skip


def _index(places: list[int], times: list[float]) -> list[PayloadBlock]:
    """Return where settings are."""
    if not places:
        return []
    order = np.array(places, np.int64)
    zeros = np.zeros(len(places), np.int64)
    time = np.full(len(places), min(times, default=np.nan))
    return [PayloadBlock("settings", "config", zeros, time, order, order, zeros, np.ones(len(places), np.bool_))]
