"""Where the values of a painted graph come from: profiles, dumps, histograms and tensors of its run and of runs near it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parsers import HistogramValue, PayloadError
from parsers.analysis.graphs.painting import WHOLE, Amounts
from parsers.analysis.graphs.painting import dumps as of_dumps
from parsers.analysis.graphs.painting import profiles as of_profiles
from parsers.analysis.graphs.painting import recorded as of_recorded
from parsers.deferred import pandas as pd
from parsers.model import Ints
from parsers.payloads.values import TensorValue

from layouts.dumps.open_dump import DumpReport, DumpView, DumpWork
from layouts.kit.state import BadInput
from layouts.profiles.operator_variants import VARIANTS, variant_of
from layouts.runs.chosen_runs import selected_runs
from layouts.runs.rows import RunRow
from layouts.sources import Sources

MOST_OFFERS = 200
MOST_TAGS = 2_000
"""More histograms or tensors of one step are not read."""
WHOLE_BYTES = 256 << 20
"""Of a dump up to this size all iterations are measured at once, of a larger one only the one on screen."""
PROFILE, DUMP, HISTOGRAM, TENSOR = "profile", "dump", "histogram", "tensor"
METRICS_OF = {
    PROFILE: tuple(of_profiles.FRAMES), DUMP: (*of_dumps.METRICS, "overflow"), HISTOGRAM: of_recorded.HISTOGRAM_METRICS,
    TENSOR: of_recorded.TENSOR_METRICS,
}  # fmt: skip
NEAR = ("run", "job", "directory", "chosen")
"""How a source is near to the run of the graph: its own, of its job, of a run within or around its directory, or of another
run. Those of other runs are offered, but not taken unless somebody chooses one."""
OTHER = 3


@dataclass(frozen=True, slots=True)
class PaintSource:
    """A profile by session and rank, or the dump, histograms or tensors of a run."""

    kind: str
    run: str
    session: str = ""
    rank: int = 0

    @property
    def key(self) -> str:
        """Return its name in an address."""
        whole = [self.kind, self.run, self.session, self.rank] if self.kind == PROFILE else [self.kind, self.run]
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":"))


def read_source(written: str) -> PaintSource | None:
    """Parse the name of a source; None for "". BadInput if it is malformed."""
    if not written:
        return None
    try:
        parts = json.loads(written)
    except (ValueError, RecursionError):
        parts = None
    whole = isinstance(parts, list) and parts and parts[0] in METRICS_OF and all(isinstance(one, str) for one in parts[:3])
    if not whole or len(parts) != (4 if parts[0] == PROFILE else 2) or not isinstance(parts[-1], (str, int)):
        raise BadInput(f"by: expected a list of kind, run and what names a profile, found {written[:80]!r}")
    if parts[0] == PROFILE and (isinstance(parts[3], bool) or not isinstance(parts[3], int)):
        raise BadInput(f"by: expected a rank, found {str(parts[3])[:40]!r}")
    return PaintSource(*parts)


@dataclass(frozen=True, slots=True)
class MetricSource:
    """A source that may have a metric, judged by the names of its files; near is an index into NEAR."""

    source: PaintSource
    near: int


def offers(source: Sources, run: str, state: Any, metric: str) -> list[MetricSource]:
    """Return the sources of a metric, the nearest first: those of the run itself, its job, its directory, and other runs."""
    found = []
    for near, row, member in _near(source, run, state):
        found += [MetricSource(one, near) for one in _of_run(source, row, member, metric)]
        if len(found) >= MOST_OFFERS:
            break
    return list({one.source: one for one in reversed(found)}.values())[::-1][:MOST_OFFERS]


def _near(source: Sources, run: str, state: Any) -> Iterator[tuple[int, RunRow, str]]:
    """Yield (place in NEAR, row, member run), each member once."""
    rows = source.runs.rows()
    own = next((row for row in rows if run in row.members or run == row.key), None)
    if own is None:
        return
    seen = {run}
    yield 0, own, run
    here = own.real_path or own.path
    chosen = set(selected_runs(state, source))
    inside = [row for row in rows if row is not own and _within(here, row.real_path or row.path)]
    others = [row for row in rows if not chosen.isdisjoint(row.members) or _siblings(here, row.real_path or row.path)]
    for near, group in ((1, [own]), (2, inside), (OTHER, others)):
        for row in group:
            for member in row.members:
                if member not in seen:
                    seen.add(member)
                    yield near, row, member


def _within(one: str, other: str) -> bool:
    """Return whether a directory lies in the other one."""
    ends = tuple(path.rstrip(os.sep) + os.sep for path in (one, other))
    return bool(one and other) and (ends[0].startswith(ends[1]) or ends[1].startswith(ends[0]))


def _siblings(one: str, other: str) -> bool:
    return bool(one and other) and os.path.dirname(one) == os.path.dirname(other)


def _of_run(source: Sources, row: RunRow, run: str, metric: str) -> Iterator[PaintSource]:
    if metric in METRICS_OF[PROFILE]:
        profiles = [one for one in source.profiles.rows(run) if _gives(metric, one.frames)]
        for one in sorted(profiles, key=lambda each: (each.rank, -each.updated)):
            yield PaintSource(PROFILE, run, one.session, one.rank)
        return
    if metric in METRICS_OF[DUMP] and row.tags.get("dump"):
        yield PaintSource(DUMP, row.key)
    for kind in (HISTOGRAM, TENSOR):
        if metric in METRICS_OF[kind] and source.runs.tags(run, kind):
            yield PaintSource(kind, run)


def _gives(metric: str, frames: Sequence[str]) -> bool:
    """Return whether frames may have a metric: steps alone have no memory."""
    wanted = of_profiles.FRAMES[metric]
    return any(name in frames for name in (wanted[:1] if metric == "memory" else wanted))


# Reading --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class MetricReading:
    """The amounts of a metric, or how far they are: state as of `ProfileFrame`, done of total.

    steps are those to choose from; shown is the only one that amounts have, None if they have all. parts: execution units
    of a profile or ranks of a dump, part the chosen one. wanted: files of which any would do. left: values that could not be
    read.
    """

    state: str
    amounts: Amounts = field(default_factory=Amounts.empty)
    steps: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    part: str = ""
    wanted: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    text: str = ""
    left: int = 0
    shown: int | None = None


def mark_of(source: Sources, of: PaintSource) -> str:
    """Return what changes with the files of a source; "" for one that is not there."""
    if of.kind == PROFILE:
        named = (one for one in source.profiles.rows(of.run) if (one.session, one.rank) == (of.session, of.rank))
        return next((one.mark for one in named), "")
    return source.dumps.open(of.run).mark if of.kind == DUMP else str(source.runs.version(of.run))


def read(
    source: Sources, of: PaintSource, metric: str, part: str, step: int | None, *, graph: int | None = None
) -> MetricReading:
    """Return the amounts of a metric of a source. step: the one on screen, None for the default one.

    graph: the number of the painted graph if it is one of the dump: only its tensors count.
    """
    if of.kind == PROFILE:
        return _of_profile(source, of, metric, part)
    if of.kind == DUMP:
        return _of_dump(source, of, metric, part, step, graph)
    return _of_values(source, of, metric, step)


def default_step(steps: Sequence[int], step: int | None) -> int:
    """Return the step to show: the wanted one if there is one, the whole, or the last one."""
    if step is not None and step in steps:
        return step
    return WHOLE if not steps or WHOLE in steps else steps[-1]


def _of_profile(source: Sources, of: PaintSource, metric: str, part: str) -> MetricReading:
    row = next((one for one in source.profiles.rows(of.run) if (one.session, one.rank) == (of.session, of.rank)), None)
    frames: dict[str, pd.DataFrame] = {}
    wanted: list[str] = []
    for name in of_profiles.FRAMES[metric] if row is not None else ():
        found = source.profiles.frame(of.run, of.session, of.rank, name)
        if found.state not in ("ready", "missing"):
            return MetricReading(found.state, done=found.done, total=found.total, text=found.text)
        if found.frame is not None:
            frames[name] = found.frame
        wanted += [file for file in found.wanted if file not in wanted]
    if row is None or not frames:
        return MetricReading("missing", wanted=tuple(wanted))
    parts: tuple[str, ...] = ()
    if metric != "memory":
        cores = {str(core) for name in ("operators", "kernels") if name in frames for core in frames[name]["core"].unique()}
        present = {variant_of(core) for core in cores}
        parts = tuple(name for name in VARIANTS if name in present)
        part = part if part in parts else parts[0] if parts else ""
        frames = {name: _of_variant(frame, part) for name, frame in frames.items()} if len(parts) > 1 else frames
    amounts = of_profiles.amounts_of(metric, frames)
    return MetricReading("ready", amounts, amounts.steps, parts, part, tuple(wanted))


def _of_variant(frame: pd.DataFrame, variant: str) -> pd.DataFrame:
    column = frame["core"].array
    chosen = np.append(np.array([variant_of(core) == variant for core in column.categories], np.bool_), False)
    found: pd.DataFrame = frame.loc[chosen[column.codes]]
    return found


def _of_dump(
    source: Sources, of: PaintSource, metric: str, part: str, step: int | None, graph: int | None
) -> MetricReading:
    opened = source.dumps.open(of.run)
    if opened.dump is None:
        return MetricReading(opened.state, text=opened.text)
    dump = opened.dump
    ranks = tuple(map(str, dump.ranks))
    part = part if part in ranks else ranks[0] if ranks else "0"
    rank = int(part)
    if metric == "overflow":
        amounts = of_dumps.overflows_of(dump.overflows, rank)
        return MetricReading("ready", amounts, amounts.steps, ranks, part)
    rows = of_dumps.rows_of(dump.tensors, rank, graph)
    steps = tuple(of_dumps.steps_of(dump.tensors, rows))
    shown = default_step(steps, step)
    single = int(dump.tensors["size_bytes"].to_numpy()[rows].clip(min=0).sum()) > WHOLE_BYTES
    if single:
        rows = rows[dump.tensors["iteration"].to_numpy()[rows] == shown]
    first = int(rows[0]) if len(rows) else -1
    found = source.dumps.work(of.run, DumpWork("painted", (rank, graph, first, len(rows)), _measure(rows)))
    if found.state != "ready":
        state = "reading" if found.state == "working" else found.state
        return MetricReading(state, steps=steps, parts=ranks, part=part, done=found.done, total=found.total, text=found.text)
    amounts = of_dumps.amounts_of(metric, dump.tensors, found.result, rows)
    return MetricReading("ready", amounts, steps, ranks, part, shown=shown if single else None)


def _measure(rows: Ints) -> Any:
    """Return the work that measures tensors of a dump."""

    def job(dump: DumpView, report: DumpReport) -> Any:
        report.measure(rows)
        return dump.measured(rows)

    return job


def _of_values(source: Sources, of: PaintSource, metric: str, step: int | None) -> MetricReading:
    places: dict[str, list[tuple[int, int]]] = {}
    for tag in source.runs.tags(of.run, of.kind)[:MOST_TAGS]:
        series = source.values.series(of.run, of.kind, tag)
        places[tag] = [] if series is None else [(int(one), place) for place, one in enumerate(series.step.tolist())]
    steps = tuple(sorted({one for each in places.values() for one, _ in each}))
    shown = default_step(steps, step)
    values: list[tuple[str, int, HistogramValue | TensorValue]] = []
    left = 0
    for tag, each in places.items():
        for place in (place for one, place in each[::-1] if one == shown):
            try:
                value = source.values.value(of.run, of.kind, tag, place)
            except PayloadError:
                left += 1
            else:
                if isinstance(value, (HistogramValue, TensorValue)):
                    values.append((tag, shown, value))
            break  # of several values of a step the one written last
    return MetricReading("ready", of_recorded.amounts_of(metric, values), steps, left=left, shown=shown)
