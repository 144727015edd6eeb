"""Landscapes that `mindscope landscape` is computing: DIR/landscape-MARK.points, which grows with every finished point.

A line is the CRC-32 of the rest in hexadecimal, a space, and JSON. The first one describes the surfaces (`PlannedSurface`),
each further one is a point: [surface, row, column, loss, reason], where the loss is a number, "Infinity", "-Infinity" or null
for none. A line that was not written whole is still being written, or ends the file; damaged ones within it are left out.
"""

from __future__ import annotations

import math
import os
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from parsers.checkpoints import POINTS, files_in
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.model import Floats
from parsers.payloads.values import LandscapeValue

ON_PATH = -1
"""The row of the losses of the checkpoints of a path themselves."""
LONGEST_AXIS = 1000
MOST_PLACES = 1 << 24
"""Of all surfaces of a file."""
READ_BYTES = 4 << 20
LONGEST_LINE = 8 << 20
"""Bytes; only that of the surfaces is longer than a kilobyte."""
_ENDLESS = {math.inf: "Infinity", -math.inf: "-Infinity"}
_Endless = Literal["Infinity", "-Infinity"]


class Point(NamedTuple):
    """A place of a surface."""

    surface: int
    row: int
    column: int


class Loss(NamedTuple):
    """The loss at a place; NaN with the reason if there is none."""

    value: float
    reason: str = ""


class PlannedSurface(msgspec.Struct, frozen=True):
    """A surface that is computed: its axes, and the places of the checkpoints of its path, whose losses are computed too."""

    tag: str
    x: list[float]
    y: list[float]
    steps: list[Annotated[int, msgspec.Meta(ge=-(1 << 62), lt=1 << 62)]] = []
    path_x: list[float] = []
    path_y: list[float] = []
    unit: str = "step"
    steps_per_epoch: int = 0

    @property
    def size(self) -> int:
        """The number of points."""
        return len(self.x) * len(self.y) + len(self.path_x)

    @property
    def decomposition(self) -> str:
        """What the directions are, as a summary file names it."""
        return "PCA" if self.path_x else "Line" if len(self.y) == 1 else "Random"


@dataclass(frozen=True, slots=True)
class GrowingLandscape:
    """A landscape that is computed, with what is finished of it: done points of `total`.

    key tells it from others of the run and ends in its tag. reasons: of the places without a loss, by row and column. updated:
    when the last point was written, in seconds since 1970. problem: what is damaged in the file; total is 0 if nothing of it
    can be shown, and key and tag are the name of the file then.
    """

    key: str
    tag: str
    value: LandscapeValue
    done: int
    total: int
    reasons: dict[tuple[int, int], str]
    updated: float
    problem: str = ""


def line_of_surfaces(surfaces: Sequence[PlannedSurface]) -> bytes:
    """Return the first line of a file."""
    return _line(list(surfaces))


def line_of_point(point: Point, loss: Loss) -> bytes:
    """Return the line of a point."""
    value = loss.value if math.isfinite(loss.value) else _ENDLESS.get(loss.value)
    return _line([*point, value, loss.reason])


def _line(content: object) -> bytes:
    text = msgspec.json.encode(content)
    return b"%08x %s\n" % (zlib.crc32(text), text)


def text_of(line: bytes) -> bytes | None:
    """Return the JSON of a line; None for one that was not written whole."""
    whole = line[8:9] == b" " and line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])
    return line[9:-1] if whole else None


def surfaces_of(text: bytes) -> tuple[PlannedSurface, ...]:
    """Parse the first line. FormatError for surfaces that no command computes."""
    try:
        found = msgspec.json.decode(text, type=tuple[PlannedSurface, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"expected the surfaces of a computation, found {error}") from error
    longest = max((max(len(one.x), len(one.y)) for one in found), default=0)
    if longest > LONGEST_AXIS or sum(one.size for one in found) > MOST_PLACES:
        raise FormatError(f"expected up to {LONGEST_AXIS:,} places along an axis and {MOST_PLACES:,} in all, found more")
    if any({len(one.steps), len(one.path_y)} != {len(one.path_x)} for one in found if one.path_x):
        raise FormatError("expected a place of the path per step, found another number")
    return found


def point_of(text: bytes) -> tuple[Point, Loss]:
    """Parse a line of a point. FormatError for another one."""
    try:
        surface, row, column, value, reason = msgspec.json.decode(text, type=tuple[int, int, int, float | _Endless | None, str])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"expected a point, found {error}") from error
    return Point(surface, row, column), Loss(math.nan if value is None else float(value), reason)


class GrowingPoints:
    """The surfaces of a points file as far as they are finished: `refresh` reads what was appended. Any thread may use it."""

    def __init__(self, mark: str, path: str) -> None:
        self._mark, self._path = mark, path
        self._lock = threading.Lock()
        self._begin(0)

    def _begin(self, inode: int) -> None:
        self._inode, self._offset, self._updated = inode, 0, 0.0
        self._damaged, self._damage, self._unreadable = 0, "", False
        self._surfaces: tuple[PlannedSurface, ...] | None = None
        self._z: list[Floats] = []
        self._path_z: list[Floats] = []
        self._pending: list[NDArray[np.bool_]] = []
        self._path_pending: list[NDArray[np.bool_]] = []
        self._reasons: list[dict[tuple[int, int], str]] = []

    def refresh(self) -> tuple[GrowingLandscape, ...]:
        """Return the landscapes; () for a file that is gone or has no whole line yet."""
        with self._lock:
            problem = ""
            try:
                with RegularFile(self._path) as file:
                    if file.size < self._offset or file.status.st_ino != self._inode:
                        self._begin(file.status.st_ino)
                    self._updated = file.status.st_mtime
                    self._read(file)
            except FileNotFoundError:
                return ()
            except OSError as error:
                problem = f"{self._path}: expected a readable file, found {error.strerror}"
            problem = problem or self._problem()
            if problem and not self._surfaces:
                return (_nothing_of(self._path, problem, self._updated),)
            return tuple(self._landscape(number, one, problem) for number, one in enumerate(self._surfaces or ()))

    def _problem(self) -> str:
        if not self._damaged:
            return ""
        others = f"; {self._damaged - 1:,} other damaged lines are left out, too" if self._damaged > 1 else ""
        return f"{self._path}: {self._damage}; it is left out{others}"

    def _damaged_at(self, offset: int, text: str) -> None:
        if not self._damaged:
            self._damage = f"byte {offset:,}: {text}"
        self._damaged += 1

    def _read(self, file: RegularFile) -> None:
        rest = b""
        while not self._unreadable and (data := file.read(self._offset + len(rest), READ_BYTES)):
            *lines, rest = (rest + data).splitlines(keepends=True)
            if rest.endswith(b"\n"):
                lines, rest = [*lines, rest], b""
            for line in lines:
                try:
                    self._take(text_of(line))
                except FormatError as error:
                    self._damaged_at(self._offset, str(error))
                    self._unreadable = self._surfaces is None  # without them no place is known
                self._offset += len(line)
                if self._unreadable:
                    return
            if len(rest) > LONGEST_LINE:
                self._damaged_at(self._offset, f"expected lines of up to {LONGEST_LINE:,} bytes, found a longer one")
                self._unreadable = True

    def _take(self, text: bytes | None) -> None:
        if text is None:
            what = "the surfaces" if self._surfaces is None else "a point"
            raise FormatError(f"expected {what}, found a line with another checksum")
        if self._surfaces is None:
            self._surfaces = surfaces_of(text)
            self._z = [np.full((len(one.y), len(one.x)), np.nan) for one in self._surfaces]
            self._path_z = [np.full(len(one.path_x), np.nan) for one in self._surfaces]
            self._pending = [np.ones(z.shape, bool) for z in self._z]
            self._path_pending = [np.ones(z.shape, bool) for z in self._path_z]
            self._reasons = [{} for _ in self._surfaces]
            return
        (number, row, column), loss = point_of(text)
        place = (column,) if row == ON_PATH else (row, column)
        values, pending = (self._path_z, self._path_pending) if row == ON_PATH else (self._z, self._pending)
        shape = values[number].shape if 0 <= number < len(values) else (0,) * len(place)
        if not all(0 <= at < size for at, size in zip(place, shape, strict=True)):
            raise FormatError(f"expected a place of a surface, found surface {number}, row {row}, column {column}")
        values[number][place], pending[number][place] = loss.value, False
        if math.isnan(loss.value) and row != ON_PATH:
            self._reasons[number][row, column] = loss.reason

    def _landscape(self, number: int, one: PlannedSurface, problem: str) -> GrowingLandscape:
        x, y = np.array(one.x, np.float64), np.array(one.y, np.float64)
        path_x, path_y = np.array(one.path_x, np.float64), np.array(one.path_y, np.float64)
        steps = np.array(one.steps if one.path_x else (), np.int64)
        value = LandscapeValue(
            x, y, self._z[number].copy(), steps, path_x, path_y, self._path_z[number].copy(), one.decomposition, one.unit,
            one.steps_per_epoch, pending=self._pending[number].copy(),
        )  # fmt: skip
        if one.path_x and math.isfinite(value.path_z[-1]):
            value = replace(value, convergence=(float(path_x[-1]), float(path_y[-1]), float(value.path_z[-1])))
        left = int(self._pending[number].sum() + self._path_pending[number].sum())
        key = f"{self._mark}/{number}/{one.tag}"
        reasons = dict(self._reasons[number])
        return GrowingLandscape(key, one.tag, value, one.size - left, one.size, reasons, self._updated, problem)


def _nothing_of(path: str, problem: str, updated: float) -> GrowingLandscape:
    """Return what a file is shown as of which nothing is intact."""
    name, none = os.path.basename(path), np.zeros(0)
    value = LandscapeValue(none, none, np.zeros((0, 0)), np.zeros(0, np.int64), none, none, none)
    return GrowingLandscape(name, name, value, 0, 0, {}, updated, problem)


class GrowingDirectory:
    """The points files of a directory; each is kept while it is there."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._files: dict[str, GrowingPoints] = {}

    def landscapes(self) -> Sequence[GrowingLandscape]:
        """Return all landscapes that are being computed, those of the newest file first."""
        there = dict(files_in(self._directory, POINTS))
        self._files = {mark: self._files.get(mark) or GrowingPoints(mark, path) for mark, path in there.items()}
        return [one for file in self._files.values() for one in file.refresh()]
