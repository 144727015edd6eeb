"""Steps and wall times of the large values of one tag as compact arrays, for pages that step through the values.

The values themselves are fetched from plain routes by run, tag and place. assets/kit/cards/stepping.js decodes the arrays.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from dash import html
from numpy.typing import NDArray
from parsers import PayloadSeries

from layouts.kit.cards.cards import Cards
from layouts.kit.page import Ids
from layouts.kit.state import BadInput, texts
from layouts.runs.chosen_runs import selected_runs
from layouts.sources import RunSources, ValueSources

Found = Sequence[tuple[str, PayloadSeries]]
"""(run, its items) of every chosen run that has the tag."""


class RecordedSeries(TypedDict):
    """The values of a tag in a run."""

    run: str
    label: str
    colour: str
    steps: int
    """Place in the list of steps."""
    walls: list[int]
    """The first time in ms, and differences."""


class RecordedSteps(TypedDict):
    """Steps and times of the values of a tag. Each list of steps is the first step and differences."""

    tags: list[str]
    steps: list[list[int]]
    series: list[RecordedSeries]


def recorded_cards(
    kind: str, words: Mapping[str, tuple[str, str]], class_name: str, *, controls: str, missing: str
) -> Cards:
    """Return cards that step through the values of a kind. class_name is the class of the element that shows a value."""

    def draw(source: ValueSources, ask: Any) -> dict[str, Any]:
        tag, state = read_ask(ask)
        return {"meta": steps_of(source, tag, items_of(source, kind, tag, state), state.get("run", ()))}

    def mark(source: ValueSources, ask: Any) -> str:
        tag, state = read_ask(ask)
        return stamp(items_of(source, kind, tag, state), source.runs.colours(state.get("run", ())))

    def body(_ids: Ids, _slot: str) -> list[Any]:
        return [html.Div(className=class_name)]

    return Cards(
        kind=kind, draw=draw, stamp=mark, texts=words, controls=controls, missing=missing,
        body=body, plotted=False,
    )  # fmt: skip


def read_ask(ask: Any) -> tuple[str, dict[str, list[str]]]:
    """Return (tag, state with the runs) of an ask, or raise BadInput."""
    tags, runs = texts(ask, "tag"), texts(ask, "run")
    if len(tags) != 1:
        raise BadInput(f"tag: expected one; found {len(tags)}")
    return tags[0], {"run": runs} if runs else {}


def items_of(source: ValueSources, kind: str, tag: str, state: dict[str, list[str]]) -> Found:
    """Return the items of one tag in the chosen runs."""
    runs = selected_runs(state, source, (kind,))
    return [(run, items) for run in runs if (items := source.values.series(run, kind, tag)) is not None]


def steps_of(source: RunSources, tag: str, found: Found, runs: Sequence[str] = ()) -> RecordedSteps:
    """Return steps and wall times in ms by place, as the first value and differences; equal steps are sent once.

    runs are those that the state of the page names.
    """
    labels = {row.key if len(row.members) > 1 else row.members[0]: row.name for row in source.runs.rows()}
    drawn = source.runs.colours(runs)
    steps: list[list[int]] = []
    known: dict[bytes, int] = {}
    series: list[RecordedSeries] = []
    for run, items in found:
        column = known.setdefault(items.step.tobytes(), len(steps))
        if column == len(steps):
            steps.append(_differences(items.step))
        series.append({
            "run": run, "label": labels.get(run, run), "colour": drawn.get(run, ""), "steps": column,
            "walls": _differences(_milliseconds(items.wall_time)),
        })  # fmt: skip
    return {"tags": [tag], "steps": steps, "series": series}


def stamp(found: Found, colours: Mapping[str, str]) -> str:
    """Return a text that changes whenever the values of a card or the colours of its runs do."""
    parts = [f"{run}\0{len(items)}\0{int(items.order[-1])}\0{int(items.file[-1])}\0{colours.get(run)}" for run, items in found]
    return f"{zlib.crc32(chr(1).join(parts).encode('utf-8', 'surrogatepass')):08x}-{len(parts)}"


def _milliseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Convert to whole milliseconds; 0 for NaN and for times outside the range of a browser's Date."""
    usable = np.abs(seconds) < 8.64e12
    return np.rint(np.where(usable, seconds, 0.0) * 1000.0).astype(np.int64)


def _differences(values: NDArray[np.int64]) -> list[int]:
    differences: list[int] = np.diff(values, prepend=0).tolist()
    return differences
