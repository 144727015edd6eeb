"""The tables of the communication page as plain elements: operations, links, packets, contention."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from parsers.analysis.jobs.contention import Contention
from parsers.analysis.jobs.packets import Small
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import attributes, t
from layouts.kit.tables import COUNT, NUMBER, SHARE, TRAFFIC, Cell, Quantity, Sort, TableColumn, first_of, table

MOST_ROWS = 100
"""Rows of a table on the page; its CSV file has all."""
MOST_LINKS = 24
OTHER = "communication.other_transport"
"""The transports that are not shown by name, and the text for them."""
TIMES = ("elapse_ns", "transit_ns", "own_wait_ns", "synchronisation_ns", "idle_ns")
Titles = Mapping[str, str]
"""Hash of a group -> what it is called."""


_MS = Quantity(lambda ns: fmt.number(float(ns / 1e6)), lambda ns: f"{fmt.exact(ns)} ns")
_GB = Quantity(lambda rate: fmt.number(float(rate / 1e9)), lambda rate: f"{fmt.exact(rate)} B/s")
_QUANTITIES = {
    **dict.fromkeys((*TIMES, "wait_ns", "time_ns", "lost_ns", "beside_ns"), _MS), "bandwidth": _GB, "of_reference": SHARE,
    "usual": SHARE, "size_bytes": TRAFFIC, "ranks": NUMBER, "count": NUMBER, "packets": COUNT,
}  # fmt: skip


def totals(frame: pd.DataFrame, keys: Sequence[str], titles: Titles, sort: str, share: float) -> list[Any]:
    """Return the table of operations; bandwidths below `share` of the reference are marked.

    frame is what `Traffic.totals` returns, keys its first columns, sort column and direction or "".
    """
    columns = [*keys, *([] if "rank" in keys else ["ranks"]), "count", *TIMES, "size_bytes", "bandwidth", "of_reference"]
    if not frame["own_wait_ns"].notna().any():
        columns[columns.index("own_wait_ns")] = "wait_ns"
    columns = [name for name in columns if name in keys or name == "count" or frame[name].notna().any()]
    rows = [[_total(row, name, titles, share) for name in columns] for row in frame.head(MOST_ROWS).to_dict("records")]
    by, _, way = (sort or "elapse_ns:desc").partition(":")
    order = Sort(by, way == "desc", "ms-sort-head", "data-sort", plain=True)
    return [_table(columns, rows, order), *first_of("communication.shown", len(rows), len(frame))]


def _total(row: Mapping[Any, Any], name: str, titles: Titles, share: float) -> Any:
    value = row[name]
    if name == "group":
        shown = titles.get(value) or t("communication.no_group")
        return _press(shown, {"group": value}) if value else shown
    if name == "kind":
        return _press(value, {"kind": value}) if value else t("communication.other_kind")
    if name == "name":
        return Cell(_press(value, {"op": value}, "ms-mono"), props={"title": value})
    if name == "rank":
        return str(value)
    if name == "bandwidth":
        return Cell(value=_known(value), props={"title": f"{row['transport']} {_GB.exact(value)}"})
    if name == "of_reference":
        return Cell(value=_known(value), class_name="ms-communication-low" if value < share else "")
    if name == "idle_ns" and row["unexplained_ns"] > 0.5 * value > 0:
        tip = attributes(title="communication.not_explained_tip")
        mark = html.Span(t("communication.not_explained"), className="ms-badge", **tip)
        shown = [mark, " ", html.Span(_MS.write(value), className="ms-muted")]
        return Cell(shown, props={"title": _MS.exact(value)})
    return _known(value)


def links(frame: pd.DataFrame, titles: Titles) -> list[Any]:
    """Return the slowest links, each beside its peers; frame is what `links.listed` returns."""
    rows = []
    for row in frame.head(MOST_LINKS).to_dict("records"):
        slow = [" ", html.Span(t("communication.slow"), className="ms-badge ms-badge-wrong")] if row["slow"] == "yes" else []
        rows.append([
            [link_name(row, titles), *slow], row["transport"],
            *map(_known, (row["bandwidth"], row["bandwidth"] / row["usual"], row["size_bytes"], row["time_ns"])),
            _known(max(row["lost_ns"], 0.0)),
        ])  # fmt: skip
    names = ("link", "transport", "bandwidth", "usual", "size_bytes", "time_ns", "lost_ns")
    return [_table(names, rows), *first_of("communication.shown", len(rows), len(frame))]


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
    rows = [
        (t(OTHER) if row["transport"] == OTHER else row["transport"],
         f"{fmt.prefixed(row['from_bytes'], 'B')} – {fmt.prefixed(row['to_bytes'], 'B')}",
         row["count"], _known(row["time_ns"]), _known(row["bandwidth"]))
        for row in frame.to_dict("records")
    ]  # fmt: skip
    return [*said, _table(("transport", "packet", "packets", "time_ns", "bandwidth"), rows)]


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
    cells = [
        (_press(row["name"], {"op": row["name"]}, "ms-mono"), titles.get(row["group"], row["group"]),
         *(_known(row[name]) for name in ("beside_ns", "elapse_ns", "size_bytes", "bandwidth")),
         t(f"communication.{row['held']}"))
        for row in near.head(MOST_LINKS).to_dict("records")
    ]  # fmt: skip
    names = ("name", "group", "beside_ns", "elapse_ns", "size_bytes", "bandwidth", "start")
    left = first_of("communication.shown", len(cells), len(near))
    return [html.P(said), html.P(rates), _table(names, cells), *left]


# Elements ------------------------------------------------------------------------------------------------------------


def time(ns: float) -> str:
    """Write a time in ns with a fitting unit, or a dash for an unknown one."""
    return fmt.duration(ns * 1e-9) if math.isfinite(ns) else "–"


def bandwidth(value: float) -> str:
    """Write a bandwidth, or a dash for an unknown one."""
    return fmt.rate(value, "B") if math.isfinite(value) else fmt.UNKNOWN


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _press(shown: Any, state: Mapping[str, str], class_name: str = "") -> html.Button:
    """A button that changes the state of the page."""
    names = f"ms-communication-press ms-cut {class_name}".rstrip()
    return html.Button(shown, type="button", className=names, **{"data-set": json.dumps(state)})


_TIPS = ("own_wait_ns", "wait_ns", "idle_ns", "transit_ns", "synchronisation_ns", "of_reference", "usual", "lost_ns")


def _table(names: Sequence[str], rows: Sequence[Any], sort: Sort | None = None) -> Any:
    columns = [
        TableColumn(
            f"communication.col.{name}", _QUANTITIES.get(name), number=name in ("rank", "packet"), sort=name,
            tip=f"communication.tip.{name}" if name in _TIPS else "",
        )
        for name in names
    ]  # fmt: skip
    return table(columns, rows, class_name="ms-communication-table", scroll="ms-communication-scroll", sort=sort)
