"""What a run says of itself, as a frame, as single settings and as a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from parsers.lineage.configs import Config, read_config
from parsers.lineage.datasets import DatasetGraph
from parsers.lineage.description import METRIC, Description, Record
from parsers.lineage.table import row_frame
from parsers.lineage.values import Setting
from parsers.model import CONFIG, Series, Source, SourceFile
from parsers.payloads.access import Recorded

MOST_RECORDS = 1_000
"""Lineage events of one kind, the newest ones, that are looked at."""
LINEAGE_KINDS = ("lineage", "dataset_graph", "hparams")


class _CachedDescription(NamedTuple):
    """A description, and what it was made of."""

    version: int
    seen: tuple[tuple[object, int], ...]
    configs: tuple[Config, ...]
    made: Description


class Described(Recorded):
    """The part of a Run that knows its lineage: LINEAGE_KINDS of its files, and configuration files beside them.

    Both are read when they are asked for, once; `_check_lineage` reads what a refresh has brought, to tell its problems.
    """

    source: Source
    version: int

    def __init__(self) -> None:
        self._description: _CachedDescription | None = None
        self._configs: dict[SourceFile, Config] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of the files read."""
        raise NotImplementedError

    def series(self, tag: str) -> Series:
        """All values of one scalar tag."""
        raise NotImplementedError

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What was recorded by column of LINEAGE, `run` and `path` excepted: a loss of NaN is here, a missing one is not."""
        made = self._describe()
        settings = dict(made.settings)
        for tag in made.metrics:
            values = self.series(tag).value
            if len(values):
                settings.setdefault(METRIC + tag, float(values[-1]))
        return settings

    @property
    def lineage(self) -> pd.DataFrame:
        """One row (schema LINEAGE): hyper-parameters, data sets, model, `metric/<name>`, `user_defined/<name>`."""
        return row_frame(self.source.name, self.source.path, self.settings)

    @property
    def dataset_graph(self) -> DatasetGraph | None:
        """The pipeline that fed the training, None where none was recorded."""
        return self._describe().datasets

    def _describe(self) -> Description:
        """All that events and configuration files say, but for the values of scalars that hparams call metrics."""
        with self._lock:
            version, known = self.version, self._description
            if known is not None and known.version == version:
                return known.made
            seen, configs = self._lineage_seen(), tuple(self._configs.values())
        if known is not None and known.seen == seen and known.configs == configs:
            made = known.made
        else:
            made = Description()
            made.add_lineage(self._lineage_records("lineage", "dataset_graph"))
            made.add_hparams(self._lineage_records("hparams"))
            for config in configs:
                made.add_others(config.settings)
        with self._lock:
            if self.version == version:
                self._description = _CachedDescription(version, seen, configs, made)
        return made

    def _lineage_seen(self) -> tuple[tuple[object, int], ...]:
        """Which bytes of which files hold lineage, and how many events."""
        return tuple(
            (state.identity, sum(len(part.step) for part in parts))
            for state in self._states.values()
            for (kind, _), parts in state.payloads.items()
            if kind in LINEAGE_KINDS
        )

    def _check_lineage(self, before: tuple[tuple[object, int], ...]) -> None:
        """Keep the problems of the lineage with those of its files, if it is not the same as before."""
        if before == self._lineage_seen():
            return
        made = self._describe()
        with self._lock:
            for problem in made.problems:
                if problem.path in self._states:
                    self._states[problem.path].note(problem)

    def _read_configs(self) -> bool:
        """Read configuration files that came or changed and forget those that went; whether there were any."""
        found = [file for file in self.source.files if file.kind == CONFIG]
        if found == list(self._configs):
            return False
        configs = {file: self._configs.get(file) or read_config(file.path) for file in found}
        with self._lock:
            self._configs = configs
        return True

    def _lineage_records(self, *kinds: str) -> Iterator[Record]:
        """The events of these kinds; files come in the order of the times in their names."""
        found: list[tuple[int, Record]] = []
        with self._lock:
            files = self.files
            rank = self._file_order()
            for kind in kinds:
                for tag in self.tags(kind):
                    items = self.payload_series(kind, tag)
                    for place in range(max(len(items) - MOST_RECORDS, 0), len(items)):
                        file, order = int(items.file[place]), int(items.order[place])
                        read = _Reading(self, kind, tag, place)
                        found.append((rank[file], Record(files[file], file, order, tag, read)))
        found.sort(key=lambda one: (one[0], one[1].order))
        return (record for _, record in found)

    def _file_order(self) -> Mapping[int, int]:
        """Number of a file -> its place among the files by the times in their names."""
        raise NotImplementedError


class _Reading:
    """Reads the bytes of one event when it is called."""

    def __init__(self, run: Recorded, kind: str, tag: str, place: int) -> None:
        self._run, self._what = run, (kind, tag, place)

    def __call__(self) -> memoryview:
        return self._run.raw(*self._what)
