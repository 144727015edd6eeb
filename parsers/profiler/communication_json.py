"""Reads communication.json and communication_matrix.json of a rank, and the cluster files of the same entries.

Times are milliseconds, begins microseconds, sizes MB of 10^6 bytes. Of a rank: {step: {p2p | collective: {operation@group: ...}}};
of cluster_communication*.json: {"(0, 1)" | p2p: {step: {operation@group: {rank: ...}}}}, in the matrix links of ranks of the job.
SDMA is the sum of HCCS, PCIE and SIO and counted only where these are not given. In a matrix top1, middle and bottom1 to bottom3
are single operations and total is their sum; the oldest files have a row for each operation, and ranks of the job, instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from parsers.cluster_frames import COLLECTIVES, LINKS, PACKETS
from parsers.profiler.columns import Rows
from parsers.profiler.communication import MS, TOTAL, begin_ns
from parsers.profiler.groups import ranks_named
from parsers.profiler.json_entries import entries, number
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE

MB = 1e6
_NAN = float("nan")
_PARTS = ("HCCS", "PCIE", "SIO")
_STEP = re.compile(r"(?:step)?(\d{1,18})")
_CLASS = re.compile(r"(.+)-(total|top1|middle|bottom[1-3])", re.DOTALL)
_LINK = re.compile(r"(\d{1,9})-(\d{1,9})")
_P2P = re.compile(r"send|receive|recv|sendrecv", re.IGNORECASE)


class Times(msgspec.Struct, gc=False):
    """Communication Time Info."""

    start: float = msgspec.field(default=_NAN, name="Start Timestamp(us)")
    elapse: float = msgspec.field(default=_NAN, name="Elapse Time(ms)")
    transit: float = msgspec.field(default=_NAN, name="Transit Time(ms)")
    wait: float = msgspec.field(default=_NAN, name="Wait Time(ms)")
    synchronisation: float = msgspec.field(default=_NAN, name="Synchronization Time(ms)")
    idle: float = msgspec.field(default=_NAN, name="Idle Time(ms)")


class Band(msgspec.Struct):
    """Communication Bandwidth Info of one transport."""

    size: float = msgspec.field(default=_NAN, name="Transit Size(MB)")
    time: float = msgspec.field(default=_NAN, name="Transit Time(ms)")
    packets: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict, name="Size Distribution")


class Operation(msgspec.Struct):
    """One operation in one rank."""

    times: Times = msgspec.field(name="Communication Time Info")
    bands: dict[str, Band] = msgspec.field(default_factory=dict, name="Communication Bandwidth Info")


class Link(msgspec.Struct, gc=False):
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


def is_p2p(name: str) -> bool:
    """Return whether an operation is between two ranks, by its name: send, receive, batchSendRecv."""
    return _P2P.search(name) is not None


# Operations ------------------------------------------------------------------------------------------------------------------

_OPERATION = ("step", "group", "name", "section")
_TIMES = ("start_ns", "elapse_ns", "transit_ns", "wait_ns", "synchronisation_ns", "idle_ns", "size_bytes")
_PACKET = ("transport", "size_bytes", "count", "time_ns")


class Operations:
    """Rows of collectives and packets; with `ranks`, each row has the rank it is of. groups are the ranks of groups, where told."""

    def __init__(self, complaints: Complaints, *, ranks: bool = False) -> None:
        own = ("rank",) if ranks else ()
        self.collectives = Rows(COLLECTIVES, (*_OPERATION, *own, *_TIMES))
        self.packets = Rows(PACKETS, (*_OPERATION, *own, *_PACKET))
        self.groups: dict[str, tuple[int, ...]] = {}
        self._complaints = complaints
        self._own = ranks

    def add(self, where: tuple[int, str, str, str], times: Sequence[float], bands: Mapping[str, Band], rank: int = NONE) -> None:
        """Append an operation: (step, group, name, section); start in us, then times in ms; what went over each transport."""
        name = where[2]
        if not times[1] >= 0.0:
            self._complaints.add(f"{name[:60]}: expected Elapse Time(ms), a number of at least 0; it was skipped.")
            return
        self._row(self.collectives, where, rank, (begin_ns(times[0]), *(time * MS for time in times[1:]), self._sent(name, bands)))
        split = any(bands[part].packets for part in _PARTS if part in bands)
        for transport, band in bands.items():
            if transport == "SDMA" and split:
                continue
            for size, (count, time) in band.packets.items():
                length = number(size)
                if length > 0.0 and count >= 0:
                    self._row(self.packets, where, rank, (transport, round(length * MB), int(count), time * MS))

    def _row(self, rows: Rows, where: tuple[int, str, str, str], rank: int, cells: tuple[Any, ...]) -> None:
        whole = (*where, rank, *cells) if self._own else (*where, *cells)
        for name, cell in zip(rows.names, whole, strict=True):
            rows.values[name].append(rows.text(name, cell) if name in rows.texts else cell)

    def _sent(self, name: str, bands: Mapping[str, Band]) -> int:
        """Return the bytes sent over all transports; SDMA counts where its parts are not given."""
        sizes = {transport: band.size for transport, band in bands.items() if abs(band.size) < 2.0**43}
        if any(size < 0.0 for size in sizes.values()):
            self._complaints.add(f"{name[:60]}: expected a Transit Size(MB) of at least 0; its size is not shown.")
            return NONE
        if not sizes:
            return NONE
        parts = sum(sizes.get(part, 0.0) for part in _PARTS)
        others = sum(size for transport, size in sizes.items() if transport not in (*_PARTS, "SDMA", "LOCAL"))
        return round((parts or sizes.get("SDMA", 0.0)) * MB) + round(others * MB)


def read_operations(path: str, complaints: Complaints) -> Operations:
    """communication.json of one rank."""
    found = Operations(complaints)
    for step, section, operations in entries(path, Operation, _operation, complaints):
        number_of_step = step_number(step)
        for name, operation in operations.items():
            if name.partition("@")[0] != TOTAL:
                _add(found, (number_of_step, name, section), operation)
    return found


def read_cluster_operations(path: str, complaints: Complaints) -> Operations:
    """cluster_communication.json of all ranks."""
    found = Operations(complaints, ranks=True)
    for outer, step, operations in entries(path, dict[str, Operation], _by_rank(_operation), complaints):
        number_of_step = step_number(step)
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
    return found


def _add(found: Operations, where: tuple[int, str, str], operation: Operation, rank: int = NONE) -> None:
    name, _, group = where[1].partition("@")
    times = operation.times
    listed = (times.start, times.elapse, times.transit, times.wait, times.synchronisation, times.idle)
    found.add((where[0], group, name, where[2]), listed, operation.bands, rank)


def _operation(value: Any) -> Operation | None:
    times = value.get("Communication Time Info") if isinstance(value, dict) else None
    if not isinstance(times, dict):
        return None
    bands = value.get("Communication Bandwidth Info")
    made = Times(*(number(times.get(name)) for name in Times.__struct_encode_fields__))
    return Operation(made, {str(name): _band(band) for name, band in bands.items()} if isinstance(bands, dict) else {})


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


# Links -----------------------------------------------------------------------------------------------------------------------

_LINKED = (
    "step", "group", "name", "section", "class", "operation", "source", "target", "source_local", "target_local", "transport",
    "size_bytes", "time_ns",
)  # fmt: skip


class Links:
    """Rows of links."""

    def __init__(self, complaints: Complaints) -> None:
        self.rows = Rows(LINKS, _LINKED)
        self._appends = [self.rows.values[name].append for name in _LINKED]
        self._complaints = complaints
        self._ends: dict[str, tuple[int, int] | None] = {}
        self._summed: set[tuple[int, int]] = set()
        self._later: list[tuple[tuple[int, int, int, int, int], str, tuple[int, int, float, float], bool]] = []

    def matrix(self, step: int, key: str, group: str, section: str) -> tuple[tuple[int, int, int, int, int], str, bool]:
        """Return for the key of a matrix the numbers that `add` takes, the one operation it is of, and whether ranks are local.

        group is that of the key, if it has none; section is found by the name, if it is empty.
        """
        name, kind, own, local = named_matrix(key)
        section = section or ("p2p" if is_p2p(name) else "collective")
        number_of = self.rows.text("group", own or group)
        if kind == "total" and name:
            self._summed.add((step, number_of))
        text = self.rows.text
        codes = (step, number_of, text("name", name), text("section", section), text("class", kind))
        return codes, name if kind == "single" else "", local

    def add_total(self, key: tuple[int, int, int, int, int], link: str, told: tuple[int, int, float, float], *, local: bool) -> None:
        """Append a link of the sum over a group, unless there are sums by operation type: then each byte would count twice."""
        self._later.append((key, link, told, local))

    def finish(self) -> None:
        """Append the sums over groups that are needed."""
        for key, link, told, local in self._later:
            if key[:2] not in self._summed:
                self.add(key, link, told, local=local)
        self._later.clear()

    def add(
        self, key: tuple[int, int, int, int, int], link: str, told: tuple[int, int, float, float], *, local: bool
    ) -> None:
        """Append a link: numbers of (step, group, name, section, class); `a-b`; (operation, transport, MB, ms)."""
        ends = self._ends[link] if link in self._ends else self._parsed(link)
        if ends is None:
            return
        size = told[2]
        if not 0.0 <= size < 2.0**43:
            if size < 0.0:
                self._complaints.add(f"Link {link}: expected a Transit Size(MB) of at least 0, found {size:g}; it is not shown.")
            size = NONE / MB
        a, b = ends
        places = (NONE, NONE, a, b) if local else (a, b, NONE, NONE)
        cells = (*key, told[0], *places, told[1], round(size * MB), told[3] * MS)
        for append, cell in zip(self._appends, cells, strict=True):
            append(cell)

    def _parsed(self, link: str) -> tuple[int, int] | None:
        match = _LINK.fullmatch(link)
        if match is None:
            self._complaints.add(f"Expected a link such as 0-1, found {link[:60]!r}; it was skipped.")
        self._ends[link] = (int(match[1]), int(match[2])) if match is not None else None
        return self._ends[link]


def read_links(path: str, complaints: Complaints, *, cluster: bool = False) -> Links:
    """communication_matrix.json of one rank, or cluster_communication_matrix.json of all."""
    found = Links(complaints)
    text = found.rows.text
    for outer, inner, matrices in entries(path, dict[str, Link], _by_rank(_link), complaints):
        step, section = (step_number(inner), "p2p" if outer == "p2p" else "") if cluster else (step_number(outer), inner)
        for key, links in matrices.items():
            codes, single, local = found.matrix(step, key, "", section)
            add = found.add_total if key.startswith(TOTAL) else found.add
            for link, told in links.items():
                operation = text("operation", told.operation or told.named or single)
                cells = (operation, text("transport", told.transport), told.size, told.time)
                add(codes, link, cells, local=local and not cluster)
    found.finish()
    return found


def named_matrix(key: str) -> tuple[str, str, str, bool]:
    """Return name, class and group of a matrix by its key, and whether its ranks are numbers in the group."""
    name, _, group = key.partition("@")
    if name == TOTAL:
        return "", "total", group, False
    match = _CLASS.fullmatch(name)
    return (name, "single", group, False) if match is None else (match[1], match[2], group, True)


def _link(value: Any) -> Link | None:
    if not isinstance(value, dict):
        return None
    operation = value.get("Op Name", value.get("op_name"))
    size, time = number(value.get("Transit Size(MB)")), number(value.get("Transit Time(ms)"))
    return Link(str(value.get("Transport Type", "")), size, time, operation if isinstance(operation, str) else None)
