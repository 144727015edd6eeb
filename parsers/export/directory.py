"""Exports everything that runs recorded to one directory.

    scalars.csv                        or .json, .parquet: see `scalars`
    histograms.csv                     see `histograms`
    images/RUN/TAG_STEP.png            or .jpg, .gif, .webp: the bytes as recorded
    tensors/RUN/TAG_STEP.npy
    landscapes/RUN/TAG_STEP.npz
    texts/RUN/TAG_STEP.txt
    lineage.csv                        see `lineage`; only runs with settings
    traces/RUN/TRACE/slices.csv        and tracks.csv, flows.csv, counters.csv: the frames of `run.profile[...].trace`
    index.csv                          run, tag and step as recorded of the images, tensors, landscapes and texts

A second value of the same tag and step is TAG_STEP~2.png. No name of a run or tag can place a file outside the directory.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple

import numpy as np

from parsers.errors import FormatError, PayloadError
from parsers.export import frames, histograms, lineage
from parsers.export.cells import csv_names, number_text
from parsers.export.files import FileNames, Progress, readable, replacing, unheard
from parsers.export.scalars import ALL_STEPS, ScalarWriter, Steps, scalar_file, single_file
from parsers.export.single import files_of
from parsers.lineage.table import LineageRow, run_row
from parsers.payloads.series import PayloadSeries
from parsers.payloads.values import HistogramValue, Value
from parsers.profiler.trace.frames import TraceFrames
from parsers.profiler.trace.sources import TraceFiles, grouped, read_all
from parsers.runs import Run

KINDS = {
    "scalars": "scalar", "histograms": "histogram", "images": "image", "tensors": "tensor", "landscapes": "landscape",
    "texts": "text", "lineage": "lineage", "traces": "trace",
}  # fmt: skip
"""Kinds that can be exported: name in options and directories -> kind of their tags."""
KINDS_OF_PROFILES = ("traces",)
"""Kinds of KINDS that are exported if named, or if there is nothing else: they are large."""
_TAGLESS = ("lineage", *KINDS_OF_PROFILES)
_EXPORTED = {*KINDS.values(), "hparams"}  # these are columns of lineage
INDEX = ("path", "kind", "run", "tag", "step", "wall_time", "file", "order", "note")


def _every(tags: Sequence[str]) -> Collection[str]:
    return tags


@dataclass(frozen=True, slots=True)
class WantedExport:
    """What is exported of each run: kinds (of KINDS), the tags that a function selects from all, a range of steps.

    Tags and steps do not concern lineage, which is one row for a run, and traces. superseded: with scalars that later
    ones supersede.
    """

    kinds: Collection[str] = tuple(kind for kind in KINDS if kind not in KINDS_OF_PROFILES)
    tags: Callable[[Sequence[str]], Collection[str]] = _every
    steps: Steps = ALL_STEPS
    superseded: bool = False


class Export:
    """A running export, used as a context manager; files that are still being written appear when it exits.

    refused is called with the error of each value that cannot be decoded; lost counts these values, counts the written ones
    by kind, and left, if all kinds are selected, the runs with selected tags of a kind that cannot be exported.
    """

    def __init__(
        self, out: str | os.PathLike[str], wanted: WantedExport, format: str = "csv",  # noqa: A002  the option's name
        *, refused: Callable[[PayloadError], object],
    ) -> None:  # fmt: skip
        self._alone = single_file(out, format)
        if self._alone and set(wanted.kinds) != {"scalars"}:
            raise FormatError(f"expected a directory for {', '.join(wanted.kinds)}, found the file {os.fspath(out)!r}")
        self._out, self._wanted, self._format, self._refused = Path(out), wanted, format, refused
        self._all = set(wanted.kinds) >= set(KINDS) - set(KINDS_OF_PROFILES)
        self._open = contextlib.ExitStack()
        self._files: dict[str, BinaryIO] = {}
        self._scalars: ScalarWriter | None = None
        self._runs = FileNames()
        self._lineage: list[LineageRow] = []
        self.counts: Counter[str] = Counter()
        self.left: Counter[str] = Counter()
        self.lost = 0

    def __enter__(self) -> Export:
        folder = self._out.parent if self._alone else self._out
        folder.mkdir(parents=True, exist_ok=True)
        if "scalars" in self._wanted.kinds:
            path = self._out if self._alone else self._out / f"scalars.{self._format}"
            self._scalars = self._open.enter_context(scalar_file(path, self._format, superseded=self._wanted.superseded))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None or not self._lineage:
            self._open.__exit__(kind, error, trace)
            return
        with self._open:  # only now are all columns known
            self._table("lineage.csv").writelines(lineage.csv_rows(self._lineage))

    def add(self, run: Run, progress: Progress = unheard) -> None:
        """Export one run, ranks not included. progress is called with the fraction done, from 0 to 1."""
        if "lineage" in self._wanted.kinds and run.settings:
            self._lineage.append(run_row(run))
            self.counts["lineage"] += 1
        found = {kind: run.tags(KINDS[kind]) for kind in KINDS if kind in self._wanted.kinds and kind not in _TAGLESS}
        others = {kind: run.tags(kind) for kind in run.kinds() if kind not in _EXPORTED and self._all}
        names = list(dict.fromkeys(tag for tags in (*found.values(), *others.values()) for tag in tags))
        chosen = set(self._wanted.tags(names)) if names else set()
        self.left.update(kind for kind, tags in others.items() if not chosen.isdisjoint(tags))
        jobs = [(kind, tag) for kind, tags in found.items() for tag in tags if tag in chosen]
        traces = traces_of(run) if "traces" in self._wanted.kinds else []
        folder = self._runs.take(readable(_name(run))) if jobs or traces else ""
        folders = _Folders(self._out, folder)
        named = FileNames()
        for name, files in traces:
            self._add_trace(files, self._out / "traces" / folder / named.take(readable(name)))
        for number, (kind, tag) in enumerate(jobs):
            if kind == "scalars":
                assert self._scalars is not None
                self.counts[kind] += self._scalars.add(run, tag, self._wanted.steps)
            else:
                self._add_values(run, kind, tag, folders, _within(progress, number, len(jobs)))
            progress((number + 1) / len(jobs))

    def _add_trace(self, files: TraceFiles, folder: Path) -> None:
        """Write the frames of a trace, and report what of it is damaged."""
        trace = TraceFrames(read_all(files))
        for problem in trace.problems:
            self.lost += 1
            self._refused(PayloadError(f"{problem.path}: {problem.text}"))
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("tracks", "slices", "flows", "counters"):
            frame = getattr(trace, name)
            texts = {one: frame[one].astype("category") for one in frame if str(frame[one].dtype) == "str"}
            with replacing(folder / f"{name}.csv") as file:
                file.writelines(frames.csv_rows(frame.assign(**texts)))
        self.counts["traces"] += 1

    def _add_values(self, run: Run, kind: str, tag: str, folders: _Folders, progress: Progress) -> None:
        items = run.payload_series(KINDS[kind], tag)
        first, last = self._wanted.steps
        places = np.flatnonzero((items.step >= first) & (items.step <= last)).tolist()
        for number, place in enumerate(places):
            progress(number / len(places))
            try:
                value = run.value(KINDS[kind], tag, place)
            except PayloadError as error:
                self.lost += 1
                self._refused(error)
                continue
            self.counts[kind] += 1
            origin = _origin(run.name, kind, tag, items, place)
            if isinstance(value, HistogramValue):
                self._add_histogram(value, origin)
            else:
                self._add_files(value, origin, folders)

    def _add_histogram(self, value: HistogramValue, origin: _Origin) -> None:
        table = self._table("histograms.csv", histograms.COLUMNS)
        for lines in histograms.csv_rows(origin.when, value, origin.where):
            table.write(lines)

    def _add_files(self, value: Value, origin: _Origin, folders: _Folders) -> None:
        for part in files_of(value):
            path = folders.place(origin, part.suffix)
            with replacing(path) as file:
                part.save(file)
            names = csv_names(path.relative_to(self._out).as_posix(), KINDS[origin.kind])
            line = ",".join((names, origin.when, origin.where, csv_names(part.note)))
            self._table("index.csv", INDEX).write(line.encode() + b"\n")

    def _table(self, name: str, columns: Sequence[str] = ()) -> BinaryIO:
        """Return a CSV file of the export, created with its first row."""
        if name not in self._files:
            self._files[name] = self._open.enter_context(replacing(self._out / name))
            if columns:
                self._files[name].write(",".join(columns).encode() + b"\n")
        return self._files[name]


def traces_of(run: Run) -> list[tuple[str, TraceFiles]]:
    """Return the traces of a run by a name: session, rank and file."""
    return [
        ("_".join(filter(None, ("" if session == "." else session, f"rank{rank}", files.name))), files)
        for (session, rank), profile in run.profile.items() for files in grouped(profile)
    ]  # fmt: skip


def _name(run: Run) -> str:
    """Return the name used for the directories of a run."""
    return os.path.basename(run.path) if run.name == "." else run.name


def _within(progress: Progress, number: int, count: int) -> Progress:
    """Map the progress of one of several jobs to the progress of all."""
    return lambda share: progress((number + share) / count)


class _Origin(NamedTuple):
    """The origin of a value. when holds the CSV cells of run, tag, step and wall time, where those of file and order."""

    kind: str
    tag: str
    step: int
    when: str
    where: str


def _origin(run: str, kind: str, tag: str, items: PayloadSeries, place: int) -> _Origin:
    step = int(items.step[place])
    when = f"{csv_names(run, tag)},{step},{number_text(float(items.wall_time[place]))}"
    return _Origin(kind, tag, step, when, f"{items.file[place]},{items.order[place]}")


class _Folders:
    """The directories of one run, one per kind, created with their first file."""

    def __init__(self, out: Path, run: str) -> None:
        self._out, self._run = out, run
        self._names: dict[str, FileNames] = {}

    def place(self, origin: _Origin, suffix: str) -> Path:
        """Return the path of the next file of a tag and step."""
        folder = self._out / origin.kind / self._run
        if origin.kind not in self._names:
            if not folder.resolve().is_relative_to(self._out.resolve()):
                raise FormatError(f"{folder}: expected a directory in {self._out}, found a link that leaves it")
            folder.mkdir(parents=True, exist_ok=True)
            self._names[origin.kind] = FileNames()
        return folder / self._names[origin.kind].take(readable(origin.tag), f"_{origin.step}", suffix)
