"""Reads a growing text file by whole lines, in pieces; what follows the last line end waits for its rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from parsers.files import RegularFile
from parsers.model import Batch, Cursor, Problem, ScalarBlock
from parsers.tables.rows import LONGEST_LINE, MetricRows

PIECE = 8 << 20
"""Bytes that are read at a time."""
ROW = "row"
"""What the number of the next row is named in `Cursor.plugins`."""

Add = Callable[[MetricRows, bytes, int], tuple[list[ScalarBlock], int]]
"""Takes rows, whole lines and the byte at which they begin; returns blocks, and how many bytes of them it has read."""


def read_lines(file: RegularFile, resumed: Cursor, limit: int | None, add: Add) -> Batch:
    """Read the lines after the cursor; about `limit` bytes of them if there is a limit."""
    rows = MetricRows(file.path, number=int(dict(resumed.plugins).get(ROW, "0")))
    blocks: list[ScalarBlock] = []
    begin = offset = resumed.offset
    stopped = False
    while offset < file.size:
        if limit is not None and offset - begin >= limit:
            stopped = True
            break
        data = _lines(file, offset, PIECE if limit is None else max(min(PIECE, limit), 1 << 16))
        if not data:
            break
        if not data.endswith(b"\n"):
            used = file.next_data(offset + len(data)) - offset  # a hole has no end of the line
            rows.complain(offset, used, f"A line has more than {LONGEST_LINE:,} bytes; it was skipped.")
        else:
            found, used = add(rows, data, offset)
            blocks += found
        offset += used
        if not used:
            break
    blocks += rows.blocks()
    pending = 0 if stopped else file.size - offset
    text = f"The last line has no end: {pending:,} bytes were not read. All lines before it are shown."
    return Batch(
        file.cursor(offset, file.size, plugins=((ROW, str(rows.number)),)), blocks, problems=rows.problems,
        records=rows.records, bytes_read=offset - begin, pending=pending, more=stopped,
        tail=Problem(file.path, offset, pending, "truncated", text) if pending else None, started=_started(blocks),
    )  # fmt: skip


def _lines(file: RegularFile, offset: int, length: int) -> bytes:
    """Return whole lines of about this length; nothing if none ends, LONGEST_LINE bytes without an end if one is too long."""
    while True:
        data = file.read(offset, length)
        end = data.rfind(b"\n") + 1
        if end:
            return data[:end]
        if length >= LONGEST_LINE:
            return data if len(data) >= LONGEST_LINE else b""
        if len(data) < length:
            return b""
        length = min(length * 4, LONGEST_LINE)


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield place and bytes of each line, without its end."""
    # Not splitlines: it also splits at a lone "\r".
    begin = 0
    while (end := data.find(b"\n", begin)) >= 0:
        yield begin, data[begin:end]
        begin = end + 1


def _started(blocks: list[ScalarBlock]) -> float | None:
    times = [float(time) for block in blocks for time in block.wall_time[:1] if time == time]
    return min(times, default=None)
