"""The interface between pages and studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from layouts.tuning.studies import Importances, OpenStudy, StudyRow


class StudySource(Protocol):
    """Studies of `mindscope tune`, whose trials are runs. Every method answers within 0.2 s."""

    def rows(self) -> Sequence[StudyRow]:
        """Return all studies that were found in the workspace and below the directories of runs."""
        ...

    def open(self, key: str) -> OpenStudy:
        """Return a study by its key; its journal is followed in the background."""
        ...

    def importances(self, key: str, target: str, method: str) -> Importances:
        """Return what a measure (`parsers.tuning.importances`: SHARES, METHODS) says of settings; computed when asked for."""
        ...
