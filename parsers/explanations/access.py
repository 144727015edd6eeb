"""What an explainer recorded of a run: frames, made of all its files when they are asked for.

A sample arrives in parts: its picture, its labels, its counterfactuals, and each of its heat maps. Files are taken in the order
of the times in their names, and of each part the newest statement counts. A run that was aborted has the parts up to there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from parsers.deferred import pandas as pd
from parsers.errors import FormatError, PayloadError
from parsers.explanation_frames import (
    EXPLANATION_COUNTERFACTUALS,
    EXPLANATION_LABELS,
    EXPLANATION_PREDICTIONS,
    EXPLANATION_SALIENCY,
    EXPLANATION_SAMPLES,
    EXPLANATION_SCORES,
    EXPLANATION_SIZES,
)
from parsers.explanations.columns import distinct
from parsers.explanations.merging import Layers, Predictions, RecordedExplanations, recorded
from parsers.explanations.packed_texts import NO_PATHS
from parsers.explanations.pictures import PictureFiles
from parsers.explanations.snapshot import RECORDED_FROM, Explanations, outcomes_of
from parsers.model import Ints, Problem
from parsers.payloads.cache import PayloadCache
from parsers.payloads.series import PayloadSeries

KIND = "explain"


class RunExplanations:
    """The explanations in the files of one run. Nothing is read until a frame is asked for; frames are shared: do not write."""

    def __init__(
        self, base: str, located: Callable[[], tuple[PayloadSeries, Sequence[str]]], cache: PayloadCache | None = None
    ) -> None:
        """base is the directory of the run; located returns where the records are, and the paths of the files by number."""
        self.base = base
        self.pictures = PictureFiles(base, cache)
        self._located = located
        self._lock = threading.RLock()
        self._made: tuple[Any, RecordedExplanations] | None = None
        self._frames: dict[str, pd.DataFrame] = {}

    def __bool__(self) -> bool:
        return bool(len(self._located()[0]))

    # Frames --------------------------------------------------------------------------------------------------------

    @property
    def samples(self) -> pd.DataFrame:
        """The samples (schema EXPLANATION_SAMPLES)."""
        return self._frame("samples", self._samples)

    @property
    def predictions(self) -> pd.DataFrame:
        """Labels of samples with probabilities (schema EXPLANATION_PREDICTIONS)."""
        return self._frame("predictions", self._predictions)

    @property
    def saliency(self) -> pd.DataFrame:
        """Heat maps (schema EXPLANATION_SALIENCY)."""
        return self._frame("saliency", self._saliency)

    @property
    def counterfactuals(self) -> pd.DataFrame:
        """Layers of hierarchical occlusion (schema EXPLANATION_COUNTERFACTUALS)."""
        return self._frame("counterfactuals", self._counterfactuals)

    @property
    def scores(self) -> pd.DataFrame:
        """Scores of explainers (schema EXPLANATION_SCORES)."""
        return self._frame("scores", self._scores)

    @property
    def labels(self) -> pd.DataFrame:
        """The labels (schema EXPLANATION_LABELS), by number: those named, and those that occur."""
        return self._frame("labels", self._labels)

    @property
    def explainers(self) -> tuple[str, ...]:
        """Names of the explainers: those that the files announce, then others that occur."""
        found = self._read()
        used = [found.names[code] for code in np.unique(found.heat_maps.explainer).tolist()]
        return tuple(dict.fromkeys([*found.metadata.explainers, *used, *(explainer for explainer, _ in found.scores)]))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics: those that the files announce, then others that occur."""
        found = self._read()
        return tuple(dict.fromkeys([*found.metadata.metrics, *(metric for _, metric in found.scores)]))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong in the records; reads them."""
        return tuple(self._read().problems)

    @property
    def complete(self) -> bool:
        """Whether each label that was named was recorded for each sample with predictions, so that all outcomes are exact."""
        labels, predictions = self.labels, self.predictions
        named = int(labels["named"].sum())
        inferred = int(self.samples["inferred"].sum())
        known = predictions["probability"].notna().to_numpy()
        return bool(named) and int(known.sum()) >= named * inferred

    def outcomes(self, threshold: float = RECORDED_FROM) -> pd.DataFrame:
        """Return which recorded labels are right at a threshold (schema EXPLANATION_OUTCOMES).

        TP: true and its probability reaches the threshold; FN: true, but it does not; FP: not true, but it does; TN: neither.
        MindInsight counts a label below 0.5 as FN whether it is true or not, and knows no TN. Samples without a true label have
        no outcome.
        """
        return outcomes_of(self.predictions, threshold)

    def sizes(self, rows: Sequence[int] | None = None) -> pd.DataFrame:
        """Return the sizes of heat maps by row of `saliency`, by default of all (schema EXPLANATION_SIZES).

        The records do not state sizes, so each file is opened: `saliency` therefore has no such column, and of a run with
        300,000 maps one asks for those that are looked at. FormatError for a row that does not exist.
        """
        paths = self.saliency["path"].array
        wanted = range(len(paths)) if rows is None else rows
        found: list[tuple[int, int, int, str]] = []
        for row in wanted:
            if not 0 <= row < len(paths):
                raise FormatError(f"row: expected 0 to {len(paths) - 1:,}, found {row:,}")
            try:
                picture = self.pictures.picture(str(paths[row]))
            except PayloadError as error:
                found.append((row, 0, 0, str(error)))
            else:
                found.append((row, picture.width, picture.height, picture.problem))
        columns = zip(*found, strict=True) if found else ((), (), (), ())
        series = (pd.Series(list(part), dtype=one.dtype) for part, one in zip(columns, EXPLANATION_SIZES.columns, strict=True))
        return EXPLANATION_SIZES.check(pd.DataFrame(dict(zip(EXPLANATION_SIZES.names, series, strict=True))))

    # A moment -------------------------------------------------------------------------------------------------------

    @property
    def stamp(self) -> object:
        """Another object whenever the records are others; comparing it reads nothing."""
        return self._located()[0]

    def snapshot(self) -> Explanations:
        """Return all frames as they are now, which reads the records."""
        with self._lock:
            while True:
                found = self._read()
                made = Explanations(
                    self.samples, self.predictions, self.saliency, self.counterfactuals, self.scores, self.labels,
                    self.explainers, self.metrics, self.problems, self.complete, self.pictures,
                )  # fmt: skip
                if self._made is not None and self._made[1] is found:
                    return made

    def forget(self) -> None:
        """Drop what was read; frames that others have stay as they are."""
        with self._lock:
            self._made, self._frames = None, {}

    # Making them ---------------------------------------------------------------------------------------------------

    def _frame(self, name: str, make: Callable[[RecordedExplanations], pd.DataFrame]) -> pd.DataFrame:
        with self._lock:
            found = self._read()
            if name not in self._frames:
                self._frames[name] = make(found)
            return self._frames[name]

    def _samples(self, found: RecordedExplanations) -> pd.DataFrame:
        pictures, stated = found.pictures, found.predictions
        ascending = (pictures.sample, stated.samples, found.heat_maps.sample, found.layers.samples)
        sample = reduce(_in_either, map(distinct, ascending))
        place = np.searchsorted(sample, pictures.sample)
        if len(place) == len(sample):
            image = pictures.paths.column(pictures.row)
        else:
            texts = np.full(len(sample), "", object)
            texts[place] = pictures.paths.column(pictures.row).to_numpy(object)
            image = pd.Series(texts, dtype="str")
        file = np.zeros(len(sample), np.int32)
        file[place] = np.searchsorted(found.files, pictures.event, side="right") - 1
        inferred = np.zeros(len(sample), np.bool_)
        inferred[np.searchsorted(sample, stated.samples)] = stated.inferred
        columns = {
            "sample": sample, "image": image, "truth": _true_labels(sample, stated), "inferred": inferred, "file": file,
        }  # fmt: skip
        return EXPLANATION_SAMPLES.check(pd.DataFrame(columns, copy=False))

    def _predictions(self, found: RecordedExplanations) -> pd.DataFrame:
        parts = found.predictions
        columns = {
            "sample": parts.sample, "label": parts.label,
            **{name: parts.values[:, place] for place, name in enumerate(("probability", "sd", "low", "high"))},
            "truth": parts.truth,
        }  # fmt: skip
        return EXPLANATION_PREDICTIONS.check(pd.DataFrame(columns, copy=False))

    def _saliency(self, found: RecordedExplanations) -> pd.DataFrame:
        maps = found.heat_maps
        columns = {
            "sample": maps.sample, "explainer": _named(maps.explainer, found.names), "label": maps.label,
            "path": maps.paths.column(maps.row),
        }  # fmt: skip
        found.heat_maps = replace(maps, paths=NO_PATHS, row=maps.row[:0])  # the frame has the paths from now on
        return EXPLANATION_SALIENCY.check(pd.DataFrame(columns, copy=False))

    def _counterfactuals(self, found: RecordedExplanations) -> pd.DataFrame:
        parts = found.layers
        columns = {
            "sample": parts.sample, "label": parts.label, "layer": parts.layer, "probability": parts.probability,
            "boxes": pd.array(_box_texts(parts), dtype="str"), "mask": _named(parts.mask, found.names),
        }  # fmt: skip
        return EXPLANATION_COUNTERFACTUALS.check(pd.DataFrame(columns, copy=False))

    def _scores(self, found: RecordedExplanations) -> pd.DataFrame:
        rows = [
            (one.explainer, one.metric, label, score)
            for one in found.scores.values()
            for label, score in enumerate((one.total, *one.labels), start=-1)
        ]
        explainer, metric, label, score = zip(*rows, strict=True) if rows else ((), (), (), ())
        columns = {
            "explainer": _categories(explainer), "metric": _categories(metric), "label": np.array(label, np.int64),
            "score": np.array(score, np.float64),
        }  # fmt: skip
        return EXPLANATION_SCORES.check(pd.DataFrame(columns, copy=False))

    def _labels(self, found: RecordedExplanations) -> pd.DataFrame:
        names = found.metadata.labels
        predictions = self.predictions
        label, truth = predictions["label"].to_numpy(), predictions["truth"].to_numpy()
        used = [np.unique(part) for part in (label, found.heat_maps.label, found.layers.label)]
        every = np.unique(np.concatenate([np.arange(len(names)), *used]))
        named = (every >= 0) & (every < len(names))
        name_of = {one: name for one, name in enumerate(names) if name}
        at = np.searchsorted(every, label)
        columns = {
            "label": every.astype(np.int64),
            "name": pd.array([name_of.get(one, f"label {one}") for one in every.tolist()], dtype="str"),
            "named": named,
            "predicted": np.bincount(at, minlength=len(every)), "true": np.bincount(at[truth], minlength=len(every)),
        }  # fmt: skip
        return EXPLANATION_LABELS.check(pd.DataFrame(columns, copy=False))

    # Reading -------------------------------------------------------------------------------------------------------

    def _read(self) -> RecordedExplanations:
        with self._lock:
            series, paths = self._located()
            if self._made is None or self._made[0] is not series:
                self._frames = {}
                self._made = series, recorded(series, paths)
            return self._made[1]


def _in_either(one: Ints, other: Ints) -> Ints:
    """Return what is in one or both of two ascending arrays of different values; mostly they are the same."""
    return one if np.array_equal(one, other) else np.union1d(one, other)


def _box_texts(parts: Layers) -> list[str]:
    """Return the boxes of each layer as text: x,y,width,height separated by semicolons."""
    count = (parts.stop - parts.start) // 4
    ends = np.cumsum(count)
    at = np.repeat(parts.start - 4 * (ends - count), count)
    at += 4 * np.arange(len(at))
    sides = (parts.boxes[at + side].tolist() for side in range(4))
    texts = [f"{x},{y},{width},{height}" for x, y, width, height in zip(*sides, strict=True)]
    if (count == 1).all():
        return texts
    return [";".join(texts[end - some : end]) for end, some in zip(ends.tolist(), count.tolist(), strict=True)]


def _true_labels(sample: Ints, parts: Predictions) -> pd.Categorical:
    """Return the numbers of the true labels of each sample as text."""
    of, label = parts.sample[parts.truth], parts.label[parts.truth]
    place = np.searchsorted(sample, of)
    count = np.bincount(place, minlength=len(sample))
    single = count[place] == 1
    labels, codes = np.unique(label[single], return_inverse=True)
    names = {str(one): number for number, one in enumerate(labels.tolist())}
    found = np.full(len(sample), names.setdefault("", len(names)), np.int64)
    found[place[single]] = codes
    starts = np.searchsorted(place, np.arange(len(sample) + 1)).tolist()
    for one in np.flatnonzero(count > 1).tolist():
        text = " ".join(map(str, label[starts[one] : starts[one + 1]].tolist()))
        found[one] = names.setdefault(text, len(names))
    return pd.Categorical.from_codes(found, categories=pd.Index(list(names), dtype="str"))


def _categories(texts: Sequence[str]) -> pd.Categorical:
    known: dict[str, int] = {}
    codes = [known.setdefault(text, len(known)) for text in texts]
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(known), dtype="str"))


def _named(codes: Ints, names: Sequence[str]) -> pd.Categorical:
    used = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    return pd.Categorical.from_codes(
        np.searchsorted(used, codes), categories=pd.Index([names[code] for code in used.tolist()], dtype="str")
    )
