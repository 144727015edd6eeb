"""The large values of a run: as index frames, as series of one tag, and one by one, decoded on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from parsers.deferred import pandas as pd
from parsers.errors import FormatError, PayloadError
from parsers.file_states import FileState
from parsers.frames import HISTOGRAMS, IMAGES, LANDSCAPES, TENSORS, TEXTS
from parsers.payloads.cache import PayloadCache
from parsers.payloads.payload_reading import ValueLocation, read
from parsers.payloads.series import PayloadSeries, join
from parsers.payloads.values import (
    HistogramValue,
    ImageValue,
    LandscapeValue,
    TensorValue,
    TextValue,
    Value,
)
from parsers.run_files import RunFiles
from parsers.schema import Schema

V = TypeVar("V", HistogramValue, ImageValue, TensorValue, LandscapeValue, TextValue)
INDEXES: Mapping[str, Schema] = {
    "histogram": HISTOGRAMS, "image": IMAGES, "tensor": TENSORS, "landscape": LANDSCAPES, "text": TEXTS,
}  # fmt: skip
"""Kind -> schema of the index of its values."""


class RunPayloads:
    """The large values in the files of one run.

    A value is named by kind, tag and place: its index in `series(kind, tag)`. Negative places count from the newest.
    """

    def __init__(self, files: RunFiles, cache: PayloadCache) -> None:
        self._files, self._cache = files, cache
        self._series: dict[tuple[str, str], PayloadSeries] = files.cache()

    def index(self, kind: str) -> pd.DataFrame:
        """Return the location of every value of a kind (schema INDEXES[kind])."""
        schema = INDEXES[kind]
        with self._files.lock:
            tags = self._files.tags(kind)
            found = [self.series(kind, tag) for tag in tags]
        if not tags:
            return schema.empty()
        codes = np.repeat(np.arange(len(tags), dtype=np.min_scalar_type(-len(tags))), [len(series) for series in found])
        tag = pd.Categorical.from_codes(codes, categories=pd.Index(tags, dtype="str"), validate=False)
        columns = {name: np.concatenate([getattr(series, name) for series in found]) for name in schema.names[1:]}
        return pd.DataFrame({"tag": tag, **columns}, copy=False)

    def series(self, kind: str, tag: str) -> PayloadSeries:
        """Locate all values of one tag of one kind, in the order they were written; none for an unknown tag."""
        with self._files.lock:
            series = self._series.get((kind, tag))
            if series is None:
                series = join(self._files.payload_blocks(kind, tag))
                if len(series):
                    self._series[kind, tag] = series
            return series

    def find(self, kind: str, tag: str, step: int) -> int:
        """Return the place of the value of a step, of several the one written last; PayloadError if there is none."""
        series = self.series(kind, tag)
        place = series.find(step)
        if place is None:
            known = f"steps {series.step.min():,} to {series.step.max():,}" if len(series) else "no values"
            raise PayloadError(f"{kind} {tag}: expected step {step:,}, found {known}")
        return place


    def value(self, kind: str, tag: str, place: int) -> Value:
        """Decode one value. PayloadError names file and record, what was expected and what was found."""
        return self._value(kind, tag, place, keep=True)

    def _value(self, kind: str, tag: str, place: int, *, keep: bool) -> Value:
        with self._files.lock:
            state, at, step = self._locate(kind, tag, place)
            identity, reader = state.identity, state.reader
        from parsers.payloads.decoding import decode  # for the first large value that somebody looks at
        from parsers.payloads.twins import with_twin

        key = (identity, kind, at.order, at.offset)
        value: Value | None = self._cache.get(key)
        if value is not None:
            return value
        try:
            value = decode(reader, kind, self._read(kind, state, identity, at))
        except PayloadError:
            raise
        except FormatError as error:
            raise PayloadError(f"{kind} {tag}: {error}", at.path, at.order) from error
        if isinstance(value, TensorValue) and value.stored_as:
            value = with_twin(value, at.path, tag, step)
        if keep:
            self._cache.put(key, value)
        return value

    def distribution(self, tag: str, place: int, *, known: bool = False) -> HistogramValue | None:
        """Return the distribution of a tensor's values (`analysis.distribution`), computed once; the tensor is not cached.

        With known, None if it has not been computed yet. For a damaged record it has no buckets, and `problem` says why.
        """
        with self._files.lock:
            state, at, _ = self._locate("tensor", tag, place)
            key = (state.identity, "distribution", at.order, at.offset)
        found = self._cache.derived.get(key)
        if found is None and not known:
            found = self._distribution(tag, place)
            self._cache.derived.put(key, found)
        return found if found is None else _typed(found, HistogramValue)

    def _distribution(self, tag: str, place: int) -> HistogramValue:
        from parsers.analysis.values.tensors import distribution

        try:
            return distribution(_typed(self._value("tensor", tag, place, keep=False), TensorValue).data)
        except PayloadError as error:
            if not isinstance(error.__cause__, FormatError):
                raise
            none = np.empty(0)
            return HistogramValue(none, none, none, np.nan, np.nan, np.nan, 0, problem=str(error))

    def raw(self, kind: str, tag: str, place: int) -> memoryview:
        """Return the bytes of the message of one value, checked. PayloadError as for `value`."""
        with self._files.lock:
            state, at, _ = self._locate(kind, tag, place)
            identity = state.identity
        try:
            return self._read(kind, state, identity, at)
        except PayloadError:
            raise
        except FormatError as error:
            raise PayloadError(f"{kind} {tag}: {error}", at.path, at.order) from error

    def _read(self, kind: str, state: FileState, identity: object, at: ValueLocation) -> memoryview:
        from parsers.payloads.decoding import check_length

        check_length(kind, at.length)
        data = read(at)
        if not at.verified:
            self._files.mark_verified(state, identity, at.order)
        return data

    def typed(self, kind: str, tag: str, place: int, type: type[V]) -> V:  # noqa: A002  reads as the builtin it stands for
        """Decode one value, which must be of this type."""
        return _typed(self.value(kind, tag, place), type)

    def _locate(self, kind: str, tag: str, place: int) -> tuple[FileState, ValueLocation, int]:
        """Return the file state, location and step of a value."""
        series = self.series(kind, tag)
        if not -len(series) <= place < len(series):
            known = f"place 0 to {len(series) - 1:,}" if len(series) else "a tag that was recorded"
            raise PayloadError(f"{kind} {tag}: expected {known}, found place {place:,}")
        path, state = list(self._files.states.items())[series.file[place]]
        order, offset, length = int(series.order[place]), int(series.offset[place]), int(series.length[place])
        at = ValueLocation(path, order, offset, length, state.cursor, state.verified(kind, tag, order))
        return state, at, int(series.step[place])


def _typed(value: Value, kind: type[V]) -> V:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value
