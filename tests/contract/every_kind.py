"""A run with a profile that has a small file of every kind, and the readers that no run asks: checkpoints and searches.

The samples have few kinds of profiles: their tables are written here, as fuzzing begins with them.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from parsers.cluster_frames import JOB_FRAMES
from parsers.discovery.studies import journals
from parsers.errors import FormatError
from parsers.profiler.registry import FILE_KINDS, classify
from parsers.registry import KINDS, kind_of
from parsers.runs import Run
from parsers.tuning.journal import StudyFile
from parsers.weights.recognition import opened
from tests.fuzz.corpus import Seeds
from tests.fuzz.landscape_files import FACTS

CHECKPOINTS = (".ckpt", ".npz", ".pt", ".safetensors")
PLACE = "every_kind"


def write_every_kind(base: Path) -> None:
    """Write a file of each kind of profiles, and of runs where no sample has it, below a directory."""
    seeds = Seeds()
    folder = base / PLACE / "profiler"
    folder.mkdir(parents=True)
    for kind in FILE_KINDS:
        for name, contents in seeds.profiles(kind).values():
            (folder / name).write_bytes(contents[0])
    (base / PLACE / f"landscape-{'0' * 16}.json").write_bytes(FACTS[0])


def kinds_below(base: Path) -> set[str]:
    """Return the kinds, of runs and of profiles, of which there are files."""
    names = [path.name for path in base.rglob("*") if path.is_file()]
    found = {known[0].name for name in names if (known := kind_of(name))}
    return found | {known[0] for name in names if (known := classify(name))}


def every_kind() -> set[str]:
    """Return the kinds that the registries have."""
    return {kind.name for kind in KINDS} | set(FILE_KINDS)


def ask_jobs(run: Run) -> int:
    """Ask for all frames of the jobs of a run; return the number of their rows."""
    return sum(len(job.frame(name)) for job in run.profile.jobs for name in JOB_FRAMES if job.gives(name))


def ask_checkpoints(base: Path) -> int:
    """Open all that may be a checkpoint; return how many are."""
    count = 0
    for path in base.rglob("*"):
        if path.suffix in CHECKPOINTS:
            with contextlib.suppress(FormatError, OSError), opened(str(path)) as weights:
                for name in list(weights.tensors)[:2]:
                    weights.read(name)
                count += 1
    return count


def ask_studies(base: Path) -> int:
    """Read all journals of searches in directories below; return the number of their trials."""
    found = [StudyFile(path) for folder in base.rglob("*") if folder.is_dir() for path in journals(str(folder))]
    for study in found:
        study.refresh()
    return sum(len(study.trials) for file in found for study in file.studies)
