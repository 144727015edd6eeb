"""The command `tune`: a search for good settings on Optuna. It runs in the terminal; the server starts and ends nothing.

Exit codes: 0 done; 1 no trial succeeded, the storage failed, or the study may not be continued; 2 bad options or
configuration; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import time
import warnings
from typing import TYPE_CHECKING

from app.commands.settings import SettingError
from app.commands.terminal import printable
from app.store import workspace
from parsers.errors import FormatError, SourceError
from parsers.tuning.config import STUDY_NAME, ConfigError, read_tuning
from parsers.tuning.description import Tuning

if TYPE_CHECKING:
    import optuna

    from app.tuning.storages import OpenStorage
    from app.tuning.worker import Worker

STUDIES = "studies"
"""Directory of the workspace with one directory per study."""
JOURNAL = "journal.log"
_NO_OPTUNA = "tune needs Optuna, which is not installed: pip install 'mindscope[tune]'"
MOST_JOBS = 1024


def tune(options: argparse.Namespace) -> int:
    """Run a search and return the exit code."""
    if importlib.util.find_spec("optuna") is None:
        print(f"mindscope: {_NO_OPTUNA}", file=sys.stderr)
        return 1
    tuning = _tuning(options)
    iterations = _whole("--iter", options.iter, 1, 10**6)
    devices = _devices(options.devices)
    jobs = _whole("--jobs", options.jobs, 1, MOST_JOBS) or len(devices) or 1
    if iterations is None and tuning.trials is None and tuning.hours is None and tuning.sampler != "grid":
        iterations = 1
    if shutil.which(tuning.command[0]) is None:
        raise SettingError(f"--config: {tuning.path}: command: expected a program, found {tuning.command[0]!r}")
    place = os.path.expanduser(options.workspace) if options.workspace else workspace.cache_directory()
    base = workspace.prepare(place, base=tuning.summary_base_dir, origin="--workspace")
    studies = workspace.subdirectory(base, STUDIES)
    directory = workspace.subdirectory(studies, tuning.study)
    return _run(options, tuning, directory, jobs, devices, iterations)


def _tuning(options: argparse.Namespace) -> Tuning:
    name = options.study or ""
    if name and not STUDY_NAME.fullmatch(name):
        raise SettingError(f"--study: expected at most 100 letters, digits, _, - and ., not first a ., found {name!r}")
    try:
        return read_tuning(options.config, study=name)
    except ConfigError as error:
        raise SettingError("--config: " + "\nmindscope: ".join(printable(one) for one in error.mistakes)) from None
    except (FormatError, SourceError) as error:
        raise SettingError(f"--config: {printable(str(error))}") from None


def _whole(option: str, text: str | None, low: int, high: int) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or not low <= int(text) <= high:
        raise SettingError(f"{option}: expected a whole number from {low} to {high:,}, found {text!r}")
    return int(text)


def _devices(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    found = tuple(one.strip() for one in text.split(","))
    bad = [one for one in found if not one or not all(c.isalnum() or c in "-_:." for c in one)]
    if bad or len(set(found)) < len(found):
        raise SettingError(f"--devices: expected different names such as 0,1, found {text!r}")
    return found


def say(text: str) -> None:
    """Print a line with the time, at once."""
    print(f"{time.strftime('%H:%M:%S')} {printable(text)}", flush=True)


def _run(
    options: argparse.Namespace, tuning: Tuning, directory: str, jobs: int, devices: tuple[str, ...], iterations: int | None
) -> int:
    warnings.filterwarnings("ignore", module="optuna")
    from app.tuning import mirror, samplers, storages, studies, worker
    from app.tuning.pruners import pruner_of

    place, named = storages.chosen(options.storage, os.path.join(directory, JOURNAL))
    try:
        opened = storages.open_storage(place, say, shared=named)
        study, how = studies.open_study(tuning, opened, resume=options.resume)
        study.sampler, told = samplers.sampler_of(tuning)
        pruning = tuning.pruning
        study.pruner = pruner_of(pruning, sign=1 if pruning is None or pruning.goal == tuning.targets[0].goal else -1)
        say(f"Study {tuning.study} in {opened.label}: {how}, {len(study.get_trials(deepcopy=False))} trials")
        if told:
            say(told)
        if opened.journal is not None and named:
            mirror.link(directory, opened.journal.path)
        os.makedirs(tuning.summary_base_dir, mode=0o750, exist_ok=True)
        if opened.journal is not None or how != "joined":  # of a database, whoever created the study does; no lock says when
            _import(study, tuning, opened, directory)
        at_work = worker.Worker(
            tuning, study, opened, directory, worker.WorkerOptions(jobs, devices, iterations), say
        )
        finished = at_work.run()
    except (storages.StorageError, studies.StudyError) as error:
        print(f"mindscope: {printable(str(error))}", file=sys.stderr)
        return 1
    except FormatError as error:
        raise SettingError(f"--config: {printable(str(error))}") from None
    except OSError as error:
        print(f"mindscope: {printable(str(error))}", file=sys.stderr)
        return 1
    except storages.failures() as error:
        print(f"mindscope: {printable(opened.failure(error))}", file=sys.stderr)
        return 1
    return _report(tuning, study, at_work, finished=finished)


def _import(study: optuna.Study, tuning: Tuning, opened: OpenStorage, directory: str) -> None:
    """Import earlier runs, one worker at a time."""
    from app.tuning.importing import import_runs
    from app.tuning.journal_file import FileLock
    from parsers.tuning.recording import PLACE

    if not tuning.import_runs:
        return
    beside = opened.journal.path if opened.journal is not None else os.path.join(directory, "study")
    with FileLock(f"{beside}.import").held():
        places = [one.user_attrs.get(PLACE) for one in study.get_trials(deepcopy=False)]
        known = frozenset(os.path.realpath(str(one.get("run"))) for one in places if isinstance(one, dict))
        found = import_runs(study, tuning, known)
    if found.taken:
        say(f"Imported {found.taken:,} earlier runs below {tuning.summary_base_dir}")
    for why, count in found.left.items():
        say(f"Left out {count:,} runs below {tuning.summary_base_dir}: {why}")


def _report(tuning: Tuning, study: optuna.Study, at_work: Worker, *, finished: bool) -> int:
    from app.tuning.lines import settings_text, values_text
    from app.tuning.settings import settings_of
    from app.tuning.studies import best_of

    states = at_work.states
    parts = [f"{count:,} {state}" for state, count in states.items()]
    say(f"{'Done' if finished else 'Interrupted'}: {', '.join(parts) or 'no trial'}")
    if len(tuning.targets) == 1:
        best = best_of(study, tuning)
        if best is not None:
            text = f"{values_text(tuning.targets, best.values)}, {settings_text(settings_of(best, tuning.parameters))}"
            say(f"Best: trial {best.number}, {text}")
    if not finished:
        return 130
    return 1 if states["failed"] and not states["complete"] + states["pruned"] else 0
