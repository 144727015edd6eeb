"""The lineage of a run: as a frame, as single settings and as a data set pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from parsers.analysis.curves.final_values import last_value
from parsers.deferred import pandas as pd
from parsers.lineage.configs import ConfigSettings, read_config
from parsers.lineage.datasets import DatasetGraph, RecordedPipeline
from parsers.lineage.description import METRIC, Description, LocatedEvent
from parsers.lineage.table import row_frame
from parsers.lineage.values import Setting
from parsers.model import CONFIG, Problem, SourceFile
from parsers.payloads.access import RunPayloads
from parsers.registry import reader_named
from parsers.run_files import RunFiles
from parsers.scalars import RunScalars

MOST_RECORDS = 1_000
"""The newest events of one kind that are read, at most."""
LINEAGE_KINDS = ("lineage", "dataset_graph", "hparams", "settings")
Events = tuple[tuple[object, int], ...]
"""Which bytes of which files hold lineage, and how many events: equal if there is nothing new."""


class _CachedDescription(NamedTuple):
    """A description, and the inputs it was built from."""

    version: int
    events: Events
    configs: tuple[ConfigSettings, ...]
    description: Description


class RunLineage:
    """The lineage of one run: LINEAGE_KINDS of its files, and configuration files beside them.

    Both are decoded once, on demand; `check` decodes what a refresh has brought, so that its problems are reported.
    """

    def __init__(self, files: RunFiles, scalars: RunScalars, payloads: RunPayloads) -> None:
        self._files, self._scalars, self._payloads = files, scalars, payloads
        self._cached: _CachedDescription | None = None
        self.configs: Mapping[SourceFile, ConfigSettings] = {}

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What was recorded by column of LINEAGE, except `run` and `path`: a loss of NaN is here, a missing one is not."""
        description = self._describe()
        settings = dict(description.settings)
        for tag in description.metrics:
            series = self._scalars.resolved(tag)
            if len(series.value):
                settings.setdefault(METRIC + tag, last_value(series).value)
        return settings

    def frame(self, name: str, path: str) -> pd.DataFrame:
        """One row (schema LINEAGE) for the run of this name and directory."""
        return row_frame(name, path, self.settings)

    @property
    def dataset_graph(self) -> DatasetGraph | None:
        """The data set pipeline that fed the training; None if none was recorded."""
        return self._describe().datasets

    @property
    def dataset_graphs(self) -> Sequence[RecordedPipeline]:
        """All data set pipelines that were recorded, one for each start of the training, the oldest first."""
        return tuple(self._describe().pipelines)

    @property
    def config_problems(self) -> tuple[Problem, ...]:
        """Damage in the configuration files."""
        with self._files.lock:
            return tuple(problem for config in self.configs.values() for problem in config.problems)

    def _describe(self) -> Description:
        """Merge events and configuration files, except the values of scalars that hparams call metrics."""
        with self._files.lock:
            version, cached = self._files.version, self._cached
            if cached is not None and cached.version == version:
                return cached.description
            events, configs = self.events(), tuple(self.configs.values())
        if cached is not None and cached.events == events and cached.configs == configs:
            description = cached.description
        else:
            description = Description()
            description.add_lineage(self._records("lineage", "dataset_graph"))
            description.add_hparams(self._records("hparams"))
            for settings, problems in self._of_other_loggers():
                description.add_others(settings)
                description.problems += problems
            for config in configs:
                description.add_others(config.settings)
        with self._files.lock:
            if self._files.version == version:
                self._cached = _CachedDescription(version, events, configs, description)
        return description

    def events(self) -> Events:
        """The events of lineage read so far."""
        return tuple(
            (state.identity, sum(len(part.step) for part in parts))
            for state in self._files.states.values()
            for (kind, _), parts in state.payloads.items()
            if kind in LINEAGE_KINDS
        )

    def check(self, before: Events) -> None:
        """Report the problems of the lineage with those of its files, if its events are not the same as before."""
        if before != self.events():
            self._files.note_by_path(self._describe().problems)

    def read_configs(self, files: Sequence[SourceFile]) -> bool:
        """Read configuration files that came or changed and forget those that went; return whether there were any."""
        found = [file for file in files if file.kind == CONFIG]
        if found == list(self.configs):
            return False
        configs = {file: self.configs.get(file) or read_config(file.path) for file in found}
        with self._files.lock:
            self.configs = configs
            self._files.touch()
        return True

    def _of_other_loggers(self) -> Iterator[tuple[Mapping[str, Setting], Sequence[Problem]]]:
        """Yield the settings in files that hold them among scalars, and the damage in them."""
        with self._files.lock:
            found = [
                (state.file.path, reader_named(state.reader), [int(order) for part in parts for order in part.order])
                for state in self._files.states.values()
                for (kind, _), parts in state.payloads.items()
                if kind == "settings"
            ]
        for path, reader, places in found:
            if reader is not None:
                yield reader.settings(path, places)

    def _records(self, *kinds: str) -> Iterator[LocatedEvent]:
        """Yield the events of these kinds, by the time in the names of their files."""
        found: list[tuple[int, LocatedEvent]] = []
        with self._files.lock:
            paths, position = self._files.paths, self._files.order()
            for kind in kinds:
                for tag in self._files.tags(kind):
                    series = self._payloads.series(kind, tag)
                    for place in range(max(len(series) - MOST_RECORDS, 0), len(series)):
                        file, order = int(series.file[place]), int(series.order[place])
                        read = _LineageReading(self._payloads, kind, tag, place)
                        time = float(series.wall_time[place])
                        found.append((position[file], LocatedEvent(paths[file], file, order, tag, read, time)))
        found.sort(key=lambda entry: (entry[0], entry[1].order))
        return (record for _, record in found)


class _LineageReading:
    """Reads the bytes of one event when it is called."""

    def __init__(self, payloads: RunPayloads, kind: str, tag: str, place: int) -> None:
        self._payloads, self._event = payloads, (kind, tag, place)

    def __call__(self) -> memoryview:
        return self._payloads.raw(*self._event)
