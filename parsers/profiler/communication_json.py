"""Reads communication.json and communication_matrix.json of a rank, and the cluster files of the same entries.

Times are milliseconds, begins microseconds, sizes MB of 10^6 bytes. Of a rank: {step: {p2p | collective: {operation@group:
...}}}; of cluster_communication*.json: {"(0, 1)" | p2p: {step: {operation@group: {rank: ...}}}}, in the matrix links of ranks
of the job. SDMA is the sum of HCCS, PCIE and SIO and counted only where these are not given. In a matrix top1, middle and
bottom1 to bottom3 are single operations and total is their sum; the oldest files have a row for each operation, and ranks of
the job, instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple
from numpy.typing import NDArray

from parsers.cluster_frames import COLLECTIVES, LINKS, PACKETS
from parsers.profiler.columns import FileRows, Growing, NumberedTexts
from parsers.profiler.communication import MS, TOTAL
from parsers.profiler.groups import ranks_named
from parsers.profiler.json_entries import EntryType, entries, number
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE

MB = 1e6
_NAN = float("nan")
_PARTS = ("HCCS", "PCIE", "SIO")
_STEP = re.compile(r"(?:step)?(\d{1,18})")
_CLASS = re.compile(r"(.+)-(total|top1|middle|bottom[1-3])", re.DOTALL)
_LINK = re.compile(r"(\d{1,9})-(\d{1,9})")
_P2P = re.compile(r"send|receive|recv|sendrecv", re.IGNORECASE)


class CommunicationTimes(msgspec.Struct, gc=False):
    """Communication Time Info."""

    start: float = msgspec.field(default=_NAN, name="Start Timestamp(us)")
    elapse: float = msgspec.field(default=_NAN, name="Elapse Time(ms)")
    transit: float = msgspec.field(default=_NAN, name="Transit Time(ms)")
    wait: float = msgspec.field(default=_NAN, name="Wait Time(ms)")
    synchronisation: float = msgspec.field(default=_NAN, name="Synchronization Time(ms)")
    idle: float = msgspec.field(default=_NAN, name="Idle Time(ms)")


class Band(msgspec.Struct, gc=False):
    """Communication Bandwidth Info of one transport."""

    size: float = msgspec.field(default=_NAN, name="Transit Size(MB)")
    time: float = msgspec.field(default=_NAN, name="Transit Time(ms)")
    packets: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict, name="Size Distribution")


class RankOperation(msgspec.Struct, gc=False):
    """One operation in one rank."""

    times: CommunicationTimes = msgspec.field(name="Communication Time Info")
    bands: dict[str, Band] = msgspec.field(default_factory=dict, name="Communication Bandwidth Info")


class LinkTraffic(msgspec.Struct, gc=False):
    """The traffic of one link."""

    transport: str = msgspec.field(default="", name="Transport Type")
    size: float = msgspec.field(default=_NAN, name="Transit Size(MB)")
    time: float = msgspec.field(default=_NAN, name="Transit Time(ms)")
    operation: str | None = msgspec.field(default=None, name="Op Name")
    named: str | None = msgspec.field(default=None, name="op_name")


def step_number(value: Any) -> int:
    """Return the number in step50, "50", 50 or 50.0; NONE for empty, NULL and other values."""
    match = _STEP.fullmatch(str(value).removesuffix(".0")) if value is not None else None
    return int(match[1]) if match is not None else NONE


def step_told(value: Any, complaints: Complaints) -> int:
    """Return the number of a step as `step_number`; what is neither a number nor empty is reported."""
    found = step_number(value)
    if found == NONE and value is not None and str(value).strip() not in ("", "step", "nan", "-"):
        complaints.add(f"Expected the number of a step, found {str(value)[:60]!r}; its step is not known.")
    return found


def is_p2p(name: str) -> bool:
    """Return whether an operation is between two ranks, by its name: send, receive, batchSendRecv."""
    return _P2P.search(name) is not None


# Operations ------------------------------------------------------------------------------------------------------------------

_OPERATION = ("step", "group", "name", "section")
_TIMES = ("start_ns", "elapse_ns", "transit_ns", "wait_ns", "synchronisation_ns", "idle_ns", "size_bytes")
_PACKET = ("transport", "size_bytes", "count", "time_ns")
_KEY = (*_OPERATION, "rank")


class Operations:
    """Rows of collectives and packets; with `ranks`, each row has the rank it is of. groups are ranks of groups, where told.

    The rows are there after `finish`: what is read of 1,000 ranks is collected as it comes and converted column by column.
    """

    def __init__(self, complaints: Complaints, *, ranks: bool = False) -> None:
        own = ("rank",) if ranks else ()
        self.collectives = FileRows(COLLECTIVES, (*_OPERATION, *own, *_TIMES))
        self.packets = FileRows(PACKETS, (*_OPERATION, *own, *_PACKET))
        self.groups: dict[str, tuple[int, ...]] = {}
        self._complaints = complaints
        self._texts = {name: NumberedTexts() for name in ("group", "name", "section", "transport")}
        self._found = _GrowingRows()
        self._sent = _GrowingRows()

    def add(
        self, where: tuple[int, str, str, str], times: CommunicationTimes, bands: Mapping[str, Band], rank: int = NONE
    ) -> None:
        """Append an operation: (step, group, name, section); its times; what went over each transport."""
        step, group, name, section = where
        if not times.elapse >= 0.0:
            self._complaints.add(f"{name[:60]}: expected Elapse Time(ms), a number of at least 0; it was skipped.")
            return
        texts = self._texts
        key = step, texts["group"].number(group), texts["name"].number(name), texts["section"].number(section), rank
        parts = others = whole = 0.0
        known = split = packed = False
        for transport, band in bands.items():
            size = band.size
            if size == 0.0 and not band.packets:  # four of five
                known = True
                continue
            if -_MOST_MB < size < _MOST_MB:
                known = True
                if size < 0.0:
                    self._complaints.add(f"{name[:60]}: expected a Transit Size(MB) of at least 0; its size is not shown.")
                    size = float("-inf")
                if transport in _PARTS:
                    parts += size
                elif transport == "SDMA":
                    whole = size
                elif transport != "LOCAL":
                    others += size
            if band.packets:
                packed, split = True, split or transport in _PARTS
        megabytes = (parts or whole) + others if known else -1.0
        self._found.append((*key, *astuple(times), megabytes))
        for transport, band in bands.items() if packed else ():
            if band.packets and not (transport == "SDMA" and split):
                self._add_packets(key, transport, band)

    def _add_packets(self, key: tuple[int, ...], transport: str, band: Band) -> None:
        code = self._texts["transport"].number(transport)
        for size, (count, time) in band.packets.items():
            length = number(size)
            if length > 0.0 and 0.0 <= count < _MOST_MB:
                self._sent.append((*key, code, length, count, time))

    def finish(self) -> Operations:
        """Make rows of what was added, and return these."""
        for rows, found, names in (
            (self.collectives, self._found, (*_KEY, *_TIMES)), (self.packets, self._sent, (*_KEY, *_PACKET))
        ):  # fmt: skip
            for name, column in zip(names, found.columns(len(names)), strict=True):
                if name in rows.names:
                    rows.values[name] = _in_base_units(name, column)
                if name in rows.texts:
                    rows.texts[name] = self._texts[name]
        return self


def _in_base_units(name: str, column: NDArray[Any]) -> NDArray[Any]:
    """Return a column of microseconds (begins), milliseconds or MB in ns and bytes."""
    if name == "start_ns":
        return _begins_ns(column)
    if name == "size_bytes":
        return _bytes(column)
    if name.endswith("_ns"):
        return np.where(np.abs(column) < _MOST_NUMBER, column, np.nan) * MS
    return column.astype(np.int64) if name == "count" else column


class _GrowingRows:
    """Rows as tuples, turned into columns some thousand at a time: a row takes a third of the memory there."""

    AT_ONCE = 1 << 14

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []
        self._columns: list[Growing] = []

    def append(self, row: tuple[Any, ...]) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) >= self.AT_ONCE:
            self._turn()

    def _turn(self) -> None:
        if self._rows and not self._columns:
            self._columns = [Growing() for _ in self._rows[0]]
        for column, values in zip(self._columns, zip(*self._rows, strict=True), strict=bool(self._rows)):
            column.add(np.array(values))
        self._rows = []

    def columns(self, number: int) -> Iterator[NDArray[Any]]:
        """Yield the columns of all rows, each of which is forgotten: `number` of them, even if there are no rows."""
        self._turn()
        columns = self._columns[::-1] or [Growing() for _ in range(number)]
        self._columns = []
        while columns:
            yield columns.pop().whole()


_MOST_NUMBER = 2.0**53
_MOST_MB = 2.0**43


def _begins_ns(microseconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert begins in microseconds without rounding them to floats of nanoseconds; NONE for unknown ones."""
    known = np.abs(microseconds) < _MOST_NUMBER
    fraction, whole = np.modf(np.where(known, microseconds, 0.0))
    return np.where(known, whole.astype(np.int64) * 1_000 + np.rint(fraction * 1_000).astype(np.int64), NONE)


def _bytes(megabytes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert MB to bytes; NONE for unknown and negative ones."""
    known = (megabytes >= 0.0) & (megabytes < _MOST_MB)
    return np.where(known, np.rint(np.where(known, megabytes, 0.0) * MB).astype(np.int64), NONE)


def read_operations(path: str, complaints: Complaints) -> Operations:
    """communication.json of one rank."""
    found = Operations(complaints)
    for step, section, operations in entries(path, _OF_RANK, complaints):
        number_of_step = step_told(step, complaints)
        for name, operation in operations.items():
            if name.partition("@")[0] != TOTAL:
                _add(found, (number_of_step, name, section), operation)
    return found.finish()


def read_cluster_operations(path: str, complaints: Complaints) -> Operations:
    """cluster_communication.json of all ranks."""
    found = Operations(complaints, ranks=True)
    for outer, step, operations in entries(path, _OF_RANKS, complaints):
        number_of_step = step_told(step, complaints)
        told = ranks_named(outer)
        for name, ranks in operations.items():
            if name.partition("@")[0] == TOTAL:
                continue
            if told is not None:
                found.groups.setdefault(name.partition("@")[2], told)
            section = "p2p" if outer == "p2p" or is_p2p(name) else "collective"
            for rank, operation in ranks.items():
                if rank.isdecimal() and len(rank) < 10:
                    _add(found, (number_of_step, name, section), operation, int(rank))
                else:
                    complaints.add(f"{name[:60]}: expected the number of a rank, found {rank[:60]!r}; it was skipped.")
    return found.finish()


def _add(found: Operations, where: tuple[int, str, str], operation: RankOperation, rank: int = NONE) -> None:
    name, _, group = where[1].partition("@")
    found.add((where[0], group, name, where[2]), operation.times, operation.bands, rank)


def _operation(value: Any) -> RankOperation | None:
    times = value.get("Communication Time Info") if isinstance(value, dict) else None
    if not isinstance(times, dict):
        return None
    bands = value.get("Communication Bandwidth Info")
    made = CommunicationTimes(*(number(times.get(name)) for name in CommunicationTimes.__struct_encode_fields__))
    return RankOperation(made, {str(name): _band(band) for name, band in bands.items()} if isinstance(bands, dict) else {})


def _band(value: Any) -> Band:
    if not isinstance(value, dict):
        return Band()
    packets = value.get("Size Distribution")
    listed = packets.items() if isinstance(packets, dict) else ()
    pairs = {size: (number(pair[0]), number(pair[1])) for size, pair in listed if isinstance(pair, list) and len(pair) == 2}
    return Band(number(value.get("Transit Size(MB)")), number(value.get("Transit Time(ms)")), pairs)


def _by_rank(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def ranks(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        made = {name: make(one) for name, one in value.items()}
        return {name: one for name, one in made.items() if one is not None}

    return ranks


_OPERATION_MARK = b'"Communication Time Info"'
_OF_RANK = EntryType(RankOperation, _operation, _OPERATION_MARK, lambda _: 1)
_OF_RANKS = EntryType(dict[str, RankOperation], _by_rank(_operation), _OPERATION_MARK, len)


# Links -----------------------------------------------------------------------------------------------------------------------

_LINKED = (
    "step", "group", "name", "section", "class", "operation", "source", "target", "source_local", "target_local", "transport",
    "size_bytes", "time_ns",
)  # fmt: skip


_MOST_NAMED = 1 << 14
"""Keys of matrices whose meaning is remembered."""


class Links:
    """Rows of links, which are there after `finish`."""

    def __init__(self, complaints: Complaints) -> None:
        self.rows = FileRows(LINKS, _LINKED)
        self._complaints = complaints
        self._summed: set[tuple[int, str]] = set()
        self._sums: list[tuple[int, tuple[int, str]]] = []
        self._matrices = _GrowingRows()
        self._number = 0
        self._named: dict[tuple[str, str, str], tuple[tuple[str, str, str, str], bool]] = {}
        self._columns = {name: Growing() for name in ("source", "target", "operation", "transport", "size_bytes", "time_ns")}
        self._least = 0.0
        self._empty()

    def _empty(self) -> None:
        self._ends: list[str] = []
        self._operations: list[str] = []
        self._transports: list[str] = []
        self._sizes: list[float] = []
        self._times: list[float] = []

    def add(
        self, step: int, key: str, group: str, section: str, links: Mapping[str, LinkTraffic], *, local: bool | None = None
    ) -> None:
        """Append a matrix: its key, the group if that is not in the key, the section if it is known; links by `source-target`.

        local says that the ends are numbers in the group; None finds it by the key.
        """
        known = self._named.get((key, group, section))
        if known is None:  # the same ones in every step
            name, kind, own, is_local = named_matrix(key)
            where = own or group, name, section or ("p2p" if is_p2p(name) else "collective"), kind
            known = where, is_local
            if len(self._named) < _MOST_NAMED:
                self._named[key, group, section] = known
        where, is_local = known
        self.extend((step, *where), links, local=is_local if local is None else local)

    def extend(self, where: tuple[int, str, str, str, str], links: Mapping[str, LinkTraffic], *, local: bool) -> None:
        """Append links of one step, group, name, section and class."""
        step, group, name, section, kind = where
        single = name if kind == "single" else ""
        told = links.values()
        if kind == "total" and name:
            self._summed.add((step, group))
        elif kind == "total" and group:
            self._sums.append((self._number, (step, group)))
        texts = self.rows.texts
        codes = texts["group"].number(group), texts["name"].number(name), texts["section"].number(section)
        self._matrices.append((step, *codes, texts["class"].number(kind), local, len(links)))
        self._number += 1
        self._ends += links
        self._operations += [one.operation or one.named or single for one in told]
        self._transports += [one.transport for one in told]
        self._sizes += [one.size for one in told]
        self._times += [one.time for one in told]
        if len(self._ends) >= _GrowingRows.AT_ONCE:
            self._turn()

    def _turn(self) -> None:
        """Make arrays of the links that came last."""
        sizes, times, ends = np.array(self._sizes), np.array(self._times), self._numbers()
        self._least = min(self._least, float(np.nanmin(sizes, initial=0.0)))
        columns: dict[str, NDArray[Any]] = {
            "source": ends[:, 0], "target": ends[:, 1], "operation": self._codes("operation", self._operations),
            "transport": self._codes("transport", self._transports), "size_bytes": _bytes(sizes),
            "time_ns": np.where(np.abs(times) < _MOST_NUMBER, times, np.nan) * MS,
        }  # fmt: skip
        for name, column in columns.items():
            self._columns[name].add(column)
        self._empty()

    def finish(self) -> Links:
        """Make rows of what was added, and return these; sums over a group only where there are none by operation type."""
        self._turn()
        *where, local, counts = self._matrices.columns(7)
        needed = np.ones(len(counts), np.bool_)
        needed[[number for number, key in self._sums if key in self._summed]] = False
        kept: Any = (self._columns["source"].whole() >= 0) & np.repeat(needed, counts)
        kept = slice(None) if kept.all() else kept  # without a copy
        values = self.rows.values
        for name, column in zip(("step", "group", "name", "section", "class"), where, strict=True):
            values[name] = np.repeat(column, counts)[kept]
        is_local = np.repeat(local.astype(np.bool_), counts)[kept]
        for name in tuple(self._columns):
            column = self._columns.pop(name).whole()[kept]
            if name in ("source", "target"):
                values[f"{name}_local"] = np.where(is_local, column, NONE).astype(column.dtype)
                column = np.where(is_local, NONE, column).astype(column.dtype)
            values[name] = column
        if self._least < 0.0:
            text = f"Expected a Transit Size(MB) of at least 0 in every link, found {self._least:g}"
            self._complaints.add(f"{text}; such sizes are not shown.")
        return self

    def _codes(self, name: str, texts: Sequence[str]) -> NDArray[np.int32]:
        known = self.rows.texts[name]
        numbers = {text: known.number(text) for text in dict.fromkeys(texts)}
        return np.array([numbers[text] for text in texts], np.int32)

    def _numbers(self) -> NDArray[np.int64]:
        """Return the two numbers of every link; NONE for what is none."""
        known: dict[str, tuple[int, int]] = {}
        for link in dict.fromkeys(self._ends):
            match = _LINK.fullmatch(link)
            if match is None:
                self._complaints.add(f"Expected a link such as 0-1, found {link[:60]!r}; it was skipped.")
            known[link] = (int(match[1]), int(match[2])) if match is not None else (NONE, NONE)
        return np.array([known[link] for link in self._ends], np.int64).reshape(-1, 2)


def read_links(path: str, complaints: Complaints, *, cluster: bool = False) -> Links:
    """communication_matrix.json of one rank, or cluster_communication_matrix.json of all."""
    found = Links(complaints)
    for outer, inner, matrices in entries(path, _MATRIX, complaints):
        step = step_told(inner if cluster else outer, complaints)
        section = inner if not cluster else "p2p" if outer == "p2p" else ""
        for key, links in matrices.items():
            found.add(step, key, "", section, links, local=False if cluster else None)
    return found.finish()


def named_matrix(key: str) -> tuple[str, str, str, bool]:
    """Return name, class and group of a matrix by its key, and whether its ranks are numbers in the group."""
    name, _, group = key.partition("@")
    if name == TOTAL:
        return "", "total", group, False
    match = _CLASS.fullmatch(name)
    return (name, "single", group, False) if match is None else (match[1], match[2], group, True)


def _link(value: Any) -> LinkTraffic | None:
    if not isinstance(value, dict):
        return None
    operation = value.get("Op Name", value.get("op_name"))
    size, time = number(value.get("Transit Size(MB)")), number(value.get("Transit Time(ms)"))
    return LinkTraffic(str(value.get("Transport Type", "")), size, time, operation if isinstance(operation, str) else None)


_MATRIX = EntryType(dict[str, LinkTraffic], _by_rank(_link), b'"Transport Type"', len)
