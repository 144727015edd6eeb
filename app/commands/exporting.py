"""The commands that write recorded data to files: export, and parse_summary as in MindInsight.

Exit codes: 0 everything was written; 3 some values could not be read and were skipped, each reported on stderr with its file
and record; 1 the export failed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from app.commands.settings import SettingError
from app.commands.terminal import ProgressBar, printable, problem_line
from app.store.runs.matching import PatternError, matching
from parsers import FormatError, MindscopeError, PayloadCache, PayloadError, Run, Source, SourceError, discover, export
from parsers.discovery import source_of

LOST = 3
"""Exit code if some values could not be read."""
LOSSES = ("bad_length", "truncated", "bad_data", "bad_message", "bad_value", "unreadable")
"""Kinds of problems that mean lost values."""
SLICE_BYTES = 64 << 20
"""Bytes read between two updates of the progress bar."""
_Progress = Callable[[float], object]


def export_runs(options: argparse.Namespace) -> int:
    """Write the data the options select from the runs below a directory."""
    return _export(options, lambda _, names: names if options.runs is None else _matching("--runs", options.runs, names))


def export_named(options: argparse.Namespace, wanted: Collection[str]) -> int:
    """Do the same for the runs, jobs and ranks of these names alone, () for all."""

    def choose(sources: Sequence[Source], names: Sequence[str]) -> Sequence[str]:
        if not wanted:
            return names
        return [leaf.name for one in sources for leaf in one.leaves if one.name in wanted or leaf.name in wanted]

    options.runs = ", ".join(wanted) if wanted else None
    return _export(options, choose)


def _export(options: argparse.Namespace, choose: Callable[[Sequence[Source], Sequence[str]], Sequence[str]]) -> int:
    kinds, steps = _kinds(options), _steps(options.steps)
    tags = _Tags(options.tags)
    _refuse_overlap("--out", options.out, kinds, options.directory)
    sources = discover(options.directory)
    leaves = [leaf for source in sources for leaf in source.leaves]
    if not leaves:
        raise SourceError(f"{options.directory}: expected runs in this directory or below it, found none")
    for leaf in leaves if os.path.isdir(options.directory) else ():
        _refuse_overlap("--out", options.out, kinds, leaf.real_path)
    if options.kinds is None and kinds != ("scalars",) and not any(leaf.files for leaf in leaves):
        kinds = export.KINDS_OF_PROFILES
    names = [leaf.name for leaf in leaves]
    chosen = set(choose(sources, names))
    if options.runs is not None and not chosen:
        raise SettingError(f"--runs: expected a pattern that matches one of {len(leaves)} runs, found {options.runs!r}")
    sources = [source for source in sources if any(leaf.name in chosen for leaf in source.leaves)]

    def write(reading: _ExportReading) -> Mapping[str, int]:
        selection = export.WantedExport(kinds, tags, steps, superseded=options.superseded)
        with export.Export(options.out, selection, options.format, refused=reading.refused) as result:
            for run, progress in reading.runs(sources):
                parts = [part for part in (run, *run.ranks) if part.name in chosen]
                for number, part in enumerate(parts):
                    result.add(part, _within(progress, number / len(parts), 1 / len(parts)))
            tags.refuse_none()
        reading.unsupported = result.left
        return result.counts

    return _done(write, options.out)


def parse_summary(options: argparse.Namespace) -> int:
    """Write the scalars and images of one run in the format of MindInsight's parse_summary."""
    _refuse_overlap("--output", options.output, (), options.directory)
    source = source_of(options.directory)
    if len(source.leaves) > 1 or source.ranks:
        found = f"found {len(source.leaves)} ranks; name the directory of one of them"
        raise SourceError(f"{options.directory}: expected one run, {found}")
    _refuse_overlap("--output", options.output, (), source.real_path)
    out = Path(options.output) / f"output_{datetime.datetime.now():%Y%m%d_%H%M%S_%f}"

    def write(reading: _ExportReading) -> Mapping[str, int]:
        counts: Mapping[str, int] = {}
        for run, progress in reading.runs([source]):
            counts = export.write_summary(run, out, refused=reading.refused, progress=progress)
        return counts

    return _done(write, str(out))


# Options -----------------------------------------------------------------------------------------------------------


def _kinds(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the requested kinds: by default all of them, or scalars if the output is a single file."""
    try:
        single = export.single_file(options.out, options.format)
    except FormatError:
        raise SettingError(f"--format: expected one of {', '.join(export.FORMATS)}, found {options.format!r}") from None
    suffix = Path(options.out).suffix.lower().removeprefix(".")
    if suffix in export.FORMATS and not single and not os.path.isdir(options.out):
        expected = f"a directory or a name ending in .{options.format}"
        raise SettingError(f"--out: expected {expected}, found {options.out!r}; for this file add --format {suffix}")
    if options.kinds is None:
        others = tuple(kind for kind in export.KINDS if kind not in export.KINDS_OF_PROFILES)
        return ("scalars",) if single else others
    named = options.kinds.split(",")
    unknown = [name for name in named if name not in export.KINDS]
    if unknown:
        raise SettingError(f"--kinds: expected names from {','.join(export.KINDS)}, found {unknown[0]!r}")
    if single and set(named) != {"scalars"}:
        raise SettingError(f"--out: expected a directory for {options.kinds}, found the file {options.out!r}")
    return tuple(kind for kind in export.KINDS if kind in named)


def _steps(text: str | None) -> export.Steps:
    """Parse A:B, both ends included and either omitted, or a single step."""
    if text is None:
        return export.ALL_STEPS
    found = re.fullmatch(r"(-?[0-9]{1,19})?:(-?[0-9]{1,19})?|(-?[0-9]{1,19})", text)
    if found is None:
        raise SettingError(f"--steps: expected A:B, A:, :B or one step, found {text!r}")
    first, last, only = found.groups()
    least, most = export.ALL_STEPS
    first, last = (only, only) if only is not None else (first, last)
    steps = least if first is None else max(int(first), least), most if last is None else min(int(last), most)
    if steps[0] > steps[1]:
        raise SettingError(f"--steps: expected A:B with A <= B, found {text!r}")
    return steps


def _matching(option: str, pattern: str, names: Sequence[str]) -> list[str]:
    try:
        return matching(pattern, names)
    except PatternError as error:
        raise SettingError(f"{option}: {error}") from None


class _Tags:
    """Selects tags by a pattern. Each name is matched once, however many runs have it."""

    def __init__(self, pattern: str | None) -> None:
        self._pattern = pattern
        self._chosen: dict[str, bool] = {}
        if pattern is not None:
            _matching("--tags", pattern, ())

    def __call__(self, tags: Sequence[str]) -> Collection[str]:
        if self._pattern is None:
            return tags
        new = [tag for tag in tags if tag not in self._chosen]
        if new:
            self._chosen |= dict.fromkeys(new, False)
            self._chosen |= dict.fromkeys(_matching("--tags", self._pattern, new), True)
        return [tag for tag in tags if self._chosen[tag]]

    def refuse_none(self) -> None:
        """Raise SettingError if there were tags and the pattern matched none of them."""
        if self._chosen and not any(self._chosen.values()):
            expected = f"a pattern that matches one of {len(self._chosen):,} tags"
            raise SettingError(f"--tags: expected {expected}, found {self._pattern!r}")


def _refuse_overlap(option: str, out: str, kinds: Collection[str], runs: str) -> None:
    """Refuse an output path inside the runs, or one whose directories of exported files would contain the runs."""
    if not out:
        raise SettingError(f"{option}: expected a path, found ''")
    runs = os.path.realpath(runs)
    targets = [os.path.realpath(os.path.join(out, kind)) for kind in kinds]
    if any(_inside(path, runs) for path in (os.path.realpath(out), *targets)) or any(_inside(runs, path) for path in targets):
        raise SettingError(f"{option}: expected a path outside the runs in {runs!r}, found {out!r}")


def _inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


# Reading and reporting ---------------------------------------------------------------------------------------------


class _ExportReading:
    """Reads runs, shows progress, and reports and counts the values that cannot be read."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self.losses = 0
        self.unsupported: Mapping[str, int] = {}  # kinds that cannot be exported -> number of runs that have them

    def runs(self, sources: Sequence[Source]) -> Iterator[tuple[Run, _Progress]]:
        """Yield each run with a callback for its progress; only one run is in memory at a time."""
        total = sum(source.size for source in sources) or 1
        bytes_before = 0
        for source in sources:
            progress = _within(self._progress(source.name), bytes_before / total, source.size / total)
            run = Run(source, PayloadCache(0))
            run.refresh(source, limit=SLICE_BYTES)
            while run.behind:
                progress(0.0)
                run.refresh(source, limit=SLICE_BYTES)
            for problem in run.problems:
                self.losses += problem.kind in LOSSES
                self._bar.say(problem_line(problem))
            yield run, progress
            bytes_before += source.size

    def refused(self, error: PayloadError) -> None:
        """Report a value that cannot be decoded."""
        self.losses += 1
        self._bar.say(printable(str(error)))

    def _progress(self, name: str) -> _Progress:
        text = printable(name)
        return lambda share: self._bar.show(share, text)


def _within(progress: _Progress, begin: float, length: float) -> _Progress:
    """Map the progress of a part, 0 to 1, to the progress of the whole."""
    return lambda share: progress(begin + share * length)


def _done(write: Callable[[_ExportReading], Mapping[str, int]], out: str) -> int:
    """Write, report what was written, and return the exit code."""
    with ProgressBar(sys.stderr) as bar:
        reading = _ExportReading(bar)
        try:
            counts = write(reading)
        except FormatError as error:
            raise SettingError(str(error)) from None
        except (OSError, MindscopeError) as error:
            bar.say(f"mindscope: {error}")
            return 1
    kinds = ", ".join(_counted(counts[kind], noun) for kind, noun in export.KINDS.items() if counts.get(kind))
    # If the export goes to stdout, the report must not be mixed with it.
    report = sys.stderr if export.is_stream(out) else sys.stdout
    number = _counted(sum(counts.values()), "value")
    print(f"{number} written to {printable(out)}{f' ({kinds})' if kinds else ''}", file=report)
    if reading.unsupported:
        kinds = ", ".join(f"{kind} ({_counted(count, 'run')})" for kind, count in sorted(reading.unsupported.items()))
        print(f"Not exported, export is not supported: {kinds}", file=report)
    if reading.losses:
        print(f"mindscope: could not be read, see above: {reading.losses:,}", file=sys.stderr)
    return LOST if reading.losses else 0


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)
