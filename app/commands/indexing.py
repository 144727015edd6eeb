"""The command `index`: read a whole directory ahead, so that a server finds all of it in its index."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Iterator, Sequence

from app.commands.profile_indexing import index_profiles
from app.commands.roots import roots_of
from app.commands.serving import cluster_engine, no_garbage, prepare_directories
from app.commands.settings import SETTINGS, SettingError, Settings, resolve
from app.commands.terminal import ProgressBar, problem_line
from app.engines import ByAmount, Engine, Processes
from app.store import workspace
from app.store.runs.index import Index
from app.store.runs.leaves import leaves
from app.store.runs.packs import Snapshots
from app.store.runs.run_tasks import Ahead, read_ahead
from parsers.discovery import opens_alone, source_of
from parsers.discovery.scanner import Scanner
from parsers.files import stay_below
from parsers.model import Problem, Source

PROGRAM = "app.run_process"


def index_runs(options: argparse.Namespace) -> int:
    """Read everything below a directory into the index of the workspace. Return 1 if something could not be read or kept."""
    given = {setting.name: getattr(options, setting.name) for setting in SETTINGS if hasattr(options, setting.name)}
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
    settings = resolve(texts | {"summary_base_dir": [options.directory]}, os.environ)
    roots = roots_of(settings.summary_base_dir)
    base, directory = roots[0].path, prepare_directories(settings, roots).workspace
    if not directory:
        raise SettingError("index: expected a workspace that can be written to, found none: name one with --workspace")
    place = workspace.subdirectory(directory, "index")
    if settings.stay_inside:
        stay_below(base)
    with no_garbage():
        sources = [source_of(base)] if opens_alone(base) else Scanner(base, stay_inside=settings.stay_inside).scan()
        gc.freeze()  # all of it stays until the end
    found = 0
    with ProgressBar(sys.stderr) as bar:
        problems = [problem for source in sources for part in (source, *source.ranks) for problem in part.problems]
        for problem in (*problems, *_runs(sources, place, settings, bar), *index_profiles(sources, place, settings, bar)):
            found += 1
            bar.say(problem_line(problem))
    return 1 if found else 0


def _runs(sources: Sequence[Source], place: str, settings: Settings, bar: ProgressBar) -> Iterator[Problem]:
    """Read event, lineage and graph files; yield the problems that kept runs from being read or kept."""
    runs = [leaf for source in sources for _, leaf in leaves(source.name, source)]
    total, done, ahead = sum(file.size for run in runs for file in run.files), 0, Ahead()

    def told(size: int) -> None:
        nonlocal done
        done += size
        bar.show(done / max(total, 1), f"{len(runs):,} runs, {done:,} of {total:,} B")

    engine = _engine(settings)
    try:
        snapshots = Snapshots(Index(place))
    except OSError as error:
        raise SettingError(f"index: expected a directory that can be written to, found {place!r}: {error}") from None
    try:
        yield from read_ahead(runs, snapshots, engine, told, lambda: False, ahead)
    finally:
        snapshots.close()
        engine.close()
    if ahead.not_kept:
        yield Problem(place, 0, 0, "unreadable", f"{ahead.not_kept:,} runs could not be kept in the index.")
    bar.say(f"{len(runs):,} runs: {ahead.read:,} read, {ahead.grown:,} had grown, {ahead.known:,} were in the index")


def _engine(settings: Settings) -> Engine:
    here = ByAmount(processes=Processes(program=PROGRAM))
    if not settings.dask:
        return here
    from app.dask_pieces import read_run  # with all that reads ranks

    cluster = cluster_engine(settings.dask, trust=settings.dask_trust, do=read_run, otherwise=here)
    return cluster or here
