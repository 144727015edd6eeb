"""The command `index`: read a whole directory ahead, so that a server finds all of it in its index."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from app.commands.inspection import problem_line
from app.commands.serving import base_directory, cluster_engine, prepare_directories
from app.commands.settings import SETTINGS, SettingError, Settings, resolve
from app.commands.terminal import ProgressBar, printable
from app.engines import ByAmount, Engine, Processes
from app.store import workspace
from app.store.runs.index import Index
from app.store.runs.leaves import leaves
from app.store.runs.packs import Snapshots
from app.store.runs.run_tasks import Ahead, read_ahead
from parsers.cluster_frames import JOB_FRAMES
from parsers.discovery import opens_alone, source_of
from parsers.discovery.scanner import Scanner
from parsers.model import Problem, Source

if TYPE_CHECKING:
    from layouts.profiles.frames import ProfileFrame
    from layouts.sources import Sources

POLL_S = 0.05
PROGRAM = "app.run_process"
TRACE = "trace"
"""The name under which a store gives traces."""


def index_runs(options: argparse.Namespace) -> int:
    """Read everything below a directory into the index of the workspace. Return 1 if something could not be read or kept."""
    given = {setting.name: getattr(options, setting.name) for setting in SETTINGS if hasattr(options, setting.name)}
    texts = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
    settings = resolve(texts | {"summary_base_dir": options.directory}, os.environ)
    base = base_directory(settings)
    directory = prepare_directories(settings, base).workspace
    if not directory:
        raise SettingError("index: expected a workspace that can be written to, found none: name one with --workspace")
    place = workspace.subdirectory(directory, "index")
    sources = [source_of(base)] if opens_alone(base) else Scanner(base, stay_inside=settings.stay_inside).scan()
    found = 0
    with ProgressBar(sys.stderr) as bar:
        problems = [problem for source in sources for part in (source, *source.ranks) for problem in part.problems]
        for problem in (*problems, *_runs(sources, place, settings, bar), *_profiles(sources, place, settings, bar)):
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
    from app.dask_pieces import read_run

    here = ByAmount(processes=Processes(program=PROGRAM))
    cluster = cluster_engine(settings.dask, trust=settings.dask_trust, do=read_run, otherwise=here)
    return cluster or here


def _profiles(sources: Sequence[Source], place: str, settings: Settings, bar: ProgressBar) -> Iterator[Problem]:
    """Read the frames and traces of profiles; yield the reasons why some could not be read."""
    profiled = [source for source in sources if any(part.profile_dirs for part in (source, *source.ranks))]
    if not profiled:
        return
    from app.store.store import Store  # with all that a server needs, which takes as long as reading a thousand small runs

    cluster = cluster_engine(settings.dask, trust=settings.dask_trust)
    store = Store(
        sources=profiled, interval=0, index_directory=place, engine=cluster and ByAmount(processes=cluster)
    ).start()  # fmt: skip
    try:
        while not store.wait(POLL_S):
            bar.show(0.0, "profiles")
        asked = list(_asked(store))
        for number, (run, session, rank, name) in enumerate(asked):
            what = printable(f"{run} {name} of rank {rank}")
            frame = _waited(store, (run, session, rank, name), lambda share, at=number, what=what: bar.show(
                (at + share) / len(asked), f"{at + 1:,} of {len(asked):,} frames: {what}"
            ))
            if frame.state == "failed":
                yield Problem(run, 0, 0, "unreadable", f"{session}, rank {rank}, {name}: {frame.text}")
        bar.say(f"{len(asked):,} frames and traces of profiles")
    finally:
        store.stop()


def _asked(store: Sources) -> Iterator[tuple[str, str, int, str]]:
    """Yield run, session, rank and name of each frame and trace; those of a job once."""
    done: set[tuple[Any, str]] = set()
    for run in [member for row in store.runs.rows() for member in row.members]:
        for profile in store.profiles.rows(run):
            for name in profile.frames:
                if name in JOB_FRAMES:
                    job = tuple(store.profiles.members(run, profile.session, profile.rank))
                    if (job, name) in done:
                        continue
                    done.add((job, name))
                yield run, profile.session, profile.rank, name


def _waited(store: Sources, asked: tuple[str, str, int, str], show: Any) -> ProfileFrame:
    """Wait until a frame is read, or a trace with what makes its views cost what they show."""
    while True:
        frame = store.profiles.frame(*asked)
        if frame.state not in ("waiting", "reading") and not (asked[3] == TRACE and frame.done < frame.total):
            return frame
        show(frame.done / max(frame.total, 1))
        time.sleep(POLL_S)
