"""The profiles of the chosen runs, by the job they belong to, in columns: a job may have 10,000 ranks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from itertools import islice
from typing import Any, TypedDict

from parsers.caches import Cache

from layouts.kit.state import digest_of
from layouts.profiles.frames import ProfileRow
from layouts.profiles.jobs import ListedJob, jobs_of
from layouts.runs.chosen_runs import label_of, selected_rows
from layouts.runs.listed_runs import ChosenRuns, about_runs
from layouts.sources import ProfileSources

MOST_RUNS = 10_000
"""Maximum number of runs whose profiles are listed; each rank of a job may be a run of its own."""
MOST_PROFILES = 20_000
"""Maximum number of profiles listed per run: a job of 10,000 ranks that was profiled twice."""
MOST_IN_ALL = 40_000
"""Maximum number of profiles listed; runs after those that reach it are left out."""
MOST_FILES = 12
"""Maximum number of file names listed per profile."""
MOST_KEPT = 4
"""Lists of profiles that are cached for visitors."""


class ProfileKind(TypedDict):
    """What the files of a profile give."""

    device: str
    frames: list[str]
    files: list[str]
    more: int


class ProfiledRun(TypedDict):
    """A run with profiles."""

    key: str
    name: str
    total: int
    listed: int


class ProfiledJob(TypedDict):
    """Columns of the profiles of a job: a list, or what all are alike."""

    name: str
    title: str
    updated: float
    whole: str
    run: int | list[int]
    session: str | list[str]
    rank: list[int]
    kind: int | list[int]
    mark: str | list[str]


class ListedProfiles(TypedDict):
    """The profiles of some runs; they depend on nothing but these runs."""

    runs: list[ProfiledRun]
    jobs: list[ProfiledJob]
    kinds: list[ProfileKind]
    left: int


class ProfileCatalogue(ListedProfiles, ChosenRuns):
    """The profiles of the chosen runs."""

    digest: str


Listed = tuple[ListedProfiles, str]
"""Profiles, and a digest of them."""


def catalogue(
    source: ProfileSources, state: Any, known: Any = None, *, kept: Cache[Any, Listed] | None = None
) -> ProfileCatalogue | None:
    """Return the profiles by job and the numbers of runs left out and not read yet; None if the digest is the known one.

    `jobs` have a column for each property of their profiles, ordered by rank: a list, or one value where all are alike. run
    and kind are places in `runs` and `kinds`; a kind is what the files give, with `_*` for `_<rank>` in names of files.
    elsewhere lists other runs that have profiles, if none of the chosen runs has any; damage the problems of the chosen ones
    that may hide one.
    """
    rows = selected_rows(state, source, ("profile",))
    runs = list(rows)
    source.runs.want(runs)
    names = [label_of(run, rows[run]) for run in runs]
    key = tuple((run, name, source.runs.version(run)) for run, name in zip(runs, names, strict=True))
    lists = kept if kept is not None else Cache[Any, Listed]()
    listed, written = lists.made(key, lambda: _listed(source, list(zip(runs, names, strict=True))))
    about = about_runs(source, runs, "profile", found=bool(listed["runs"]), unreached=True)
    digest = digest_of([about, written])
    return None if digest == known else {**listed, **about, "digest": digest}


def _listed(source: ProfileSources, runs: Sequence[tuple[str, str]]) -> Listed:
    having = [(run, name, profiles) for run, name in runs if (profiles := source.profiles.rows(run))]
    shown: list[tuple[ProfiledRun, Sequence[ProfileRow]]] = []
    number = 0
    for run, name, profiles in having[:MOST_RUNS]:
        if number >= MOST_IN_ALL:
            break
        some = list(islice(profiles, min(MOST_PROFILES, MOST_IN_ALL - number)))
        number += len(some)
        shown.append(({"key": run, "name": name, "total": len(profiles), "listed": len(some)}, some))
    places = {about["key"]: place for place, (about, _) in enumerate(shown)}
    kinds: dict[str, int] = {}
    jobs = jobs_of(source, [(about["key"], one) for about, some in shown for one in some])
    made: ListedProfiles = {
        "runs": [about for about, _ in shown],
        "jobs": [_job(job, places, kinds) for job in jobs],
        "kinds": [json.loads(kind) for kind in kinds],
        "left": len(having) - len(shown),
    }
    return made, digest_of(made)


def _job(job: ListedJob, places: dict[str, int], kinds: dict[str, int]) -> ProfiledJob:
    profiles = [one for _, one in job.profiles]
    marks = [one.mark for one in profiles]
    return {
        "name": job.name, "title": job.title,
        "updated": max(one.updated for one in profiles),
        "whole": f"{zlib.crc32(chr(10).join(marks).encode()):08x}-{len(marks):x}",
        "run": _column([places[run] for run, _ in job.profiles]),
        "session": _column([one.session for one in profiles]),
        "rank": [one.rank for one in profiles],
        "kind": _column([kinds.setdefault(_kind(one), len(kinds)) for one in profiles]),
        "mark": _column(marks),
    }  # fmt: skip


def _kind(profile: ProfileRow) -> str:
    """Return what the files of a profile give, the same for ranks whose files differ in the number of the rank only."""
    own = f"_{profile.rank}"
    files = [name.replace(f"{own}.", "_*.").replace(f"{own}_", "_*_") for name in profile.files[:MOST_FILES]]
    more = max(0, len(profile.files) - MOST_FILES)
    return json.dumps({"device": profile.device, "frames": profile.frames, "files": files, "more": more})


def _column(values: list[Any]) -> Any:
    """Return the values, or the one that all are."""
    return values[0] if all(value == values[0] for value in values) else values
