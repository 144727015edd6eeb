"""What fills the memory in one sentence, and the figures beside it: reserved but unused, capacity, what would still fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html
from parsers.analysis.profiles.memory import BytesOverTime, Leak, Pool, peaks, value_at
from parsers.analysis.profiles.memory.leaks import FEWEST
from parsers.analysis.profiles.memory.recording import MemoryRecording
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import both, t
from layouts.kit.names import middle
from layouts.kit.tables import Quantity, TableColumn, table
from layouts.profiles.links import address
from layouts.profiles.memory import memory_texts
from layouts.profiles.memory.explained import BEFORE, MemoryMoment, groups_of, short
from layouts.profiles.memory.plain import Plain, words
from layouts.profiles.memory.spans import StepSpan, step_at
from layouts.profiles.profile_choice import ProfileChoice

BEFORE_RECORDING = "before recording"
NAMED = 2
"""Groups that the sentence names."""
_SIZE = Quantity(fmt.size, memory_texts.exact)
_SIGNED_SIZE = Quantity(lambda size: fmt.size(size, signed=True), memory_texts.exact)
_FEW = 4
_LEAST = 0.02
"""Smaller shares are not mentioned."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a profile beside its curve: the steps and the state of reading them, growth, capacity in bytes (0: not
    known) and whether a file has it, the pool at the moment (None: not all blocks have addresses), the group of blocks that
    grew most where there is a leak, with its growth in bytes, and whether growth is over "steps" or "sessions"."""

    spans: Sequence[StepSpan]
    spans_state: str
    leak: Leak
    capacity: int = 0
    capacity_of_file: bool = False
    pool: Pool | None = None
    grown: tuple[str, int] | None = None
    over: str = "steps"


def sentence(moment: MemoryMoment, told: Told) -> html.P:
    """Say what the moment's memory consists of, what is reserved in vain, and whether memory leaks."""
    parts = [_peak(moment, told), _unused(moment), leak_said(told)]
    english = " ".join(part[0] for part in parts if part[0])
    chinese = "".join(part[1] for part in parts if part[1])
    texts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
    return html.P(html.Span(texts, className="t"), className="ms-memory-sentence")


def _peak(moment: MemoryMoment, told: Told) -> tuple[str, str]:
    recording = moment.recording
    when = _when(moment, told.spans)
    total = value_at(recording.series, moment.time)
    parts = _shares(moment)
    key = "memory.said.peak" if parts[0] else "memory.said.peak_only"
    measured = both(f"memory.said.{recording.main}")
    return _filled(key, ({"size": fmt.size(max(total, 0)), "when": when[number], "parts": parts[number],
                          "measure": measured[number]} for number in (0, 1)))  # fmt: skip


def _when(moment: MemoryMoment, spans: Sequence[StepSpan]) -> tuple[str, str]:
    """Say when a moment was: its step, if that is known, and how long after the first record."""
    recording = moment.recording
    after = memory_texts.moment(moment.time, recording.origin, recording.clock, 4)
    if recording.clock == "event":
        return both("memory.said.event", at=after)
    step = step_at(spans, moment.time)
    return both("memory.said.step", step=step.name, at=after) if step is not None else both("memory.said.at", at=after)


def _filled(key: str, values: Any) -> tuple[str, str]:
    english, chinese = (text.format(**one) for text, one in zip(both(key), values, strict=True))
    return english, chinese


def _shares(moment: MemoryMoment) -> tuple[str, str]:
    """Return the largest groups with their shares, in both languages."""
    # Shares of blocks that have more than their curve would exceed 100 %; a note says so instead.
    total = moment.explained.total if len(moment.recording.blocks) and moment.explained.before >= 0 else 0
    largest = [group for group in groups_of(moment) if total > 0 and group[2] >= _LEAST * total][:NAMED]
    words = []
    for key, _, size in largest:
        name = _cut(short(key, moment.by))
        told = both("memory.said.by", name=name) if name else both("memory.said.unnamed")
        of = both("memory.said.before") if key == BEFORE else told
        words.append([f"{memory_texts.percent(size, total)} {text}" for text in of])
    english, chinese = (joint.join(word[number] for word in words) for number, joint in enumerate((", ", "，")))
    return english, chinese


def _cut(name: str, most: int = 60) -> str:
    return middle(name, most)


def _unused(moment: MemoryMoment) -> tuple[str, str]:
    reserved, allocated = moment.measure("reserved"), moment.measure("allocated")
    if min(reserved, allocated) < 0:
        return "", ""
    return both("memory.said.unused", size=fmt.size(max(reserved - allocated, 0)))


def leak_said(told: Told) -> tuple[str, str]:
    """Say whether memory leaks by the rule of `parsers.analysis.profiles.memory.leaks`, or why that cannot be told."""
    found = told.leak
    if found.verdict == "cannot tell":
        if told.spans_state in ("reading", "waiting"):
            return both("memory.leak.reading")
        if not told.spans:
            return both("memory.leak.no_steps")
        known = len(told.spans) if len(told.spans) < FEWEST else found.steps
        return both("memory.leak.few" if known != 1 else "memory.leak.one", n=fmt.count(known), least=FEWEST)
    values = {
        "steps": fmt.count(found.steps),
        **{name: fmt.size(_whole(getattr(found, name)), signed=True) for name in ("slope", "low", "high", "growth")},
        "share": fmt.percent(found.share),
    }  # fmt: skip
    english, chinese = both(f"memory.leak.{found.verdict}{'' if told.over == 'steps' else '_sessions'}", **values)
    if told.grown is None or found.verdict != "leak":
        return english, chinese
    more = both("memory.leak.grown", name=_cut(told.grown[0] or "–"), size=fmt.size(told.grown[1], signed=True))
    return f"{english} {more[0]}", f"{chinese}{more[1]}"


def _whole(value: float) -> int:
    return 0 if math.isnan(value) else round(value)


def figures(moment: MemoryMoment, told: Told) -> html.Dl:
    """The figures of the moment: allocated, reserved, unused, active, of the process, capacity, what would still fit."""
    recording = moment.recording
    values = {name: moment.measure(name) for name in ("allocated", "reserved", "active")}
    if values["allocated"] < 0 and recording.main == "allocated":
        values["allocated"] = moment.explained.total
    rows: list[tuple[str, Any, str]] = []
    rows += [(f"memory.figure.{name}", fmt.size(values[name]), memory_texts.exact(values[name]))
             for name in ("allocated", "reserved") if values[name] >= 0]  # fmt: skip
    if min(values["allocated"], values["reserved"]) >= 0:
        unused = values["reserved"] - values["allocated"]
        rows.append(("memory.figure.unused", fmt.size(max(unused, 0)), memory_texts.exact(unused)))
    if values["active"] >= 0:
        rows.append(("memory.figure.active", fmt.size(values["active"]), memory_texts.exact(values["active"])))
    process = value_at(recording.process, moment.time)
    if process >= 0:
        rows.append(("memory.figure.process", fmt.size(process), memory_texts.exact(process)))
    # As Job overview has it (`held_bytes`): it may be before the moment, or after it.
    highest = int(recording.process.value.max(initial=-1))
    if highest > process:
        rows.append(("memory.figure.process_peak", fmt.size(highest), memory_texts.exact(highest)))
    if told.capacity:
        used = max(process, values["reserved"], values["allocated"])
        shown = fmt.size(told.capacity)
        if used >= 0:
            shown = f"{shown} ({memory_texts.percent(used, told.capacity)})"
        key = "memory.figure.capacity_file" if told.capacity_of_file else "memory.figure.capacity"
        rows.append((key, shown, memory_texts.exact(told.capacity)))
    return html.Dl(
        [*(html.Div([html.Dt(t(key)), html.Dd(text, title=exact)]) for key, text, exact in rows), _fits(told, values, process)],
        className="ms-memory-figures",
    )


def _fits(told: Told, values: dict[str, int], process: int) -> html.Div:
    """The largest request that would still fit: a hole of the pool, or new memory up to the capacity."""
    used = max(process, values["reserved"])
    fresh = max(told.capacity - used, 0) if told.capacity and used >= 0 else -1
    hole = told.pool.largest if told.pool is not None else -1
    best = max(fresh, hole)
    if best < 0:
        return html.Div([html.Dt(t("memory.figure.fits")), html.Dd(t("memory.fits.unknown"), className="ms-muted")])
    key = "memory.fits.hole" if hole >= fresh else "memory.fits.fresh" if hole >= 0 else "memory.fits.at_least"
    return html.Div([
        html.Dt(t("memory.figure.fits")),
        html.Dd([html.Span(fmt.size(best), title=memory_texts.exact(best)), " ", html.Span(t(key), className="ms-muted")]),
    ])  # fmt: skip


def notes(moment: MemoryMoment, told: Told) -> list[Any]:
    """What the reader must know of the numbers: blocks beyond the curve, a capacity that is exceeded, steps not marked."""
    said: list[Any] = []
    if moment.explained.before < 0:
        said.append(html.P(t("memory.note.beyond", size=fmt.size(-moment.explained.before)), className="ms-wrong-text"))
    process = value_at(moment.recording.process, moment.time)
    used = max(process, moment.measure("reserved"), moment.measure("allocated"))
    if told.capacity and used > told.capacity:
        said.append(html.P(t("memory.note.above", size=fmt.size(used)), className="ms-wrong-text"))
    if rounded(moment.recording.series):
        said.append(html.P(t("memory.note.rounded"), className="ms-wrong-text"))
    if not moment.recording.recorded:
        said.append(html.P(t("memory.note.from_blocks"), className="ms-muted"))
    elif not len(moment.recording.blocks):
        said.append(html.P(t("memory.note.no_blocks"), className="ms-muted"))
    elif _elsewhere(moment.recording):
        said.append(html.P(t("memory.note.elsewhere", n=fmt.count(len(moment.recording.blocks))), className="ms-wrong-text"))
    return said


def _elsewhere(recording: MemoryRecording) -> bool:
    """Return whether no block was in use while the curve was recorded: the files are of different recordings."""
    blocks, times = recording.blocks, recording.series.time
    return bool(len(times)) and not ((blocks.start <= times[-1]) & (blocks.end > times[0])).any()


def rounded(series: BytesOverTime) -> bool:
    """Return whether times were rounded, as spreadsheets do (1.76425E+15): whole milliseconds, most of them several times."""
    times = series.time
    if len(times) < _FEW or (times % 1_000_000).any():
        return False
    return 2 * (1 + int(np.count_nonzero(times[1:] != times[:-1]))) <= len(times)


def peaks_table(first: pd.DataFrame, second: pd.DataFrame) -> html.Table | None:
    """The peaks of two profiles by component side by side; None if neither has a curve."""
    found = peaks(second, first)
    if not len(found):
        return None
    measures = [name for name in ("allocated", "reserved", "unused")
                if (found[[f"first_{name}_bytes", f"second_{name}_bytes"]] >= 0).any(axis=None)]  # fmt: skip
    columns = [TableColumn("memory.by.component")]
    values: list[list[Any]] = [found["component"].astype(str).tolist()]
    for name in measures:
        group = f"memory.figure.{name}"
        columns += [
            TableColumn("memory.this", _SIZE, group=group), TableColumn("memory.other", _SIZE, group=group),
            TableColumn("memory.difference", _SIGNED_SIZE, group=group),
        ]  # fmt: skip
        other, this = (found[f"{which}_{name}_bytes"].tolist() for which in ("first", "second"))
        values += [
            [None if size < 0 else size for size in this], [None if size < 0 else size for size in other],
            [None if min(pair) < 0 else pair[0] - pair[1] for pair in zip(this, other, strict=True)],
        ]  # fmt: skip
    return table(columns, zip(*values, strict=True), class_name="ms-memory-table ms-memory-peaks", scroll="")


def at(moment: MemoryMoment, spans: Sequence[StepSpan], timeline: ProfileChoice | None, *, peak: bool) -> list[Any]:
    """Say which moment is explained, and how much memory there was; with the profile that has a timeline, link to the step."""
    recording = moment.recording
    when = _when(moment, spans)
    total = value_at(recording.series, moment.time)
    size = fmt.size(max(total, 0))
    texts = _filled("memory.at.peak" if peak else "memory.at.moment", ({"when": one, "size": size} for one in when))
    english, chinese = (html.Span(text, lang=lang, className=name)
                        for text, lang, name in zip(texts, ("en", "zh-CN"), ("en", "zh"), strict=True))  # fmt: skip
    said = [html.Span([english, chinese], className="t")]
    step = step_at(spans, moment.time) if timeline is not None else None
    if step is not None and timeline is not None:
        said += [" ", html.A(t("memory.timeline"), **address("timeline", timeline, step=step.name))]
    return [html.P(said, title=memory_texts.exact(max(total, 0)))]


def part_said(moment: MemoryMoment, part: str, blocks: int) -> Plain:
    """Name the group whose blocks are listed."""
    size = next((size for key, _, size in groups_of(moment) if key == part), 0)
    name = short(part, moment.by) if part else "–"
    return words("memory.part", name=_cut(name), n=fmt.count(blocks), size=fmt.size(size))
