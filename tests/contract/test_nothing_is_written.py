"""Every reader leaves the directory that it reads as it was: names, sizes, times, also beside databases with a log."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsers import discover, open_run
from parsers.errors import MindscopeError, PayloadError
from parsers.explanation_frames import EXPLANATION_FRAMES
from parsers.profiler.registry import FRAMES
from parsers.profiler.trace.files import SOURCES
from parsers.runs import Run
from tests.contract.every_kind import PLACE, ask_checkpoints, ask_jobs, ask_studies, every_kind, kinds_below, write_every_kind
from tests.contract.samples import DATA
from tests.parsers.profiler.test_hostile_databases import with_log

MOST_OF_A_KIND = 4
"""Values of a kind that are decoded of each run."""
Tree = dict[str, tuple[int, int, int]]


@pytest.fixture
def samples(tmp_path: Path) -> Iterator[Path]:
    """A copy of the samples, files of all other kinds, and a database with a part in its log; nobody may write to them."""
    base = tmp_path / "samples"
    shutil.copytree(DATA, base)
    write_every_kind(base)
    (base / "logged").mkdir()
    with_log(base / "logged" / "ascend_mindspore_profiler_0.db")
    folders = [base, *(path for path in base.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    yield base
    for folder in folders:
        folder.chmod(0o755)


def tree(base: Path) -> Tree:
    """Every entry of a directory with its size, times of its content and of its inode."""
    found = {}
    for path in [base, *base.rglob("*")]:
        status = path.lstat()
        size = status.st_size if stat.S_ISREG(status.st_mode) else 0
        found[str(path)] = (size, status.st_mtime_ns, status.st_ctime_ns)
    return found


def ask_everything(run: Run) -> int:
    """Ask a run for all that pages ask it for; return the number of answers."""
    answers = len(run.scalars) + len(run.lineage)
    for kind in run.kinds():
        for tag in run.tags(kind)[:MOST_OF_A_KIND] if kind not in ("config", "profile", "scalar") else ():
            with contextlib.suppress(PayloadError):
                run.value(kind, tag, 0)
                answers += 1
    for name in list(run.graphs)[:MOST_OF_A_KIND]:
        with contextlib.suppress(MindscopeError):
            answers += len(run.graphs[name].nodes)
    for profile in run.profile.values():
        answers += sum(len(profile.frame(name)) for name in FRAMES if profile.gives(name))
        if profile.kinds & set(SOURCES):
            with contextlib.suppress(MindscopeError, OSError):
                answers += len(profile.trace.slices)
    with contextlib.suppress(MindscopeError):
        dump = run.dump
        answers += len(dump.tensors) + len(dump.overflows) + len(dump.statistics)
        for row in range(min(len(dump.tensors), MOST_OF_A_KIND)):
            with contextlib.suppress(PayloadError):
                dump.tensor(row)
    if run.tags("explain"):
        answers += sum(len(getattr(run.explanations, name)) for name in EXPLANATION_FRAMES if name != "outcomes")
    while run.verify(limit=1 << 20):
        pass
    return answers


def test_every_reader_leaves_the_tree_as_it_was(samples: Path) -> None:
    assert kinds_below(samples) == every_kind()
    before = tree(samples)
    runs = [open_run(source) for source in discover(samples)]
    assert len(runs) > 10
    answers = {os.path.relpath(run.path, samples): ask_everything(run) for run in runs}
    assert sum(map(bool, answers.values())) > 10
    assert answers["logged"] > 5
    assert answers[PLACE] > 100
    assert sum(map(ask_jobs, runs)) > 10
    assert ask_checkpoints(samples) > 10
    assert ask_studies(samples) > 0
    assert tree(samples) == before
