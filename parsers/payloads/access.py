"""The large values of a run: as index frames, as items of one tag, and one by one, decoded when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pandas as pd

from parsers.analysis.tensors import distribution
from parsers.errors import FormatError, PayloadError
from parsers.file_states import FileState
from parsers.frames import HISTOGRAMS, IMAGES, LANDSCAPES, TENSORS, TEXTS
from parsers.model import PayloadBlock, Problem
from parsers.payloads.cache import PayloadCache
from parsers.payloads.decoding import check_length, decode
from parsers.payloads.reading import ValueLocation, read
from parsers.payloads.series import PayloadSeries, join
from parsers.payloads.twins import with_twin
from parsers.payloads.values import (
    HistogramValue,
    ImageValue,
    LandscapeValue,
    TensorValue,
    TextValue,
    Value,
)
from parsers.schema import Schema

V = TypeVar("V", HistogramValue, ImageValue, TensorValue, LandscapeValue, TextValue)


class Recorded:
    """The part of a Run that knows its large values.

    A value is named by kind, tag and place, its index in `payload_series(kind, tag)`; negative places count from the newest.
    """

    _lock: threading.RLock
    _states: dict[str, FileState]
    _cache: PayloadCache
    _items: dict[tuple[str, str], PayloadSeries]

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Tags of one kind in order of first appearance."""
        raise NotImplementedError

    def _blocks(self, kind: str, tag: str) -> list[tuple[int, PayloadBlock]]:
        """(number of the file, index) of one tag of one kind."""
        raise NotImplementedError

    # Index ---------------------------------------------------------------------------------------------------------

    @property
    def histograms(self) -> pd.DataFrame:
        """Where every histogram is (schema HISTOGRAMS)."""
        return self._index("histogram", HISTOGRAMS)

    @property
    def images(self) -> pd.DataFrame:
        """Where every image is (schema IMAGES)."""
        return self._index("image", IMAGES)

    @property
    def tensors(self) -> pd.DataFrame:
        """Where every tensor is (schema TENSORS)."""
        return self._index("tensor", TENSORS)

    @property
    def landscapes(self) -> pd.DataFrame:
        """Where every loss landscape is (schema LANDSCAPES)."""
        return self._index("landscape", LANDSCAPES)

    @property
    def texts(self) -> pd.DataFrame:
        """Where every text is (schema TEXTS)."""
        return self._index("text", TEXTS)

    def _index(self, kind: str, schema: Schema) -> pd.DataFrame:
        with self._lock:
            tags = self.tags(kind)
            found = [self.payload_series(kind, tag) for tag in tags]
        if not tags:
            return schema.empty()
        codes = np.repeat(np.arange(len(tags), dtype=np.min_scalar_type(-len(tags))), [len(items) for items in found])
        tag = pd.Categorical.from_codes(codes, categories=pd.Index(tags, dtype="str"), validate=False)
        columns = {name: np.concatenate([getattr(items, name) for items in found]) for name in schema.names[1:]}
        return pd.DataFrame({"tag": tag, **columns}, copy=False)

    def payload_series(self, kind: str, tag: str) -> PayloadSeries:
        """All values of one tag of one kind in the order they were written; none for an unknown tag."""
        with self._lock:
            items = self._items.get((kind, tag))
            if items is None:
                items = join(self._blocks(kind, tag))
                if len(items):
                    self._items[kind, tag] = items
            return items

    def find(self, kind: str, tag: str, step: int) -> int:
        """ValueLocation of the value of a step, of several the one written last; PayloadError where there is none."""
        items = self.payload_series(kind, tag)
        place = items.find(step)
        if place is None:
            known = f"steps {items.step.min():,} to {items.step.max():,}" if len(items) else "no values"
            raise PayloadError(f"{kind} {tag}: wanted step {step:,}, got {known}")
        return place

    # Values --------------------------------------------------------------------------------------------------------

    def value(self, kind: str, tag: str, place: int) -> Value:
        """One value, decoded. PayloadError says which file and record, what was wanted and what was found."""
        return self._value(kind, tag, place, keep=True)

    def _value(self, kind: str, tag: str, place: int, *, keep: bool) -> Value:
        with self._lock:
            state, at, step = self._locate(kind, tag, place)
            identity, reader = state.identity, state.reader
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
        """How the values of a tensor are distributed (`analysis.distribution`); made once, the tensor is not kept for it.

        With known, None where it has yet to be made. Of a tensor whose record is damaged it has no buckets, and says why.
        """
        with self._lock:
            state, at, _ = self._locate("tensor", tag, place)
            key = (state.identity, "distribution", at.order, at.offset)
        found = self._cache.derived.get(key)
        if found is None and not known:
            found = self._distribution(tag, place)
            self._cache.derived.put(key, found)
        return found if found is None else _typed(found, HistogramValue)

    def _distribution(self, tag: str, place: int) -> HistogramValue:
        try:
            return distribution(_typed(self._value("tensor", tag, place, keep=False), TensorValue).data)
        except PayloadError as error:
            if not isinstance(error.__cause__, FormatError):
                raise
            none = np.empty(0)
            return HistogramValue(none, none, none, np.nan, np.nan, np.nan, 0, problem=str(error))

    def raw(self, kind: str, tag: str, place: int) -> memoryview:
        """The bytes of the message of one value, checked. PayloadError as for `value`."""
        with self._lock:
            state, at, _ = self._locate(kind, tag, place)
            identity = state.identity
        try:
            return self._read(kind, state, identity, at)
        except PayloadError:
            raise
        except FormatError as error:
            raise PayloadError(f"{kind} {tag}: {error}", at.path, at.order) from error

    def _read(self, kind: str, state: FileState, identity: object, at: ValueLocation) -> memoryview:
        check_length(kind, at.length)
        data = read(at)
        if not at.verified:
            self._verified(state, identity, at.order)
        return data

    def histogram(self, tag: str, place: int) -> HistogramValue:
        """One histogram."""
        return _typed(self.value("histogram", tag, place), HistogramValue)

    def image(self, tag: str, place: int) -> ImageValue:
        """One image, encoded as it was recorded."""
        return _typed(self.value("image", tag, place), ImageValue)

    def tensor(self, tag: str, place: int) -> TensorValue:
        """One tensor; in full precision where an exported .npy file of it lies beside the event file."""
        return _typed(self.value("tensor", tag, place), TensorValue)

    def landscape(self, tag: str, place: int) -> LandscapeValue:
        """One loss landscape."""
        return _typed(self.value("landscape", tag, place), LandscapeValue)

    def text(self, tag: str, place: int) -> TextValue:
        """One text."""
        return _typed(self.value("text", tag, place), TextValue)

    def _verified(self, state: FileState, identity: object, order: int) -> None:
        with self._lock:
            if state.identity is identity:  # else the file was replaced meanwhile, and the record is another one
                state.checked.add(order)

    def _noted(self, state: FileState, identity: object, problems: Sequence[Problem]) -> None:
        """Keep what was found wrong when a value was decoded with the problems of its file."""
        with self._lock:
            if state.identity is identity:
                for problem in problems:
                    state.note(problem)

    def _locate(self, kind: str, tag: str, place: int) -> tuple[FileState, ValueLocation, int]:
        """The file a value is in, where in it, and the value's step."""
        items = self.payload_series(kind, tag)
        if not -len(items) <= place < len(items):
            known = f"place 0 to {len(items) - 1:,}" if len(items) else "a tag that was recorded"
            raise PayloadError(f"{kind} {tag}: wanted {known}, got place {place:,}")
        path, state = list(self._states.items())[items.file[place]]
        order, offset, length = int(items.order[place]), int(items.offset[place]), int(items.length[place])
        at = ValueLocation(path, order, offset, length, state.cursor, state.verified(kind, tag, order))
        return state, at, int(items.step[place])


def _typed(value: Value, kind: type[V]) -> V:
    if not isinstance(value, kind):
        raise TypeError(f"wanted {kind.__name__}, got {type(value).__name__}")
    return value
