"""Reads communication from databases: analysis.db, the databases of profilers, cluster_analysis.db of msprof-analyze.

CommAnalyzerTime, -Bandwidth and -Matrix hold what communication.json and communication_matrix.json hold, in the same units;
only rows with traffic are in -Bandwidth. The databases of profilers hold single tasks instead (COMMUNICATION_OP, in ns, and
COMMUNICATION_TASK_INFO): what a rank sent, and how long its operations took, but not what of that was waiting.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from parsers.json_text import parse_json
from parsers.profiler.communication import TOTAL
from parsers.profiler.communication_json import Band, CommunicationTimes, Links, LinkTraffic, Operations, is_p2p, step_number
from parsers.profiler.database import Database
from parsers.profiler.groups import hash_of
from parsers.profiler.json_entries import number
from parsers.profiler.lines import Complaints
from parsers.profiler.tables import NONE

OPERATIONS = "CommAnalyzerTime"
CLUSTER_OPERATIONS = "ClusterCommunicationTime"
_TIMES = ("start_timestamp", "elapse_time|elapsed_time", "transit_time", "wait_time", "synchronization_time", "idle_time")
_NOBODY = 0xFFFFFFFF
_TRANSFERS = ("Memcpy", "Reduce_Inline", "RDMASend", "Reduce_TBE")
Row = tuple[Any, ...]


def table_rows(database: Database, table: str, columns: Sequence[str], complaints: Complaints, more: str = "") -> Iterable[Row]:
    """Yield the rows of a table; a column with `|` is the first of several names, one that is not there is None."""
    found = ", ".join(database.column(table, *column.split("|")) for column in columns)
    query = f"SELECT {found} FROM {table}{more}"  # noqa: S608  quoted names
    return (row for rows in database.rows(query, f"Table {table}", complaints) for row in rows)


def operations(database: Database, complaints: Complaints, *, cluster: bool = False) -> Operations | None:
    """CommAnalyzerTime with -Bandwidth, or those of a cluster; None if the database has no such table."""
    table = CLUSTER_OPERATIONS if cluster else OPERATIONS
    if not database.has(table, "hccl_op_name"):
        return None
    sent: dict[tuple[Any, ...], dict[str, Band]] = {}
    bandwidth = table.removesuffix("Time") + "Bandwidth"
    keys = ("step", "hccl_op_name", "group_name", *(("rank_id",) if cluster else ()))
    told = ("transport_type|band_type", "transit_size", "transit_time", "package_size", "count", "total_duration")
    for row in table_rows(database, bandwidth, (*keys, *told), complaints) if database.has(bandwidth, *keys) else ():
        transport, size, time, length, count, duration = row[len(keys) :]
        band = sent.setdefault(row[: len(keys)], {}).setdefault(str(transport), Band(number(size), number(time)))
        if number(length) > 0.0:
            band.packets[str(length)] = (number(count), number(duration))
    nothing = {"SDMA": Band(0.0, 0.0)} if database.has(bandwidth, *keys) else {}
    found = Operations(complaints, ranks=cluster)
    for row in table_rows(database, table, (*keys, "type", *_TIMES), complaints):
        step, name, group = row[:3]
        rank = row[3] if cluster else NONE
        section, times = row[len(keys)], row[len(keys) + 1 :]
        if not isinstance(rank, int):
            complaints.add(f"Table {table}: expected the number of a rank, found {str(rank)[:60]!r}; the row was skipped.")
            continue
        text = str(name).partition("@")[0]
        if text == TOTAL:
            continue
        section = str(section) if section else "p2p" if is_p2p(text) else "collective"
        where = (step_number(step), str(group or ""), text, section)
        found.add(where, CommunicationTimes(*map(number, times)), sent.get(row[: len(keys)], nothing), rank)
    return found.finish()


def links(database: Database, complaints: Complaints, *, cluster: bool = False) -> Links | None:
    """CommAnalyzerMatrix, or that of a cluster; None if the database has no such table."""
    table = "ClusterCommunicationMatrix" if cluster else "CommAnalyzerMatrix"
    if not database.has(table, "hccl_op_name", "src_rank", "dst_rank"):
        return None
    found = Links(complaints)
    columns = ("step", "hccl_op_name", "group_name", "src_rank", "dst_rank", "transport_type", "transit_size", "transit_time")
    for row in table_rows(database, table, (*columns, "type", "op_name"), complaints):
        step, key, group, source, target, transport, size, time, section, operation = row
        link = LinkTraffic(str(transport or ""), number(size), number(time), str(operation or ""))
        ends = {f"{_whole(source)}-{_whole(target)}": link}
        found.add(step_number(step), str(key), str(group or ""), str(section or ""), ends, local=False if cluster else None)
    return found.finish()


def _whole(value: Any) -> str:
    """Return the number of a rank as text: 0 of 0, "0" and 0.0."""
    return str(value).removesuffix(".0")


# Databases of profilers ------------------------------------------------------------------------------------------------------


class Tasks:
    """What a database of a profiler tells: operations with their bytes and packets, links, groups."""

    def __init__(self, database: Database, complaints: Complaints) -> None:
        self._database, self._complaints = database, complaints
        listed = table_rows(database, "STRING_IDS", ("id", "value"), complaints) if _has_texts(database) else ()
        self._texts: dict[Any, Any] = {row[0]: row[1] for row in listed}
        self._steps = sorted(self._marked())
        self._begins = [begin for begin, _, _ in self._steps]

    def operations(self) -> Operations | None:
        """COMMUNICATION_OP, with what COMMUNICATION_TASK_INFO sent; None if the database has no such table."""
        if not self._database.has("COMMUNICATION_OP", "opName", "startNs", "endNs"):
            return None
        sent = self._sent()
        found = Operations(self._complaints)
        begins: list[int] = []
        columns = ("opName", "startNs", "endNs", "groupName", "opId")
        for name_id, start, end, group, number_of in table_rows(self._database, "COMMUNICATION_OP", columns, self._complaints):
            name = str(self._texts.get(name_id, name_id))
            if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
                text = "Table COMMUNICATION_OP: expected startNs <= endNs in every row; others were skipped."
                self._complaints.add(text)
                continue
            section = "p2p" if is_p2p(name) else "collective"
            where = (self._step_at(start), self._group(group), name, section)
            begins.append(start)
            found.add(where, CommunicationTimes(elapse=(end - start) / 1e6), sent.get(number_of, {}))
        rows = found.finish().collectives
        rows.values["start_ns"] = begins  # whole, not by way of a float of microseconds
        return found

    def links(self) -> Links | None:
        """Traffic between ranks by operation type, from COMMUNICATION_TASK_INFO; None if the database has no such table."""
        transfers = self._transfers()
        if not transfers:
            return None
        totals: dict[tuple[int, str, str, str, str, str], list[float]] = {}
        for name_id, group, _, source, target, transport, size, start, end in transfers:
            name = str(self._texts.get(name_id, name_id))
            sent = (self._step_at(start), self._group(group), _type_of(name), "p2p" if is_p2p(name) else "collective")
            total = totals.setdefault((*sent, f"{source}-{target}", transport), [0.0, 0.0])
            total[0] += size
            total[1] += end - start
        found = Links(self._complaints)
        for (step, group, name, section, link, transport), (size, time) in totals.items():
            told = {link: LinkTraffic(transport, size / 1e6, time / 1e6)}
            found.extend((step, group, name, section, "total"), told, local=True)
        return found.finish()

    def between_two(self) -> dict[int, list[tuple[int, int]]]:
        """Return begin and end in ns of the operations between two ranks by step, from COMMUNICATION_OP."""
        found: dict[int, list[tuple[int, int]]] = {}
        if not self._database.has("COMMUNICATION_OP", "opName", "startNs", "endNs"):
            return found
        columns = ("opName", "startNs", "endNs")
        for name_id, start, end in table_rows(self._database, "COMMUNICATION_OP", columns, self._complaints):
            timed = isinstance(start, int) and isinstance(end, int) and 0 <= start < end
            if timed and is_p2p(str(self._texts.get(name_id, name_id))):
                found.setdefault(self._step_at(start), []).append((start, end))
        return found

    def groups(self) -> dict[str, Any]:
        """Return parallel_group_info of META_DATA."""
        if not self._database.has("META_DATA", "name", "value"):
            return {}
        for name, value in table_rows(self._database, "META_DATA", ("name", "value"), self._complaints):
            if name == "parallel_group_info":
                try:
                    found = parse_json(value)
                except (TypeError, ValueError, RecursionError):
                    self._complaints.add("Table META_DATA: expected parallel_group_info as JSON; groups are not taken from it.")
                    return {}
                return found if isinstance(found, dict) else {}
        return {}

    def _group(self, number_of: Any) -> str:
        name = str(self._texts.get(number_of, number_of) or "")
        return name if name.isdecimal() or not name else hash_of(name)

    def _marked(self) -> list[tuple[int, int, int]]:
        if not self._database.has("STEP_TIME", "id", "startNs", "endNs"):
            return []
        found = table_rows(self._database, "STEP_TIME", ("startNs", "endNs", "id"), self._complaints)
        return [(row[0], row[1], row[2]) for row in found if all(isinstance(cell, int) for cell in row)]

    def _step_at(self, start: int) -> int:
        """Return the step under way on the host; work on the device that ends later counts for the step before it."""
        place = bisect_right(self._begins, start)
        return self._steps[place - 1][2] if place else NONE

    def _transfers(self) -> list[Row]:
        """Return the tasks that move bytes: operation, group, number of the operation, ends, transport, bytes, begin, end."""
        info = "COMMUNICATION_TASK_INFO"
        known = self._database.has(info, "globalTaskId", "srcRank", "dstRank", "size")
        if not (known and self._database.has("TASK", "startNs", "endNs", "globalTaskId")):
            return []
        link_types = self._named("ENUM_HCCL_LINK_TYPE")
        transports = self._named("ENUM_HCCL_TRANSPORT_TYPE")
        columns = ("name", "groupName", "opId", "srcRank", "dstRank", "transportType", "linkType", "size", "taskType")
        cells = ", ".join(self._database.column(info, name) for name in columns)
        query = f"SELECT {cells}, TASK.startNs, TASK.endNs FROM {info} JOIN TASK ON TASK.globalTaskId = {info}.globalTaskId"  # noqa: S608  quoted names
        found: list[Row] = []
        for rows in self._database.rows(query, f"Table {info}", self._complaints):
            for name, group, op, source, target, transport, link, size, kind, start, end in rows:
                moves = str(self._texts.get(kind)) in _TRANSFERS and isinstance(size, int) and size > 0
                if not moves or target == _NOBODY:
                    continue
                if source == target:
                    medium = "LOCAL"
                else:
                    medium = link_types.get(link, "") if link_types.get(link, "") in ("HCCS", "PCIE", "SIO") else ""
                    medium = medium or transports.get(transport, "")
                found.append((name, group, op, source, target, medium, size, start, end))
        return found

    def _sent(self) -> dict[Any, dict[str, Band]]:
        """Return what each operation sent, by its number."""
        found: dict[Any, dict[str, Band]] = {}
        for _, _, number_of, _, _, transport, size, start, end in self._transfers():
            if transport == "LOCAL":
                continue
            band = found.setdefault(number_of, {}).setdefault(transport, Band(0.0, 0.0))
            count, time = band.packets.get(repr(size / 1e6), (0.0, 0.0))
            band.packets[repr(size / 1e6)] = (count + 1, time + (end - start) / 1e6)
            band.size, band.time = band.size + size / 1e6, band.time + (end - start) / 1e6
        return found

    def _named(self, table: str) -> dict[int, str]:
        if not self._database.has(table, "id", "name"):
            return {}
        return {key: str(name) for key, name in table_rows(self._database, table, ("id", "name"), self._complaints)}


def _has_texts(database: Database) -> bool:
    return database.has("STRING_IDS", "id", "value")


def _type_of(name: str) -> str:
    """Return the type of an operation as matrices name it: hcom_allReduce__865_0_1 is an allreduce."""
    return name.removeprefix("hcom_").partition("__")[0].rstrip("_").lower()


# Groups of clusters ----------------------------------------------------------------------------------------------------------


def mapped_groups(database: Database, complaints: Complaints) -> list[dict[str, Any]]:
    """Return CommunicationGroupMapping as the entries of `comm_group_parallel_info` of communication_group.json."""
    table = "CommunicationGroupMapping"
    if not database.has(table, "group_name", "rank_set"):
        return []
    names = ("type", "rank_set", "group_name", "group_id", "pg_name")
    return [dict(zip(names, row, strict=True)) for row in table_rows(database, table, names, complaints)]

