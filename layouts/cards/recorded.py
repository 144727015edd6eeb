"""When the large values of one tag were recorded, for pages that step through them: compact arrays, no value among them.

The values themselves come over plain routes, by run, tag and place; assets/steps.js reads what is made here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dash import dcc, html
from numpy.typing import NDArray
from parsers import PayloadSeries

from layouts.cards.cards import Cards
from layouts.page import Ids
from layouts.sources import RunSource, ValueSource
from layouts.state import BadInput, colours, selected_runs, texts

Found = Sequence[tuple[str, PayloadSeries]]
"""(run, its items) of every chosen run that has the tag."""


def recorded_cards(
    kind: str, words: Mapping[str, tuple[str, str]], class_name: str, *, controls: str, missing: str, hint: str, record: str
) -> Cards:
    """Cards that step through the values of a kind. class_name is that of the element in which a script shows them."""

    def draw(source: ValueSource, ask: Any) -> dict[str, Any]:
        tag, state = read_ask(ask)
        return {"meta": steps_of(source, tag, items_of(source, kind, tag, state))}

    def mark(source: ValueSource, ask: Any) -> str:
        return stamp(items_of(source, kind, *read_ask(ask)))

    def body(ids: Ids, slot: str) -> list[Any]:
        return [dcc.Store(id=ids("recorded", slot)), html.Div(className=class_name)]

    return Cards(
        kind=kind, draw=draw, stamp=mark, texts=words, controls=controls, missing=missing, hint=hint, record=record,
        body=body, part="recorded", prop="data",
    )  # fmt: skip


def read_ask(ask: Any) -> tuple[str, dict[str, list[str]]]:
    """(tag, state that names the runs) of what a card asks for, or BadInput."""
    tags, runs = texts(ask, "tag"), texts(ask, "run")
    if len(tags) != 1:
        raise BadInput(f"tag: wanted one; got {len(tags)}")
    return tags[0], {"run": runs} if runs else {}


def items_of(source: ValueSource, kind: str, tag: str, state: dict[str, list[str]]) -> Found:
    """The items of one tag in the chosen runs."""
    runs = selected_runs(state, source, (kind,))
    return [(run, items) for run in runs if (items := source.payload_series(run, kind, tag)) is not None]


def steps_of(source: RunSource, tag: str, found: Found) -> dict[str, Any]:
    """Steps and wall times in ms of every value, by place, as first value and differences; equal steps are sent once."""
    labels = {row.key if len(row.members) > 1 else row.members[0]: row.name for row in source.runs()}
    drawn = colours(source)
    steps: list[list[int]] = []
    known: dict[bytes, int] = {}
    series = []
    for run, items in found:
        column = known.setdefault(items.step.tobytes(), len(steps))
        if column == len(steps):
            steps.append(_differences(items.step))
        series.append({
            "run": run, "label": labels.get(run, run), "colour": drawn.get(run, ""), "steps": column,
            "walls": _differences(_milliseconds(items.wall_time)),
        })  # fmt: skip
    return {"tags": [tag], "steps": steps, "series": series}


def stamp(found: Found) -> str:
    """A text that changes whenever the values of a card do."""
    parts = [f"{run}\0{len(items)}\0{int(items.order[-1])}\0{int(items.file[-1])}" for run, items in found]
    return f"{zlib.crc32(chr(1).join(parts).encode('utf-8', 'surrogatepass')):08x}-{len(parts)}"


def _milliseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole milliseconds; a time that is none, or beyond what a browser's Date can say, is 0."""
    usable = np.abs(seconds) < 8.64e12
    return np.rint(np.where(usable, seconds, 0.0) * 1000.0).astype(np.int64)


def _differences(values: NDArray[np.int64]) -> list[int]:
    differences: list[int] = np.diff(values, prepend=0).tolist()
    return differences
