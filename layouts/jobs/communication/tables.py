"""The tables of the communication page as plain elements: operations, links, packets, contention."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dash import html
from parsers.analysis.jobs.contention import Contention
from parsers.analysis.jobs.packets import Small
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.elements import scrolled
from layouts.kit.i18n import attributes, t

MOST_ROWS = 100
"""Rows of a table on the page; its CSV file has all."""
MOST_LINKS = 24
OTHER = "communication.other_transport"
"""The transports that are not shown by name, and the text for them."""
TIMES = ("elapse_ns", "transit_ns", "own_wait_ns", "synchronisation_ns", "idle_ns")
_MS, _GB = 1e6, 1e9
Titles = Mapping[str, str]
"""Hash of a group -> what it is called."""


class TrafficCell(NamedTuple):
    """A cell: its content, whether it is a number, and further attributes."""

    shown: Any
    number: bool = False
    props: Mapping[str, Any] = {}


def totals(frame: pd.DataFrame, keys: Sequence[str], titles: Titles, sort: str, share: float) -> list[Any]:
    """Return the table of operations; bandwidths below `share` of the reference are marked.

    frame is what `Traffic.totals` returns, keys its first columns, sort column and direction or "".
    """
    columns = [*keys, *([] if "rank" in keys else ["ranks"]), "count", *TIMES, "size_bytes", "bandwidth", "of_reference"]
    if not frame["own_wait_ns"].notna().any():
        columns[columns.index("own_wait_ns")] = "wait_ns"
    columns = [name for name in columns if name in keys or name == "count" or frame[name].notna().any()]
    rows = [[_total(row, name, titles, share) for name in columns] for row in frame.head(MOST_ROWS).to_dict("records")]
    head = [_sortable(name, sort or "elapse_ns:desc") for name in columns]
    return [_table(head, rows), *_left(len(rows), len(frame))]


def _total(row: Mapping[Any, Any], name: str, titles: Titles, share: float) -> TrafficCell:
    value = row[name]
    if name == "group":
        shown = titles.get(value) or t("communication.no_group")
        return TrafficCell(_press(shown, {"group": value}) if value else shown)
    if name == "kind":
        return TrafficCell(_press(value, {"kind": value}) if value else t("communication.other_kind"))
    if name == "name":
        return TrafficCell(_press(value, {"op": value}, "ms-mono"), props={"title": value})
    if name == "rank":
        return TrafficCell(str(value), number=True)
    if name == "bandwidth":
        return TrafficCell(_number(value / _GB), True, {"title": f"{row['transport']} {fmt.exact(value)} B/s"})
    if name == "of_reference":
        low = {"className": "ms-communication-low"} if value < share else {}
        return TrafficCell(_percent(value), True, low)
    if name == "idle_ns" and row["unexplained_ns"] > 0.5 * value > 0:
        tip = attributes(title="communication.not_explained_tip")
        mark = html.Span(t("communication.not_explained"), className="ms-badge", **tip)
        shown = [mark, " ", html.Span(_number(value / _MS), className="ms-muted")]
        return TrafficCell(shown, True, {"title": f"{fmt.exact(value)} ns"})
    if name in ("ranks", "count"):
        return TrafficCell(_number(value), True)
    return _size(value) if name == "size_bytes" else _scaled(value, _MS, "ns")


def links(frame: pd.DataFrame, titles: Titles) -> list[Any]:
    """Return the slowest links, each beside its peers; frame is what `links.listed` returns."""
    head = [_head(name) for name in ("link", "transport", "bandwidth", "usual", "size_bytes", "time_ns", "lost_ns")]
    rows = []
    for row in frame.head(MOST_LINKS).to_dict("records"):
        slow = [" ", html.Span(t("communication.slow"), className="ms-badge ms-badge-wrong")] if row["slow"] == "yes" else []
        rows.append([
            TrafficCell([link_name(row, titles), *slow]), TrafficCell(row["transport"]), _scaled(row["bandwidth"], _GB, "B/s"),
            TrafficCell(_percent(row["bandwidth"] / row["usual"]), True), _size(row["size_bytes"]),
            _scaled(row["time_ns"], _MS, "ns"), _scaled(max(row["lost_ns"], 0.0), _MS, "ns"),
        ])  # fmt: skip
    return [_table(head, rows), *_left(len(rows), len(frame))]


def link_name(row: Mapping[Any, Any], titles: Titles) -> Any:
    """Return what a link is called: its ranks, or their numbers in the group where one is unknown."""
    return html.Span([_end(row, "source", titles), " → ", _end(row, "target", titles)])


def link_text(row: Mapping[Any, Any], titles: Titles) -> str:
    """Return the same as a text of numbers alone: 3 → 4, or dp 0-7: 3 → #5 for numbers in a group."""
    ends = [str(row[end]) if row[end] >= 0 else f"#{row[f'{end}_local']}" for end in ("source", "target")]
    group = f"{titles.get(row['group'], row['group'])}: " if row["group"] else ""
    return f"{group}{' → '.join(ends)}"


def _end(row: Mapping[Any, Any], end: str, titles: Titles) -> Any:
    if row[end] >= 0:
        return t("communication.rank_n", n=row[end])
    return t("communication.local", n=row[f"{end}_local"], group=titles.get(row["group"], row["group"]))


def packets(frame: pd.DataFrame, small: Sequence[Small]) -> list[Any]:
    """Return how many packets are small, and packets by size; frame is what `packets.folded` returns, with OTHER."""
    if not len(frame):
        return [html.P(t("communication.no_packets"), className="ms-muted")]
    said = [
        html.P(t(
            "communication.small", n=fmt.count(one.small), total=f"{fmt.count(one.count)} {one.transport}",
            share=fmt.percent(one.share), limit=fmt.prefixed(one.limit, "B"), time=time(one.small_ns), of=time(one.time_ns),
        ))
        for one in small if one.limit
    ]  # fmt: skip
    head = [_head(name) for name in ("transport", "packet", "packets", "time_ns", "bandwidth")]
    rows = [
        [TrafficCell(t(OTHER) if row["transport"] == OTHER else row["transport"]),
         TrafficCell(f"{fmt.prefixed(row['from_bytes'], 'B')} – {fmt.prefixed(row['to_bytes'], 'B')}", True),
         TrafficCell(fmt.count(row["count"]), True), _scaled(row["time_ns"], _MS, "ns"), _scaled(row["bandwidth"], _GB, "B/s")]
        for row in frame.to_dict("records")
    ]  # fmt: skip
    return [*said, _table(head, rows)]


def contention(found: Contention, rank: int, titles: Titles) -> list[Any]:
    """Return which operations of a rank were held up beside matrix multiplications."""
    rows = found.operations
    if not found.multiplications:
        return [html.P(t("communication.no_matmul", rank=rank))]
    near = found.near
    if not len(near):
        return [html.P(t("communication.none_beside", rank=rank, n=fmt.count(found.multiplications)))]
    said = t("communication.held", n=fmt.count(found.held), total=fmt.count(len(rows)), rank=rank, limit=bandwidth(found.limit))
    rates = t("communication.rates", beside=bandwidth(found.beside), apart=bandwidth(found.apart))
    head = [_head(name) for name in ("name", "group", "beside_ns", "elapse_ns", "size_bytes", "bandwidth", "start")]
    cells = [
        [TrafficCell(_press(row["name"], {"op": row["name"]}, "ms-mono")), TrafficCell(titles.get(row["group"], row["group"])),
         _scaled(row["beside_ns"], _MS, "ns"), _scaled(row["elapse_ns"], _MS, "ns"), _size(row["size_bytes"]),
         _scaled(row["bandwidth"], _GB, "B/s"), TrafficCell(t(f"communication.{row['held']}"))]
        for row in near.head(MOST_LINKS).to_dict("records")
    ]  # fmt: skip
    return [html.P(said), html.P(rates), _table(head, cells), *_left(len(cells), len(near))]


# Elements ------------------------------------------------------------------------------------------------------------


def time(ns: float) -> str:
    """Write a time in ns with a fitting unit, or a dash for an unknown one."""
    return fmt.duration(ns * 1e-9) if math.isfinite(ns) else "–"


def bandwidth(value: float) -> str:
    """Write a bandwidth, or a dash for an unknown one."""
    return fmt.rate(value, "B") if math.isfinite(value) else fmt.UNKNOWN


def _number(value: float) -> str:
    return fmt.number(float(value)) if math.isfinite(value) else "–"


def _percent(value: float) -> str:
    return fmt.percent(value) if math.isfinite(value) else fmt.UNKNOWN


def _scaled(value: float, scale: float, unit: str) -> TrafficCell:
    return TrafficCell(_number(value / scale), True, {"title": f"{fmt.exact(value)} {unit}"} if math.isfinite(value) else {})


def _size(value: float) -> TrafficCell:
    if not math.isfinite(value):
        return TrafficCell("–", True)
    return TrafficCell(fmt.prefixed(value, "B"), True, {"title": f"{fmt.exact(value)} B"})


def _press(shown: Any, state: Mapping[str, str], class_name: str = "") -> html.Button:
    """A button that changes the state of the page."""
    names = f"ms-communication-press ms-cut {class_name}".rstrip()
    return html.Button(shown, type="button", className=names, **{"data-set": json.dumps(state)})


def _head(name: str) -> html.Th:
    return html.Th(t(f"communication.col.{name}"), scope="col", **_tip(name))


def _sortable(name: str, sort: str) -> html.Th:
    column, _, way = sort.partition(":")
    label = html.Button(
        t(f"communication.col.{name}"), type="button", className="ms-communication-sort", **{"data-sort": name}, **_tip(name)
    )
    order = {"aria-sort": "descending" if way == "desc" else "ascending"} if column == name else {}
    return html.Th(label, scope="col", **order)


def _tip(name: str) -> dict[str, Any]:
    known = ("own_wait_ns", "wait_ns", "idle_ns", "transit_ns", "synchronisation_ns", "of_reference", "usual", "lost_ns")
    return attributes(title=f"communication.tip.{name}") if name in known else {}


def _table(head: Sequence[html.Th], rows: Sequence[Sequence[TrafficCell]]) -> html.Div:
    body = [html.Tr([_cell(cell, first=not place) for place, cell in enumerate(row)]) for row in rows]
    numeric = [bool(rows) and rows[0][place].number for place in range(len(head))]
    for title, number in zip(head, numeric, strict=True):
        if number:
            title.className = "ms-number"
    made = html.Table([html.Thead(html.Tr(list(head))), html.Tbody(body)], className="ms-communication-table")
    return scrolled(made, "ms-communication-scroll")


def _cell(cell: TrafficCell, *, first: bool) -> Any:
    props = dict(cell.props)
    if cell.number:
        props["className"] = f"ms-number {props.get('className', '')}".rstrip()
    return html.Th(cell.shown, scope="row", **props) if first else html.Td(cell.shown, **props)


def _left(shown: int, total: int) -> list[Any]:
    if shown >= total:
        return []
    return [html.P(t("communication.shown", n=fmt.count(shown), total=fmt.count(total)), className="ms-muted")]
