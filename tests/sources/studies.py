"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from layouts.tuning.source import StudySource
from layouts.tuning.studies import Importances, OpenStudy, StudyRow

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryStudies(StudySource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def rows(self) -> Sequence[StudyRow]:
        return [one.study.row for one in self._memory.searches.values() if one.study is not None]

    def open(self, key: str) -> OpenStudy:
        return self._memory.searches.get(key, OpenStudy("missing"))

    def importances(self, key: str, target: str, method: str) -> Importances:
        return self._memory.importance
