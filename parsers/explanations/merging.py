"""Merges what the records of a run state: of each part of a sample the newest statement counts.

Files are taken in the order of the times in their names. Columns are made in the order and type that frames have them in, so
that frames share them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.errors import PayloadError
from parsers.explanations.columns import GrowingColumn
from parsers.explanations.messages import Events, RecordedNames, Score, events_of
from parsers.explanations.packed_texts import PackedPaths, PathsBuilder
from parsers.files import RegularFile
from parsers.model import Floats, Ints, Problem
from parsers.payloads.series import PayloadSeries

PIECE = 1 << 19
"""Bytes of a file that are read at a time."""
MOST_PROBLEMS = 20
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures by sample: number of the event, sample; row is the place in paths."""

    event: Ints
    sample: Ints
    paths: PackedPaths
    row: Ints


@dataclass(frozen=True, slots=True)
class Predictions:
    """Labels by sample and label. values has four columns: probability, standard deviation, both ends of the interval.

    samples are all that a record states labels of, also none, and inferred says whether it states predictions.
    """

    samples: Ints
    inferred: Bools
    sample: Ints
    label: Ints
    values: Floats
    truth: Bools


@dataclass(frozen=True, slots=True)
class HeatMaps:
    """Heat maps by sample, explainer (place in `RecordedExplanations.names`) and label; row is the place in paths."""

    sample: Ints
    explainer: Ints
    label: Ints
    paths: PackedPaths
    row: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of counterfactuals by sample, label and layer, with the boxes that are the numbers boxes[start:stop] and the mask
    as place in `RecordedExplanations.names`. samples are all with counterfactuals, also without layers."""

    samples: Ints
    sample: Ints
    label: Ints
    layer: Ints
    probability: Floats
    boxes: Ints
    start: Ints
    stop: Ints
    mask: Ints


@dataclass(slots=True)
class RecordedExplanations:
    """Everything that the records state, newest statements only. files are the numbers of the first events of the files."""

    pictures: Pictures
    predictions: Predictions
    heat_maps: HeatMaps
    layers: Layers
    scores: dict[tuple[str, str], Score]
    metadata: RecordedNames
    names: tuple[str, ...]
    files: Ints
    problems: tuple[Problem, ...]


class _MergedColumns:
    """Collects columns piece by piece. A column that was taken is forgotten."""

    def __init__(self, **dtypes: type) -> None:
        self._columns = {name: GrowingColumn(dtype) for name, dtype in dtypes.items()}

    def add(self, **columns: Any) -> None:
        """Add rows."""
        for name, values in columns.items():
            self._columns[name].add(values)

    def take(self, name: str) -> Any:
        """Return one column."""
        return self._columns.pop(name).whole()


@dataclass(slots=True)
class _Collected:
    """What the pieces state, as columns: numbers of events are of all files."""

    pictures: _MergedColumns = field(default_factory=lambda: _MergedColumns(event=np.int32, sample=np.int32))
    picture_paths: PathsBuilder = field(default_factory=PathsBuilder)
    inferences: _MergedColumns = field(
        default_factory=lambda: _MergedColumns(event=np.int32, sample=np.int32, inferred=np.bool_)
    )
    labels: _MergedColumns = field(default_factory=lambda: _MergedColumns(row=np.int32, label=np.int32, truth=np.bool_))
    values: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.float32, 4))
    maps: _MergedColumns = field(default_factory=lambda: _MergedColumns(sample=np.int32, explainer=np.int32, label=np.int32))
    map_paths: PathsBuilder = field(default_factory=PathsBuilder)
    explained: _MergedColumns = field(default_factory=lambda: _MergedColumns(event=np.int32, sample=np.int32))
    layers: _MergedColumns = field(
        default_factory=lambda: _MergedColumns(
            event=np.int32, sample=np.int32, label=np.int32, layer=np.int32, probability=np.float32, start=np.int64,
            stop=np.int64, mask=np.int32,
        )
    )  # fmt: skip
    boxes: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int64))
    scores: dict[tuple[str, str], Score] = field(default_factory=dict)
    metadata: list[RecordedNames] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    damaged: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int64))
    odd: GrowingColumn = field(default_factory=lambda: GrowingColumn(np.int64))
    statements: int = 0

    def add(self, part: Events) -> None:
        """Add what a piece states."""
        codes = np.array([self.names.setdefault(name, len(self.names)) for name in part.names], np.int32)
        self.pictures.add(event=part.pictures.event, sample=part.pictures.sample)
        self.picture_paths.add(part.pictures.path)
        stated = part.inferences
        self.inferences.add(event=stated.event, sample=stated.sample, inferred=stated.inferred)
        self.labels.add(row=stated.row + self.statements, label=stated.label, truth=stated.truth)
        self.statements += len(stated.event)
        self.values.add(stated.values)
        maps = part.heat_maps
        self.maps.add(sample=maps.sample, explainer=codes[maps.explainer], label=maps.label)
        self.map_paths.add(maps.path)
        layers = part.layers
        self.explained.add(event=layers.events, sample=layers.samples)
        self.layers.add(
            **{name: getattr(layers, name) for name in ("event", "sample", "label", "layer", "probability")},
            start=layers.start + len(self.boxes), stop=layers.stop + len(self.boxes), mask=codes[layers.mask],
        )  # fmt: skip
        self.boxes.add(layers.boxes)
        self.scores.update({(one.explainer, one.metric): one for one in part.scores})
        self.metadata += part.metadata
        self.damaged.add(part.damaged)
        self.odd.add(part.odd)


def recorded(series: PayloadSeries, paths: Sequence[str]) -> RecordedExplanations:
    """Read all records of a run; paths are those of the files by number."""
    problems: list[Problem] = []
    begins = np.flatnonzero(np.append(np.ones(min(1, len(series)), bool), np.diff(series.file) != 0))
    found = _Collected()
    for part in _events(series, paths, begins, problems):
        found.add(part)
    metadata = found.metadata[-1] if found.metadata else RecordedNames(-1, (), (), ())
    report = _MergeReport(series, paths, problems)
    report.tell(found.damaged.whole(), "A part of this explanation is no message; the other parts are shown.")
    report.tell(
        found.odd.whole(),
        "Expected as many probabilities as labels and boxes of four numbers, found others; what belongs together is shown.",
    )
    predictions = _predictions(found, report, len(metadata.labels))
    renamed = [one.event for before, one in pairwise(found.metadata) if one.labels != before.labels]
    report.tell(np.array(renamed, np.int64), "Expected the same labels as named before, found others; the newest are shown.")
    if len(series) and not found.metadata:
        report.tell(np.zeros(1, np.int64), "No record names labels, explainers and metrics: labels are shown by their numbers.")
    return RecordedExplanations(
        _pictures(found), predictions, _heat_maps(found), _layers(found), found.scores, metadata, tuple(found.names), begins,
        tuple(problems),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _MergeReport:
    """Says what is wrong in records."""

    series: PayloadSeries
    paths: Sequence[str]
    problems: list[Problem]

    def tell(self, events: Ints, text: str) -> None:
        """Say this of these events; of many, of the first ones."""
        for event in events[:MOST_PROBLEMS].tolist():
            self.problems.append(Problem(*self._at(event), "bad_message", text))
        if len(events) > MOST_PROBLEMS:
            more = f"{len(events) - MOST_PROBLEMS:,} further records have the same damage: {text}"
            self.problems.append(Problem(*self._at(int(events[MOST_PROBLEMS])), "bad_message", more))

    def _at(self, event: int) -> tuple[str, int, int]:
        return self.paths[int(self.series.file[event])], int(self.series.order[event]), int(self.series.length[event])


def _events(series: PayloadSeries, paths: Sequence[str], begins: Ints, problems: list[Problem]) -> Iterator[Events]:
    """Yield what the records state, some megabytes of them at a time; begins are the first records of the files."""
    bounds = [*begins.tolist(), len(series)]
    for begin, end in pairwise(bounds):
        path = paths[int(series.file[begin])]
        while begin < end:
            low = int(series.offset[begin])
            stop = max(begin + 1, begin + int(np.searchsorted(series.offset[begin:end], low + PIECE)))
            starts = series.offset[begin:stop] - low
            ends = starts + series.length[begin:stop]
            buffer = np.empty(int(ends.max()), np.uint8)
            try:
                with RegularFile(path) as opened:
                    if opened.fill(buffer.data, low) < len(buffer):
                        raise PayloadError(f"expected {len(buffer):,} bytes at {low:,}, found the end of the file")
            except (OSError, PayloadError) as error:
                reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
                text = f"{stop - begin:,} records of explanations are not shown, the others are: {reason}."
                problems.append(Problem(path, low, len(buffer), "unreadable", text))
            else:
                yield events_of(buffer, starts, ends, np.arange(begin, stop))
            begin = stop


def _newest(*keys: Ints) -> Ints:
    """Return the places of the last of all rows that are equal in these keys, in their order."""
    order = _order(keys)
    if not len(order):
        return order
    differ = np.zeros(len(order) - 1, bool)
    for key in keys:
        differ |= np.diff(key[order]) != 0
    found: Ints = order[np.append(differ, True)]
    return found


def _order(keys: Sequence[Ints]) -> Ints:
    """Return the places of rows sorted by these keys, the first one first; equal ones stay in their order."""
    whole, most = np.zeros(len(keys[0]), np.int64), 1
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        most *= high - low + 1
        if most >= 1 << 62:  # a sort by one number takes a fifth of the time of one by several
            found: Ints = np.lexsort(keys[::-1])
            return found
        whole *= high - low + 1
        whole += key
        whole -= low
    return np.argsort(whole, kind="stable")


def _pictures(found: _Collected) -> Pictures:
    event, sample = found.pictures.take("event"), found.pictures.take("sample")
    kept = _newest(sample)
    return Pictures(event[kept], sample[kept].astype(np.int64), found.picture_paths.whole(), kept)


def _predictions(found: _Collected, report: _MergeReport, named: int) -> Predictions:
    sample, inferred, event = (found.inferences.take(name) for name in ("sample", "inferred", "event"))
    row, label, truth = (found.labels.take(name) for name in ("row", "label", "truth"))
    values = found.values.whole()
    # Labels without predictions do not replace predictions.
    kept = _newest_inference(sample, inferred)
    stays = np.zeros(len(sample), bool)
    stays[kept] = True
    if not stays.all():
        rows = np.flatnonzero(stays[row])
        row, label, truth, values = row[rows], label[rows], truth[rows], values[rows]
    wrong = ~(np.isnan(values[:, 0]) | ((values[:, 0] >= 0.0) & (values[:, 0] <= 1.0)))
    report.tell(np.unique(event[row[wrong]]), "Expected probabilities from 0 to 1, found others; these are not shown.")
    outside = (label < 0) | (label >= named) if named else label < 0
    known = f"0 to {named - 1:,}" if named else "0 or more"
    report.tell(np.unique(event[row[outside]]), f"Expected labels {known}, found others; they are shown by their numbers.")
    values[wrong, 0] = np.nan
    return Predictions(sample[kept].astype(np.int64), inferred[kept], *_one_row_each(sample[row], label, truth, values))


def _one_row_each(sample: Ints, label: Ints, truth: Bools, values: NDArray[np.float32]) -> tuple[Ints, Ints, Floats, Bools]:
    """Return (sample, label, values, truth) with one row for each sample and label.

    A label that is true and predicted is stated twice: what was predicted of it is written last, and counts if it is a number.
    """
    order = _order([sample, label, (~truth).view(np.int8)])
    sample, label = sample[order], label[order]
    first = np.append(np.ones(min(1, len(order)), bool), (np.diff(sample) != 0) | (np.diff(label) != 0))
    group = np.cumsum(first, dtype=np.int32) - 1
    whole = np.full((4, int(first.sum())), np.nan).T
    for column in range(4):
        one = values[order, column]
        given = ~np.isnan(one)
        whole[group[given], column] = one[given]
    true = np.zeros(len(whole), np.bool_)
    true[group[truth[order]]] = True
    return sample[first].astype(np.int64), label[first].astype(np.int64), whole, true


def _newest_inference(sample: Ints, inferred: Bools) -> Ints:
    """Return the places of the newest statement of each sample, with predictions if there is one."""
    order = _order([sample, inferred.view(np.int8)])
    found: Ints = order[np.append(np.diff(sample[order]) != 0, np.ones(min(1, len(order)), bool))]
    return found


def _heat_maps(found: _Collected) -> HeatMaps:
    sample, explainer, label = (found.maps.take(name) for name in ("sample", "explainer", "label"))
    kept = _newest(sample, explainer, label)
    return HeatMaps(
        sample[kept].astype(np.int64), explainer[kept], label[kept].astype(np.int64), found.map_paths.whole(),
        kept.astype(np.int32),
    )  # fmt: skip


def _layers(found: _Collected) -> Layers:
    events, samples = found.explained.take("event"), found.explained.take("sample")
    newest = _newest(samples)
    samples = samples[newest]
    event, sample, label, layer = (found.layers.take(name) for name in ("event", "sample", "label", "layer"))
    stays = np.flatnonzero(events[newest][np.searchsorted(samples, sample)] == event)
    order = stays[_order([sample[stays], label[stays], layer[stays]])]
    return Layers(
        samples.astype(np.int64), sample[order].astype(np.int64), label[order].astype(np.int64), layer[order].astype(np.int64),
        found.layers.take("probability")[order].astype(np.float64), found.boxes.whole(), found.layers.take("start")[order],
        found.layers.take("stop")[order], found.layers.take("mask")[order],
    )  # fmt: skip
