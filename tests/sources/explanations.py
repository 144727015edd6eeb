"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layouts.explanations.open_explanations import ExplanationWork, OpenExplanations
from layouts.explanations.source import ExplanationSource
from layouts.kit.work import WorkResult
from parsers import ImageValue, PayloadError
from parsers.explanations.access import RunExplanations
from parsers.payloads.pictures import GreyPicture

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryExplanations(ExplanationSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def open(self, run: str) -> OpenExplanations:
        found: RunExplanations | None = self._memory.of(run, "explain")
        mark = f"{run}.{self._memory.number}"
        return OpenExplanations("ready", found.snapshot(), mark) if found else OpenExplanations("missing")

    def work(self, run: str, work: ExplanationWork, *, again: bool = False) -> WorkResult:
        opened = self.open(run)
        if opened.explanations is None:
            return WorkResult("missing")
        return WorkResult("ready", work.job(opened.explanations, lambda *_: None), mark=opened.mark)

    def cancel(self, run: str, work: ExplanationWork) -> None:
        return

    def picture(self, run: str, path: str) -> ImageValue:
        return self._explanations(run).pictures.picture(path)

    def outcome(self, run: str, path: str, boxes: str, mask: str) -> ImageValue:
        return self._explanations(run).pictures.outcome(path, boxes, mask)

    def heat_map(self, run: str, path: str) -> GreyPicture:
        return self._explanations(run).pictures.heat_map(path)

    def _explanations(self, run: str) -> RunExplanations:
        found: RunExplanations | None = self._memory.of(run, "explain")
        if found is None:
            raise PayloadError("no explanations")
        return found
