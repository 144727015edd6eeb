"""The cards about how steps are fed: the way of the data, sizes of queues, times. A card with nothing to show is None."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.analysis.preparation import EMPTY_RATE, Flow, Slow

from layouts import format as fmt
from layouts.i18n import t
from layouts.pages.preparation.figures import COLOURS, EMPTY, Curve, figure
from layouts.pages.preparation.given import QUEUES, Given
from layouts.pages.preparation.pieces import Cell, csv, number, plot, share, table, time

_CARDS = {"pipeline": "pipeline", "host_queue": "sizes", "transmission": "times", "device_queue": "sizes", "get_next": "times"}
"""Stage -> the card about it."""


def flow(of: Given) -> Any:
    """The way of the data as boxes, what is slow in one sentence."""
    rates, found, slow = of.rates, of.flow, of.slow
    if rates is None and not slow:
        return None
    by_queue = {str(row["queue"]): row for _, row in rates.iterrows()} if rates is not None else {}
    host = "host" if "host" in by_queue else "iterator"
    inside: dict[str, Any] = {
        "pipeline": _named_slow(slow),
        "host_queue": _queue_facts(by_queue.get(host)),
        "transmission": _time_fact(by_queue.get("host"), "push_ns"),
        "device_queue": _queue_facts(by_queue.get("device")),
        "get_next": _time_fact(by_queue.get("device"), "get_ns"),
        "forward_backward": [],
    }
    boxes: list[Any] = []
    for stage in found.stages:
        if boxes:
            boxes.append(html.Span("→", className="ms-preparation-arrow", **{"aria-hidden": "true"}))
        kind = " ms-preparation-store" if stage.endswith("queue") else ""
        late = " ms-preparation-slow" if stage == found.slow else ""
        told = [html.Strong(t(f"preparation.stage.{stage}")), *inside[stage]]
        boxes.append(_box(of, stage, told, f"ms-preparation-stage{kind}{late}"))
    said = html.P(_verdict(found, by_queue), className="ms-preparation-verdict")
    return [said, html.Div(boxes, className="ms-preparation-flow")]


def _box(of: Given, stage: str, told: list[Any], class_name: str) -> Any:
    """A stage, which leads to the card that has more of it; that of the network to the page about steps."""
    if stage in _CARDS:
        return html.Button(told, type="button", className=class_name, **{"data-to": _CARDS[stage]})
    if not of.stepped:
        return html.Div(told, className=class_name)
    choice = of.ask.choice
    query = urlencode({"run": choice.run, "of": choice.run, "session": choice.session, "rank": choice.rank})
    return html.A(told, href=f"steps?{query}", className=class_name, **{"data-page": "steps", "data-query": query})


def _verdict(found: Flow, by_queue: Mapping[str, Any]) -> Any:
    if not found.slow:
        return t("preparation.verdict.none")
    name = next(name for name in QUEUES if name in by_queue and by_queue[name]["batches"])
    row = by_queue[name] if found.slow != "transmission" else by_queue["device"]
    told = {"empty": fmt.count(int(row["empty"])), "batches": fmt.count(int(row["batches"])),
            "rate": f"{row['empty'] / row['batches']:.0%}", "limit": f"{EMPTY_RATE:.0%}"}  # fmt: skip
    return t(f"preparation.verdict.{found.slow}", **told)


def _queue_facts(row: Any) -> list[Any]:
    if row is None or not row["batches"]:
        return []
    batches = int(row["batches"])
    told = [t("preparation.empty_of", n=fmt.count(int(row["empty"])), total=fmt.count(batches))]
    if math.isfinite(row["capacity"]):
        told.append(t("preparation.full_of", n=fmt.count(int(row["full"])), total=fmt.count(batches)))
    return [html.Span(one) for one in told]


def _time_fact(row: Any, part: str) -> list[Any]:
    if row is None or not math.isfinite(row[part]):
        return []
    return [html.Span(t("preparation.mean_time", time=time(row[part])))]


def _named_slow(slow: Sequence[Slow]) -> list[Any]:
    return [html.Span(t("preparation.slow_named", names=", ".join(one.type for one in slow[:3])))] if slow else []


def sizes(of: Given) -> Any:
    """Entries in the queues by step, empty ones marked, and how often each was empty and full."""
    rates = of.rates
    if rates is None:
        return None
    drawn, names = [], []
    for colour, (name, one) in zip(COLOURS, of.queues, strict=False):
        size = one["size"].to_numpy()
        if np.isfinite(size).any():
            drawn.append(Curve(one["step"].to_numpy(np.float64), size, colour, np.flatnonzero(size == 0), stepped=True))
            names.append((colour, t(f"preparation.queue.{name}")))
    if not drawn:
        return None
    body = [
        (t(f"preparation.queue.{row['queue']}"), Cell(fmt.count(int(row["batches"])), row["batches"]),
         Cell(share(row["empty"], row["batches"]), row["empty"]),
         Cell(share(row["full"], row["batches"]) if math.isfinite(row["capacity"]) else "–", row["full"]),
         Cell(number(row["mean_size"]), row["mean_size"]), Cell(number(row["capacity"]), row["capacity"]))
        for _, row in rates.iterrows() if row["batches"]
    ]  # fmt: skip
    head = ["preparation.col.queue", "preparation.col.batches", "preparation.col.empty", "preparation.col.full",
            "preparation.col.mean", "preparation.col.capacity"]  # fmt: skip
    shown = plot(figure(drawn), [*names, (EMPTY, t("preparation.is_empty"))], "preparation.by_step.entries")
    return [*shown, table(head, body, [csv(of, "queues")])]


def times(of: Given) -> Any:
    """Time of a step by part: fed or waited in all, pushing and getting the data."""
    drawn: list[Curve] = []
    names: list[tuple[str, Any]] = []
    for name, one in of.queues:
        for part in ("total_ns", "push_ns", "get_ns"):
            spent = one[part].to_numpy() / 1e6
            # What a queue does not know is 0 throughout; on the device getting is all there is.
            if np.isfinite(spent).any() and np.nanmax(spent) > 0 and not (name == "device" and part != "get_ns"):
                colour = COLOURS[len(drawn) % len(COLOURS)]
                drawn.append(Curve(one["step"].to_numpy(np.float64), spent, colour))
                mean = time(float(np.nanmean(spent)) * 1e6)
                names.append((colour, t(f"preparation.time.{name}.{part}", mean=mean)))
    if not drawn:
        return None
    rates = of.rates
    parts = ("total_ns", "push_ns", "get_ns")
    body = [
        (t(f"preparation.queue.{row['queue']}"), *(Cell(time(row[part]), row[part]) for part in parts))
        for _, row in (() if rates is None else rates.iterrows()) if any(math.isfinite(row[part]) for part in parts)
    ]  # fmt: skip
    head = ["preparation.col.mean_time", "preparation.col.total", "preparation.col.push", "preparation.col.get"]
    shown = plot(figure(drawn, form=":.4~g", suffix=" ms"), names, "preparation.by_step.time")
    return [*shown, table(head, body, [])]
