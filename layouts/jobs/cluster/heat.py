"""Two pictures of a metric in colours: ranks where they are (grid), and ranks over the steps."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from parsers.analysis.jobs.grid import Grid
from parsers.analysis.jobs.robust import NORMAL
from parsers.model import Floats, Ints

from layouts.curves.smoothed_lines import WRONG
from layouts.jobs.cluster.metric_texts import scale_of, text_of, word
from layouts.kit import units as fmt
from layouts.kit.figures.typed_arrays import typed
from layouts.profiles.step_plots import StepStyle, bare_layout

SCALE = "Viridis"
CELL = 2
"""Least pixels of a cell."""
MOST_ROWS = 240
"""Rows of steps drawn; more of them are joined."""
_TICKS = 16
_COLOUR_TICKS = 4
_NAMED_CELL = 40
"""Pixels of a cell of the grid from which on it has the number of its rank."""
_MOST_NAMED_ROWS = 12
_BESIDE = 160
"""Pixels of a plot for names on the left and colours on the right."""
_SPREADS = 16.0
"""Spreads from the median at which the colours end at the latest: outliers stand out, and a single one hides no other."""


def grid_figure(
    grid: Grid, ranks: Ints, values: Floats, metric: str, *, language: str, columns: int, dark: bool,
    hosts: Sequence[str] = (), picked: int | None = None, late: Sequence[int] = (),
) -> dict[str, Any]:
    """Return a cell for each rank. values are those of all ranks; ranks that others wait for have a red frame."""
    padded = np.append(values, np.nan)
    hover = "%{x} · %{y}<br>" if grid.form == "parallel" else "%{y}<br>" if grid.form == "hosts" else ""
    found, gap = _heat(padded[grid.cells], np.append(ranks, -1)[grid.cells], metric, language, columns, hover)
    rows, across = grid.cells.shape
    down, beside = _rows_of(grid, hosts, language), _columns_of(grid)
    found |= {"x": beside, "y": down}
    stages = grid.form == "parallel" and len({row[1] for row in grid.rows}) > 1
    place = {int(rank): number for number, rank in enumerate(ranks)}
    shapes = [_frame(grid.cells, place[rank], WRONG) for rank in late if rank in place]
    shapes += [_frame(grid.cells, place[picked], _ring(dark), 3)] if picked is not None and picked in place else []
    layout = bare_layout(StepStyle({}, columns=columns, dark=dark)) | {
        "hovermode": "closest", "dragmode": False, "shapes": [shape for shape in shapes if shape],
        "annotations": _numbers(grid, ranks, columns),
        "margin": {"l": _left(grid, hosts), "r": 20, "t": 12, "b": 26, "pad": 0},
        "xaxis": _axis(beside, across, columns) | {"type": "category"},
        "yaxis": (_stages(grid, down) if stages else _axis(down, rows)) | {"type": "category", "autorange": "reversed"},
        "meta": {"form": grid.form, "rows": rows, "columns": across, "gap": gap,
                 "unknown": int(np.count_nonzero(~np.isfinite(values)))},
    }  # fmt: skip
    return {"data": [found], "layout": layout}


def _numbers(grid: Grid, ranks: Ints, columns: int) -> list[dict[str, Any]]:
    """Return the number of the rank of each cell, where cells have room for it; page.css makes it legible on any colour."""
    rows, across = grid.cells.shape
    if rows > _MOST_NAMED_ROWS or across * _NAMED_CELL > columns - _BESIDE:
        return []
    return [
        {"x": column, "y": row, "text": fmt.count(int(ranks[place])), "showarrow": False}
        for row, places in enumerate(grid.cells.tolist()) for column, place in enumerate(places) if place >= 0
    ]  # fmt: skip


def steps_figure(
    table: Floats, ranks: Ints, steps: Ints, session: Ints, metric: str, *, language: str, columns: int, dark: bool,
    picked: int | None = None, late: Sequence[int] = (),
) -> dict[str, Any]:
    """Return ranks from left to right and steps from top to bottom. table is ranks x steps.

    A cell of several ranks or steps shows the value that is furthest from the median of its step, and names its rank.
    """
    values = table.T
    with np.errstate(all="ignore"):
        middle = np.array([np.median(row[np.isfinite(row)]) if np.isfinite(row).any() else np.nan for row in values])
    numbers = np.broadcast_to(ranks, values.shape)
    distance = np.nan_to_num(np.abs(values - middle[:, None]), nan=-1.0)
    wide = max(1, math.ceil(len(ranks) / max(10, (columns - 90) // CELL)))
    tall = max(1, math.ceil(len(steps) / MOST_ROWS))
    cells, of = _furthest(values, numbers, distance, wide, tall)
    found, gap = _heat(cells, of, metric, language, columns, "%{y}<br>")
    sessions = len(np.unique(session)) > 1
    names = [_step_name(int(step), int(at), sessions, language) for step, at in zip(steps, session, strict=True)][::tall]
    found["y"] = names
    ticks = [fmt.count(int(rank)) for rank in ranks[::wide]]
    ticks[:1] = [f"{word(language, 'word.rank')} {one}" for one in ticks[:1]]
    place = {int(rank): number // wide for number, rank in enumerate(ranks)}
    shapes = [_column(place[rank], WRONG) for rank in late if rank in place]
    shapes += [_column(place[picked], _ring(dark))] if picked is not None and picked in place else []
    layout = bare_layout(StepStyle({}, columns=columns, dark=dark)) | {
        "hovermode": "closest", "dragmode": False, "shapes": shapes,
        "margin": {"l": 96 if sessions else 64, "r": 20, "t": 12, "b": 26, "pad": 0},
        "xaxis": _axis(ticks, cells.shape[1], columns) | {"tickvals": _places(ticks, cells.shape[1], columns)},
        "yaxis": _axis(names, cells.shape[0]) | {"type": "category", "autorange": "reversed"},
        "meta": {"wide": wide, "tall": tall, "rows": int(cells.shape[0]), "columns": int(cells.shape[1]), "gap": gap},
    }  # fmt: skip
    return {"data": [found], "layout": layout}


def _furthest(values: Floats, numbers: Any, distance: Floats, wide: int, tall: int) -> tuple[Floats, Ints]:
    """Return of each block of tall x wide cells the value with the greatest distance, and its rank."""
    if wide == tall == 1:
        return values, np.asarray(numbers, np.int64)
    down, across = -(-values.shape[0] // tall), -(-values.shape[1] // wide)
    shape = down * tall, across * wide

    def blocks(table: Any, fill: float) -> Any:
        whole = np.full(shape, fill)
        whole[: values.shape[0], : values.shape[1]] = table
        return whole.reshape(down, tall, across, wide).swapaxes(1, 2).reshape(down, across, tall * wide)

    best = blocks(distance, -2.0).argmax(axis=2)[:, :, None]
    chosen = np.take_along_axis(blocks(values, np.nan), best, 2)[:, :, 0]
    return chosen, np.take_along_axis(blocks(numbers, -1.0), best, 2)[:, :, 0].astype(np.int64)


def _heat(
    values: Floats, ranks: Ints, metric: str, language: str, columns: int, hover: str
) -> tuple[dict[str, Any], int]:
    known = values[np.isfinite(values)]
    scale, unit = scale_of(metric, float(np.abs(known).max(initial=0.0)))
    low, high = _ends(known)
    high = high if high > low else low + max(abs(low), scale) * 1e-3
    gap = 1 if values.shape[1] * 7 <= columns else 0
    ticks = _colour_ticks(metric, known, low, high, scale)
    head = f"<b>{word(language, 'word.rank')} %{{customdata}}</b><br>{hover}"
    label = html.escape(word(language, f"metric.{metric}"))
    return {
        "type": "heatmap", "z": typed((values / scale).astype(np.float32)), "customdata": typed(ranks.astype(np.int32)),
        "zmin": low / scale, "zmax": high / scale, "colorscale": SCALE, "xgap": gap,
        "ygap": gap if values.shape[0] <= 60 else 0, "hoverongaps": False,
        "hovertemplate": f"{head}{label} %{{z:.5~g}} {unit}<extra></extra>",
        "colorbar": {"thickness": 10, "len": 1.0, "outlinewidth": 0, "xpad": 4} | ticks,
        "meta": {"role": "cells"},
    }, gap  # fmt: skip


def _colour_ticks(metric: str, known: Floats, low: float, high: float, scale: float) -> dict[str, Any]:
    """Return the ticks of the colours; an end that values lie beyond says so, so that it is not taken for the extreme."""
    places = np.linspace(low, high, _COLOUR_TICKS)
    texts = [text_of(metric, float(place)) for place in places]
    if len(known) and known.min() < low:
        texts[0] = f"≤ {texts[0]}"
    if len(known) and known.max() > high:
        texts[-1] = f"≥ {texts[-1]}"
    return {"tickvals": (places / scale).tolist(), "ticktext": texts}


def _ends(known: Floats) -> tuple[float, float]:
    """Return the values at the ends of the colours: lowest and highest, unless they are too far from the median."""
    if not len(known):
        return 0.0, 1.0
    middle = float(np.median(known))
    spread = _SPREADS * NORMAL * float(np.median(np.abs(known - middle)))
    low, high = float(known.min()), float(known.max())
    return (max(low, middle - spread), min(high, middle + spread)) if spread > 0.0 else (low, high)


def _places(names: Sequence[str], number: int, columns: int) -> list[int]:
    """Return as many places as there is room for their names; columns is the length in pixels, 0 for a vertical axis."""
    wide = 8 * max(map(len, names), default=1) + 10
    room = max(2, (columns - _BESIDE) // wide) if columns else _TICKS
    step = max(1, math.ceil(number / min(_TICKS, room)))
    return [place for place in range(0, number, step) if place < len(names)]


def _axis(names: Sequence[str], number: int, columns: int = 0) -> dict[str, Any]:
    """Return an axis of cells. Its ticks are names, not places: a place would be taken for a name that is the same number."""
    listed = [names[place] for place in _places(names, number, columns)]
    return {
        "range": [-0.5, max(number, 1) - 0.5], "tickvals": listed, "ticktext": listed, "showgrid": False, "zeroline": False,
        "ticks": "", "fixedrange": True, "tickangle": 0,
    }  # fmt: skip


def _stages(grid: Grid, names: Sequence[str]) -> dict[str, Any]:
    """Return the axis of rows with a name in the middle of each stage of the pipeline, of every n-th if there are many."""
    last = max(row[0] for row in grid.rows)
    tall = max(row[1] for row in grid.rows) + 1
    every = max(1, math.ceil((last + 1) / _TICKS))
    places = [stage * (tall + 1) + tall // 2 for stage in range(0, last + 1, every)]
    listed = [names[min(place, len(names) - 1)] for place in places]
    texts = [f"pp {stage}" for stage in range(0, last + 1, every)]
    return _axis(names, len(names)) | {"tickvals": listed, "ticktext": texts}


def _rows_of(grid: Grid, hosts: Sequence[str], language: str) -> list[str]:
    """Return a name for each row; they are unique."""
    if grid.form == "parallel":
        several = len({row[1] for row in grid.rows}) > 1
        gaps = (" " * number for number in range(1, len(grid.rows) + 1))
        return [next(gaps) if pp < 0 else f"pp {pp} · tp {tp}" if several else f"pp {pp}" for pp, tp in grid.rows]
    if grid.form == "hosts":
        return [html.escape(host, quote=False) for host in dict.fromkeys(hosts)]
    return [f"{word(language, 'word.rank')} {fmt.count(row[0])}" for row in grid.rows]


def _columns_of(grid: Grid) -> list[str]:
    if grid.form != "parallel":
        return [f"+{column}" for column in grid.columns]
    seen: dict[int, int] = {}
    names = []
    for column in grid.columns:
        seen[column] = seen.get(column, 0) + 1
        names.append(f"dp {column}" if seen[column] == 1 else f"dp {column} ({seen[column]})")
    return names


def _left(grid: Grid, hosts: Sequence[str]) -> int:
    longest = max((len(host) for host in hosts), default=0) if grid.form == "hosts" else 8
    return 24 + 6 * min(max(longest, 6), 24)


def _step_name(step: int, session: int, sessions: bool, language: str) -> str:
    named = f"{word(language, 'word.step')} {fmt.count(step)}" if step >= 0 else ""
    if not sessions:
        return named or word(language, "word.step")
    own = word(language, "word.session", n=fmt.count(session + 1))
    return f"{own} · {fmt.count(step)}" if step >= 0 else own


def _ring(dark: bool) -> str:
    return "#ffffff" if dark else "#1d2127"


def _frame(cells: Ints, place: int, colour: str, width: int = 2) -> dict[str, Any]:
    rows, columns = np.nonzero(cells == place)
    if not len(rows):
        return {}
    row, column = int(rows[0]), int(columns[0])
    return {
        "type": "rect", "xref": "x", "yref": "y", "x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5,
        "line": {"width": width, "color": colour},
    }  # fmt: skip


def _column(place: int, colour: str) -> dict[str, Any]:
    return {
        "type": "rect", "xref": "x", "yref": "paper", "x0": place - 0.5, "x1": place + 0.5, "y0": 0, "y1": 1,
        "line": {"width": 1.5, "color": colour},
    }  # fmt: skip
