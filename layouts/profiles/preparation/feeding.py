"""The cards about feeding steps: data flow, queue sizes, times. Each function returns None if it has nothing to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np
from dash import html
from parsers.analysis.profiles.preparation import EMPTY_RATE, WAITING, DataFlow, Slow, Waited

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.profiles.preparation.card_data import QUEUES, CardData
from layouts.profiles.preparation.elements import SortedCell, csv, number, plot, share, table, time
from layouts.profiles.preparation.figures import COLOURS, EMPTY, QueueCurve, figure

_CARDS = {"pipeline": "pipeline", "host_queue": "sizes", "transmission": "times", "device_queue": "sizes", "get_next": "times"}
"""Stage -> the card about it."""


def flow(data: CardData) -> Any:
    """Return the data flow as boxes, and the slow part in one sentence."""
    rates, found, slow = data.rates, data.flow, data.slow
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
        contents = [html.Strong(t(f"preparation.stage.{stage}")), *inside[stage]]
        boxes.append(_box(data, stage, contents, f"ms-preparation-stage{kind}{late}"))
    said = html.P(_verdict(found, by_queue, data.waited), className="ms-preparation-verdict")
    return [said, html.Div(boxes, className="ms-preparation-flow")]


def _box(data: CardData, stage: str, contents: list[Any], class_name: str) -> Any:
    """The box of a stage, which links to the card with its details; that of the network links to the steps page."""
    if stage in _CARDS:
        return html.Button(contents, type="button", className=class_name, **{"data-to": _CARDS[stage]})
    if not data.stepped:
        return html.Div(contents, className=class_name)
    choice = data.ask.choice
    query = urlencode({"run": choice.run, "of": choice.run, "session": choice.session, "rank": choice.rank})
    return html.A(contents, href=f"steps?{query}", className=class_name, **{"data-page": "steps", "data-query": query})


def _verdict(found: DataFlow, by_queue: Mapping[str, Any], wait: Waited | None) -> Any:
    if not found.slow:
        return t("preparation.verdict.none")
    if wait is not None:
        said = {"share": fmt.percent(wait.share), "steps": fmt.count(wait.steps), "limit": fmt.percent(WAITING)}
        return t(f"preparation.verdict.{found.slow}_waited", **said)
    name = next(name for name in QUEUES if name in by_queue and by_queue[name]["batches"])
    row = by_queue[name] if found.slow != "transmission" else by_queue["device"]
    numbers = {"empty": fmt.count(int(row["empty"])), "batches": fmt.count(int(row["batches"])),
               "rate": fmt.percent(row["empty"] / row["batches"]), "limit": fmt.percent(EMPTY_RATE)}  # fmt: skip
    return t(f"preparation.verdict.{found.slow}", **numbers)


def _queue_facts(row: Any) -> list[Any]:
    if row is None or not row["batches"]:
        return []
    batches = int(row["batches"])
    facts = [t("preparation.empty_of", n=fmt.count(int(row["empty"])), total=fmt.count(batches))]
    if math.isfinite(row["capacity"]):
        facts.append(t("preparation.full_of", n=fmt.count(int(row["full"])), total=fmt.count(batches)))
    return [html.Span(one) for one in facts]


def _time_fact(row: Any, part: str) -> list[Any]:
    if row is None or not math.isfinite(row[part]):
        return []
    return [html.Span(t("preparation.mean_time", time=time(row[part])))]


def _named_slow(slow: Sequence[Slow]) -> list[Any]:
    return [html.Span(t("preparation.slow_named", names=", ".join(one.type for one in slow[:3])))] if slow else []


def sizes(data: CardData) -> Any:
    """Return the queue sizes by step, with empty queues marked, and how often each queue was empty and full."""
    rates = data.rates
    if rates is None:
        return None
    drawn, names = [], []
    for colour, (name, one) in zip(COLOURS, data.queues, strict=False):
        size = one["size"].to_numpy()
        if np.isfinite(size).any():
            drawn.append(QueueCurve(one["step"].to_numpy(np.float64), size, colour, np.flatnonzero(size == 0), stepped=True))
            names.append((colour, t(f"preparation.queue.{name}")))
    if not drawn:
        return None
    body = [
        (t(f"preparation.queue.{row['queue']}"), SortedCell(fmt.count(int(row["batches"])), row["batches"]),
         SortedCell(share(row["empty"], row["batches"]), row["empty"]),
         SortedCell(share(row["full"], row["batches"]) if math.isfinite(row["capacity"]) else "–", row["full"]),
         SortedCell(number(row["mean_size"]), row["mean_size"]), SortedCell(number(row["capacity"]), row["capacity"]))
        for _, row in rates.iterrows() if row["batches"]
    ]  # fmt: skip
    head = ["preparation.col.queue", "preparation.col.batches", "preparation.col.empty", "preparation.col.full",
            "preparation.col.mean", "preparation.col.capacity"]  # fmt: skip
    shown = plot(figure(drawn), [*names, (EMPTY, t("preparation.is_empty"))], "preparation.by_step.entries")
    return [*shown, table(head, body, [csv(data, "queues")])]


def times(data: CardData) -> Any:
    """Return the time to feed a step, in total and for getting and pushing the data."""
    drawn: list[QueueCurve] = []
    names: list[tuple[str, Any]] = []
    for name, one in data.queues:
        for part in ("total_ns", "push_ns", "get_ns"):
            spent = one[part].to_numpy() / 1e6
            # Times that a queue does not record are 0 in every step; the device queue records only getting.
            if np.isfinite(spent).any() and np.nanmax(spent) > 0 and not (name == "device" and part != "get_ns"):
                colour = COLOURS[len(drawn) % len(COLOURS)]
                drawn.append(QueueCurve(one["step"].to_numpy(np.float64), spent, colour))
                mean = time(float(np.nanmean(spent)) * 1e6)
                names.append((colour, t(f"preparation.time.{name}.{part}", mean=mean)))
    if not drawn:
        return None
    rates = data.rates
    parts = ("total_ns", "push_ns", "get_ns")
    body = [
        (t(f"preparation.queue.{row['queue']}"), *(SortedCell(time(row[part]), row[part]) for part in parts))
        for _, row in (() if rates is None else rates.iterrows()) if any(math.isfinite(row[part]) for part in parts)
    ]  # fmt: skip
    head = ["preparation.col.mean_time", "preparation.col.total", "preparation.col.push", "preparation.col.get"]
    shown = plot(figure(drawn, form=":.4~g", suffix=" ms"), names, "preparation.by_step.time")
    return [*shown, table(head, body, [])]
