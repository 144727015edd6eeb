"""The model conversions of a run by name: indexed while its files are read, decoded on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from parsers.errors import FormatError, PayloadError
from parsers.file_states import FileState
from parsers.graphs.conversion import KIND, ConversionReport, read_conversion
from parsers.model import Problem
from parsers.payloads.cache import PayloadCache

Noted: TypeAlias = Callable[[FileState, object, Sequence[Problem]], None]


class Conversions(Mapping[str, ConversionReport]):
    """Name of a file -> report, in file order. Iterating and counting decode nothing.

    A lookup raises KeyError for an unknown name and PayloadError if the bytes cannot be read; damage within them is in the
    report's `problems`, and from then on in the run's.
    """

    def __init__(self, states: Mapping[str, FileState], cache: PayloadCache, noted: Noted) -> None:
        self._cache, self._noted = cache, noted
        self._places: dict[str, tuple[str, FileState]] = {}
        for path, state in states.items():
            for kind, tag in state.payloads:
                if kind == KIND:
                    self._places.setdefault(tag, (path, state))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> ConversionReport:
        path, state = self._places[name]
        key = (state.identity, KIND, path, _script_stamp(path))
        report: ConversionReport | None = self._cache.get(key)
        if report is None:
            report = _read(name, path, state)
            self._cache.put(key, report)
            self._noted(state, state.identity, report.problems)
        return report


def _read(name: str, path: str, state: FileState) -> ConversionReport:
    try:
        return read_conversion(path, state.cursor)
    except FormatError as error:
        raise PayloadError(f"conversion {name}: {error}", path, 0) from error
    except OSError as error:
        raise PayloadError(f"conversion {name}: the file cannot be read: {error.strerror or error}", path, 0) from error
    except MemoryError as error:
        raise PayloadError(f"conversion {name}: it does not fit in memory", path, 0) from error


def _script_stamp(path: str) -> float:
    """Return when something in the directory of a report was last written: a script may come later than its report."""
    try:
        return os.stat(os.path.dirname(path) or ".").st_mtime
    except OSError:
        return 0.0
