"""Joins directories that are parts of one run: saved graphs, checkpoints, ranks of a job, profiles beside a summary."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from parsers.discovery.listing import RANK_NAME, file_order, measured
from parsers.model import CONFIG, Source

GRAPH_PARTS = ("actor_set", "verbose_ir_files")
CHECKPOINT = re.compile(r"checkpoint-(\d{1,18})")
"""The directories that the Trainer of Hugging Face makes."""
STATE = "trainer_state"


def join_graphs(sources: list[Source]) -> list[Source]:
    """Merge the directories that MindSpore creates beside saved graphs into the run of these graphs."""
    by_path = {source.path: source for source in sources}
    for source in sources:
        above, name = os.path.split(source.path)
        run = by_path.get(above)
        if name not in GRAPH_PARTS or run is None or {file.kind for file in source.files} != {"graph"}:
            continue
        by_path[above] = replace(run, files=tuple(sorted((*run.files, *source.files), key=file_order)))
        del by_path[source.path]
    return list(by_path.values())


def join_checkpoints(sources: list[Source]) -> list[Source]:
    """Give the state of a trainer in the newest directory checkpoint-N to the run above them, which it is the history of."""
    by_path = {source.path: source for source in sources}
    groups: dict[str, list[tuple[int, Source]]] = {}
    for source in sources:
        match = CHECKPOINT.fullmatch(os.path.basename(source.path))
        if match is not None and source.name != "." and any(file.kind == STATE for file in source.files):
            groups.setdefault(os.path.dirname(source.path), []).append((int(match[1]), source))
    for above, found in groups.items():
        newest = max(found, key=lambda one: one[0])[1]
        name = newest.name.rpartition("/")[0] or "."
        run = by_path.get(above) or Source(above, os.path.dirname(newest.real_path), name, ())
        state = () if any(file.kind == STATE for file in run.files) else newest.files
        by_path[above] = replace(run, files=tuple(sorted((*run.files, *state), key=file_order)))
        for _, source in found:
            rest = tuple(file for file in source.files if file.kind not in (STATE, CONFIG))
            if rest or source.profile_dirs or source.dump_dirs or source.plan:
                by_path[source.path] = replace(source, files=rest)
            else:
                del by_path[source.path]
    return list(by_path.values())


def job_of(name: str) -> tuple[str, int] | None:
    """Return the name of the job that a run of this name is a rank of, and the number of the rank; None if it is none."""
    parts = name.split("/")
    named = ((i, found) for i, part in enumerate(parts) if part.startswith("rank") and (found := RANK_NAME.fullmatch(part)))
    place, match = next(named, (0, None))
    if match is None:
        return None
    above = "/".join(parts[:place]) or "."
    below = "/".join(parts[place + 1 :])
    return f"{above}/rank_*/{below}" if below else above, int(match[1])


def join_ranks(sources: list[Source]) -> list[Source]:
    """Join runs below rank_<n> as ranks of one job, named after the directory that holds the rank directories."""
    jobs: dict[str, list[tuple[int, Source]]] = {}
    others: list[Source] = []
    for source in sources:
        job = job_of(source.name)
        if job is None:
            others.append(source)
            continue
        jobs.setdefault(job[0], []).append((job[1], source))
    single = {source.name: source for source in others}
    for name, members in jobs.items():
        ranks = tuple(rank for _, rank in sorted(members, key=lambda member: (member[0], member[1].name)))
        if name in single:
            single[name] = replace(single[name], ranks=ranks)
        else:
            depth = ranks[0].name.count("/") + 1 - (0 if name == "." else name.split("/rank_*")[0].count("/") + 1)
            single[name] = Source(_up(ranks[0].path, depth), _up(ranks[0].real_path, depth), name, (), ranks)
    return list(single.values())


def _up(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path


def join_profiles(sources: list[Source]) -> list[Source]:
    """Join `profile` with `summary` beside it: they are one job, so its profiler directories move to the run in `summary`."""
    by_name = {source.name: source for source in sources}
    for name in [name for name in by_name if name == "profile" or name.endswith("/profile")]:
        run = by_name.get(name[: -len("profile")] + "summary")
        profile = by_name[name]
        if run is None or profile.files:
            continue
        found = tuple(path for leaf in (profile, *profile.ranks) for path in leaf.profile_dirs)
        by_name[run.name] = measured(replace(run, profile_dirs=run.profile_dirs + found))
        del by_name[name]
    return list(by_name.values())
