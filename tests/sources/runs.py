"""Part of `tests.sources.MemorySource`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from layouts.runs.mirrors import MirrorStatus
from layouts.runs.questions import Destinations
from layouts.runs.rows import RunChanges, RunFile, RunRow, SourceStatus
from layouts.runs.run_colours import Colours
from layouts.runs.source import RunSource
from parsers import Problem
from tests.sources.made import row
from tests.sources.values import VALUES

if TYPE_CHECKING:
    from tests.sources import MemorySource


class MemoryRuns(RunSource):
    def __init__(self, memory: MemorySource) -> None:
        self._memory = memory

    def status(self) -> SourceStatus:
        rows = self.rows()
        loaded = sum(row.state not in ("waiting", "loading") for row in rows)
        base, problems = "/data/runs", len(self._memory.found)
        now = self._memory
        return SourceStatus(base, now.read_at, 3.0, len(rows), loaded, problems, now.number, now.failed, coming=now.coming)

    def rows(self) -> Sequence[RunRow]:
        if self._memory.read_at is None:
            return []
        if self._memory.rows is not None:
            return self._memory.rows
        ranks = {run for members in self._memory.jobs.values() for run in members}
        singles = [self._row(run, [run]) for run in self._memory.data if run not in ranks]
        return [*singles, *(self._row(job, members) for job, members in self._memory.jobs.items())]

    def _row(self, key: str, members: Sequence[str]) -> RunRow:
        tags: dict[str, int] = {}
        for content in (self._memory.data[run] for run in members):
            counts = {kind: len(content.get(kind, ())) for kind in ("scalar", *VALUES)}
            counts |= {"lineage": int("settings" in content), "dataset_graph": int("dataset_graph" in content)}
            counts |= {"graph": len(content.get("graphs", ())), "profile": len(content.get("profiles", ()))}
            counts |= {"dump": int("dump" in content), "explain": int("explain" in content)}
            counts |= {"conversion": len(content.get("conversions", ()))}
            tags |= {kind: tags.get(kind, 0) + count for kind, count in counts.items() if count}
        return row(key, members, **{"tags": tags} | self._memory.data[members[0]].get("row", {}))

    def places(self) -> Destinations:
        return self._memory.places

    def changes(self, since: str) -> RunChanges:
        mark = f"memory.{self._memory.number}"
        whole = since != mark
        found = Colours(self.rows(), self._memory.painted)
        return RunChanges(mark, whole, self.rows() if whole else (), (), found.usual, found.hues, found.by_hand)

    def colours(self, chosen: Sequence[str] = ()) -> Mapping[str, str]:
        return Colours(self.rows(), self._memory.painted).of(chosen)

    def member(self, run: str) -> RunRow | None:
        found = next((row for row in self.rows() if run in row.members), None)
        return found and replace(found, key=run, members=(run,))

    def tags(self, run: str, kind: str = "scalar") -> Sequence[str]:
        if kind in ("dataset_graph", "explain"):
            return [kind] if kind in self._memory.data.get(run, {}) else []
        return list(self._memory.of(run, {"conversion": "conversions", "graph": "graphs"}.get(kind, kind)) or ())

    def files(self, run: str) -> Sequence[RunFile]:
        return self._memory.data.get(run, {}).get("files", ())

    def version(self, run: str) -> int:
        return next((row.version for row in self.rows() if run in row.members), 0)

    def mirrors(self) -> Sequence[MirrorStatus]:
        return self._memory.mirrors

    def fetch(self, address: str, name: str) -> bool:
        self._memory.fetched.append((address, name))
        return any(file.name == name for one in self._memory.mirrors if one.address == address for file in one.files)

    def problems(self, run: str | None = None) -> Sequence[tuple[str, Problem]]:
        return [(key, problem) for key, problem in self._memory.found if run is None or key == run]

    def verified(self, run: str | None = None) -> tuple[int, int]:
        return self._memory.checked

    def want(self, runs: Sequence[str]) -> None:
        self._memory.wanted = list(runs)

    def refresh(self) -> None:
        self._memory.refreshed += 1
