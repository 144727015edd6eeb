"""The events of an explainer file as columns, in the order they were written.

An event states one or several parts of a sample, or scores, or names. The messages are those of summary.proto: `Explain` with
its `Inference`, `Explanation`, `Benchmark`, `Metadata`, `Hoc` and `HocLayer` (parsers.events.messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from parsers.events.wire import DELIMITED, FIXED32, VARINT
from parsers.explanations.columns import Bytes, Fields, distinct, fields, floats, texts
from parsers.explanations.packed_texts import PackedPaths, packed
from parsers.model import Floats, Ints

_NONE = np.zeros(0, np.int64)
_TRUE_LABEL, _INFERENCE, _EXPLANATION, _BENCHMARK, _METADATA, _HOC = 3, 4, 5, 6, 7, 9
_TRUE = (1, 4, 5, 6)
"""Numbers of the fields of Inference about true labels: probability, standard deviation, lower and upper end."""
_PREDICTED = (3, 7, 8, 9)
_OFTEN = 32
"""Different texts that are looked for all over a piece of a file."""


@dataclass(frozen=True, slots=True)
class PictureEvents:
    """Events that name a picture: number of the event, sample, path."""

    event: Ints
    sample: Ints
    path: PackedPaths


@dataclass(frozen=True, slots=True)
class Inferences:
    """Labels of samples.

    event and sample are the events that state labels and what these are about, inferred whether they have predictions. row is
    the place in these of each label. values has shape (labels, 4): probability, standard deviation, both ends of the interval;
    NaN for what is not stated. A probability that is stated as NaN is infinite here.
    """

    event: Ints
    sample: Ints
    inferred: NDArray[np.bool_]
    row: Ints
    label: Ints
    truth: NDArray[np.bool_]
    values: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class HeatMapEvents:
    """Heat maps: sample, place of the explainer in `Events.names`, label, path."""

    sample: Ints
    explainer: Ints
    label: Ints
    path: PackedPaths


@dataclass(frozen=True, slots=True)
class LayerEvents:
    """Layers of counterfactuals: number of the event, sample, label, number of the layer, probability, boxes as the numbers
    boxes[start:stop], place of the mask in `Events.names`. events and samples are all events with counterfactuals, also
    without layers."""

    events: Ints
    samples: Ints
    event: Ints
    sample: Ints
    label: Ints
    layer: Ints
    probability: Floats
    start: Ints
    stop: Ints
    boxes: Ints
    mask: Ints


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of an explainer by a metric: of all labels together, and of each."""

    event: int
    metric: str
    explainer: str
    total: float
    labels: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RecordedNames:
    """What a file says of its names: labels, explainers and metrics."""

    event: int
    labels: tuple[str, ...]
    explainers: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Events:
    """What events state. names are texts that occur often. damaged are the numbers of events that are damaged in a part, odd
    those with numbers of values that do not belong together, such as other numbers of probabilities than of labels."""

    pictures: PictureEvents
    inferences: Inferences
    heat_maps: HeatMapEvents
    layers: LayerEvents
    scores: tuple[Score, ...]
    metadata: tuple[RecordedNames, ...]
    names: tuple[str, ...]
    damaged: Ints
    odd: Ints


@dataclass(slots=True)
class _NumberedTexts:
    """Numbers texts that occur often."""

    known: dict[bytes, int] = field(default_factory=dict)

    def codes(self, data: Bytes, first: Ints, end: Ints) -> Ints:
        """Return the number of each text: of many equal ones at once, of rare ones one by one."""
        codes = np.full(len(first), -1, np.int64)
        left, known = np.arange(len(first)), self.known
        for _ in range(_OFTEN):
            if not len(left):
                break
            begin, size = int(first[left[0]]), int(end[left[0]] - first[left[0]])
            alike = left[end[left] - first[left] == size]
            same = alike[(data[first[alike][:, None] + np.arange(size)] == data[begin : begin + size]).all(axis=1)]
            codes[same] = known.setdefault(data[begin : begin + size].tobytes(), len(known))
            left = left[codes[left] < 0]
        for row in left.tolist():
            codes[row] = known.setdefault(data[int(first[row]) : int(end[row])].tobytes(), len(known))
        return codes

    def texts(self) -> tuple[str, ...]:
        """Return the texts by number."""
        return tuple(name.decode("utf-8", "replace") for name in self.known)


def events_of(data: Bytes, start: Ints, end: Ints, number: Ints) -> Events:
    """Read the messages `Explain` between these positions of data; number is that of each event."""
    whole = fields(data, start, end)
    damaged = whole.damaged.copy()
    names = _NumberedTexts()
    sample = _per_message(whole.last(1, VARINT), len(start), 0)
    row, first, stop = whole.last(2, DELIMITED)
    pictures = PictureEvents(number[row], sample[row], packed(data, first, stop))
    inferences, odd = _inferences(data, whole, number, sample, damaged)
    heat_maps = _heat_maps(data, whole, sample, names, damaged)
    layers, odd_layers = _layers(data, whole, number, sample, names, damaged)
    scores = _scores(data, whole, number, damaged)
    metadata = _metadata(data, whole, number, damaged)
    return Events(
        pictures, inferences, heat_maps, layers, scores, metadata, names.texts(), number[damaged],
        np.unique(np.concatenate([odd, odd_layers])) if len(odd) or len(odd_layers) else _NONE,
    )  # fmt: skip


def _per_message(found: tuple[Ints, Ints, Ints], count: int, missing: int) -> Ints:
    row, value, _ = found
    values = np.full(count, missing, np.int64)
    values[row] = value.astype(np.int32)
    return values


def _inside(data: Bytes, whole: Fields, number: int, damaged: NDArray[np.bool_], *, last: bool = False) -> tuple[Ints, Fields]:
    """Return the messages in a field: (message each is in, its fields)."""
    row, first, end = (whole.last if last else whole.where)(number, DELIMITED)
    found = fields(data, first, end)
    damaged[row[found.damaged]] = True
    return row, found


def _repeated(data: Bytes, found: Fields, number: int, kind: int) -> tuple[Ints, Ints]:
    """Return (row, value or position) of a repeated field of numbers, packed or not."""
    row, first, _ = found.where(number, kind)
    packed_row, begin, end = found.where(number, DELIMITED)
    if not len(packed_row):
        return row, first
    rows, values = [row], [first]
    for one, a, b in zip(packed_row.tolist(), begin.tolist(), end.tolist(), strict=True):
        parts = np.arange(a, b - 3, 4) if kind == FIXED32 else _packed_varints(data[a:b])
        rows.append(np.full(len(parts), one, np.int64))
        values.append(parts)
    every = np.concatenate(rows)
    order = np.argsort(every, kind="stable")
    return every[order], np.concatenate(values)[order]


def _packed_varints(data: Bytes) -> Ints:
    """Return the numbers of a packed field; a part of a number at its end is left out."""
    ends = np.flatnonzero(data < 0x80)
    values, begin = [], 0
    for end in ends.tolist():
        value = 0
        for place, byte in enumerate(data[begin : end + 1].tolist()[:10]):
            value |= (byte & 0x7F) << 7 * place
        values.append(value - (1 << 64) if value >= 1 << 63 else value)
        begin = end + 1
    return np.array(values, np.int64)


def _inferences(
    data: Bytes, whole: Fields, number: Ints, sample: Ints, damaged: NDArray[np.bool_]
) -> tuple[Inferences, Ints]:
    true_row, true_label = _repeated(data, whole, _TRUE_LABEL, VARINT)
    message, found = _inside(data, whole, _INFERENCE, damaged, last=True)
    count = len(number)
    inferred = np.zeros(count, np.bool_)
    inferred[message] = True
    stated = np.flatnonzero(inferred | (np.bincount(true_row, minlength=count) > 0))
    place = np.full(count, -1, np.int64)
    place[stated] = np.arange(len(stated))
    odd = np.zeros(count, np.bool_)
    inner_row, predicted = _repeated(data, found, 2, VARINT)
    of_true = _values(data, found, message, true_row, _TRUE, odd)
    predicted_row = message[inner_row]
    of_predicted = _values(data, found, message, predicted_row, _PREDICTED, odd)
    row = np.concatenate([place[true_row], place[predicted_row]])
    truth = np.concatenate([np.ones(len(true_row), bool), np.zeros(len(predicted_row), bool)])
    label = np.concatenate([true_label, predicted]).astype(np.int32).astype(np.int64)
    values = np.concatenate([of_true, of_predicted])
    inferences = Inferences(number[stated], sample[stated], inferred[stated], row, label, truth, values)
    return inferences, number[odd]


def _values(
    data: Bytes, found: Fields, message: Ints, wanted: Ints, numbers: Sequence[int], odd: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
    """Return four values for each label: the n-th of each list belongs to the n-th label of the message."""
    values = np.full((len(wanted), len(numbers)), np.nan, np.float32)
    order = np.argsort(wanted, kind="stable")
    sorted_rows = wanted[order]
    count = np.bincount(sorted_rows, minlength=len(odd)) if len(odd) else _NONE
    for column, number in enumerate(numbers):
        inner, first = _repeated(data, found, number, FIXED32)
        row = message[inner]
        if not len(row):
            continue
        numbered = np.arange(len(row)) - np.searchsorted(row, row)
        given = np.bincount(row, minlength=len(odd))
        odd |= (given > 0) & (given != count)
        fits = numbered < count[row]
        at = np.searchsorted(sorted_rows, row[fits]) + numbered[fits]
        stated = floats(data, first[fits])
        if column == 0:  # NaN stands for what was not stated
            stated = np.where(np.isnan(stated), np.float32(np.inf), stated)
        values[order[at], column] = stated
    return values


def _heat_maps(
    data: Bytes, whole: Fields, sample: Ints, names: _NumberedTexts, damaged: NDArray[np.bool_]
) -> HeatMapEvents:
    message, found = _inside(data, whole, _EXPLANATION, damaged)
    row, first, end = found.last(3, DELIMITED)
    explainer = np.full(len(message), -1, np.int64)
    named, a, b = found.last(1, DELIMITED)
    explainer[named] = names.codes(data, a, b)
    nameless = explainer < 0
    if nameless.any():
        explainer[nameless] = names.known.setdefault(b"", len(names.known))
    label = _per_message(found.last(2, VARINT), len(message), 0)
    return HeatMapEvents(
        sample[message[row]].astype(np.int32), explainer[row].astype(np.int32), label[row].astype(np.int32),
        packed(data, first, end),
    )  # fmt: skip


def _layers(
    data: Bytes, whole: Fields, number: Ints, sample: Ints, names: _NumberedTexts, damaged: NDArray[np.bool_]
) -> tuple[LayerEvents, Ints]:
    message, found = _inside(data, whole, _HOC, damaged)
    label = _per_message(found.last(1, VARINT), len(message), 0)
    mask = np.full(len(message), -1, np.int64)
    named, a, b = found.last(2, DELIMITED)
    mask[named] = names.codes(data, a, b)
    if (mask < 0).any():
        mask[mask < 0] = names.known.setdefault(b"", len(names.known))
    hoc, first, end = found.where(3, DELIMITED)
    inner = fields(data, first, end)
    damaged[message[hoc[inner.damaged]]] = True
    probability = np.full(len(hoc), np.nan)
    row, at, _ = inner.last(1, FIXED32)
    probability[row] = floats(data, at)
    box_row, boxes = _repeated(data, inner, 2, VARINT)
    start = np.searchsorted(box_row, np.arange(len(hoc)))
    stop = np.searchsorted(box_row, np.arange(len(hoc)), side="right")
    odd = (stop - start) % 4 != 0
    layer = np.arange(len(hoc)) - np.searchsorted(hoc, hoc)
    of_event = message[hoc]
    with_any = distinct(message)
    layers = LayerEvents(
        number[with_any], sample[with_any], number[of_event], sample[of_event], label[hoc], layer, probability, start,
        stop - (stop - start) % 4, boxes, mask[hoc],
    )  # fmt: skip
    return layers, number[of_event[odd]]


def _scores(data: Bytes, whole: Fields, number: Ints, damaged: NDArray[np.bool_]) -> tuple[Score, ...]:
    message, found = _inside(data, whole, _BENCHMARK, damaged)
    named = {}
    for at in (1, 2):
        row, first, end = found.last(at, DELIMITED)
        named[at] = dict(zip(row.tolist(), texts(data, first, end), strict=True))
    row, first, _ = found.last(3, FIXED32)
    total = dict(zip(row.tolist(), floats(data, first).astype(float).tolist(), strict=True))
    label_row, label_at = _repeated(data, found, 4, FIXED32)
    label_scores = floats(data, label_at).astype(float).tolist()
    bounds = np.searchsorted(label_row, np.arange(len(message) + 1)).tolist()
    return tuple(
        Score(
            int(number[one]), named[1].get(place, ""), named[2].get(place, ""), total.get(place, float("nan")),
            tuple(label_scores[bounds[place] : bounds[place + 1]]),
        )
        for place, one in enumerate(message.tolist())
    )  # fmt: skip


def _metadata(data: Bytes, whole: Fields, number: Ints, damaged: NDArray[np.bool_]) -> tuple[RecordedNames, ...]:
    message, found = _inside(data, whole, _METADATA, damaged)
    made = []
    for place, one in enumerate(message.tolist()):
        lists = []
        for at in (1, 2, 3):
            row, first, end = found.where(at, DELIMITED)
            mine = row == place
            lists.append(tuple(texts(data, first[mine], end[mine])))
        made.append(RecordedNames(int(number[one]), *lists))
    return tuple(made)
