"""Build the rows that list runs on the pages: for a run or a job of several ranks; before, while and after it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from layouts.runs.rows import RunRow
from parsers import Source
from parsers.ages import age_of
from parsers.analysis.curves.final_values import last_value
from parsers.analysis.lineage.results import main_tag
from parsers.checkpoints import POINTS
from parsers.model import COMPUTED_LANDSCAPES
from parsers.names import printable
from parsers.runs import Run

LIVE_SECONDS = 60.0
"""A run whose files grew within this time is live."""


def _stamped(source: Source) -> float | None:
    """Return the earliest time in the file names. It is known before anything is read, so the order of runs is stable."""
    return min((float(file.stamp) for file in source.files if file.stamp is not None), default=None)


def unread_row(key: str, source: Source) -> RunRow:
    """Return the row of a run that has been discovered but not read."""
    return RunRow(
        key=key, name=key, path=printable(source.path), real_path=printable(source.real_path), members=(key,),
        started=_stamped(source),
        updated=source.updated, size=source.size, state="waiting",
    )  # fmt: skip


def dated_row(row: RunRow, source: Source, now: float) -> RunRow:
    """Return the row updated from the newest scan."""
    updated, size = source.updated, source.size
    state = "live" if row.state == "idle" and age_of(updated, now) < LIVE_SECONDS else row.state
    if (state, updated, size) == (row.state, row.updated, row.size):
        return row  # as nearly all are
    return replace(row, updated=updated, size=size, state=state)


def run_row(key: str, run: Run, source: Source, counts: tuple[int, int], *, loaded: bool) -> RunRow:
    """Return the row of a run as read so far. counts are those of problems and notes; loaded is whether it has been
    read to its end.
    """
    tags = run.tags("scalar")
    main = main_tag(tags)
    curve = run.resolved(main) if main else None
    curve = curve if curve and len(curve.step) else None
    last = last_value(curve) if curve else None
    return RunRow(
        key=key,
        name=key,
        path=printable(source.path),
        real_path=printable(source.real_path),
        members=(key,),
        started=_stamped(source) or run.started,
        updated=source.updated,
        size=source.size,
        state=_state(run, source) if loaded else "loading",
        steps=run.steps,  # after the main curve has been resolved, which often is the longest
        points=run.points,
        tags=kinds_of(run, source),
        main_tag=main,
        main_value=last.value if last else None,
        main_step=last.step if last else -1,
        main_finite=last.finite if last and last.finite_step >= 0 else None,
        main_finite_step=last.finite_step if last else -1,
        main_points=len(curve.step) if curve else 0,
        problems=counts[0],
        notes=counts[1],
        version=run.version,
    )


def kinds_of(run: Run, source: Source) -> dict[str, int]:
    """Return kind -> number of tags. "checkpoints" is 1 if a plan to compute landscapes from checkpoints was found.

    "dump" is the number of directories with dumps, "growing" that of files with points of landscapes that are computed.
    """
    growing = sum(file.kind == COMPUTED_LANDSCAPES and file.path.endswith(POINTS) for file in source.files)
    extra = {"checkpoints": int(bool(source.plan)), "dump": len(source.dump_dirs), "growing": growing}
    return run.kinds() | profile_kinds(run) | {kind: number for kind, number in extra.items() if number}


def profile_kinds(run: Run) -> dict[str, int]:
    """Return "profile.<frame>" -> number of profiles, or for frames of jobs of sessions, that have a file for that frame."""
    if not run.profiled:
        return {}
    from app.store.profiles.frames import TRACE  # few servers show profiles: 80 modules
    from parsers.profiler.ranks import KINDS
    from parsers.profiler.registry import FRAMES, kinds_giving
    from parsers.profiler.trace.files import SOURCES, TABLES

    given = {**{name: kinds_giving(schema) for name, schema in FRAMES.items()}, TRACE: (*SOURCES, *TABLES)}
    counted = _counted(given, Counter(profile.kinds for profile in run.profile.values()))
    counted |= _counted(KINDS, Counter(frozenset(file.kind for file in session.files) for session in run.profile.sessions))
    return {f"profile.{name}": number for name, number in counted.items() if number}


def _counted(given: Mapping[str, Sequence[str]], held: Counter[frozenset[str]]) -> dict[str, int]:
    """Return in how many of the sets of kinds is one of the kinds that give a frame. The ranks of a job have the same kinds."""
    return {name: sum(held[one] for one in held if not one.isdisjoint(kinds)) for name, kinds in given.items()}


def _state(run: Run, source: Source) -> str:
    """Return the state of a run that has been read. Empty files mean that training has just begun, not damage."""
    if not (source.files or _extra(source)):
        return "outside" if any(problem.kind == "outside" for problem in source.problems) else "unreadable"
    nothing = bool(source.files) and not any(state.records for state in run.states.values())
    if not nothing or all(problem.is_note for problem in run.problems):
        return "idle"
    return "empty" if all(problem.kind == "empty_file" for problem in run.problems) else "unreadable"


def _extra(source: Source) -> bool:
    return bool(source.profile_dirs or source.dump_dirs)


def job_row(name: str, source: Source, rows: Sequence[RunRow]) -> RunRow:
    """Combine ranks into one row: the sums of points and problems, the most steps, the first rank's main value."""
    states = {row.state for row in rows}
    order = ("loading", "waiting", "live", "idle", "empty", "outside", "unreadable")
    first = next((row for row in rows if row.main_tag), None)
    tags: dict[str, int] = {}
    for row in rows:
        for kind, count in row.tags.items():
            tags[kind] = max(tags.get(kind, 0), count)
    return RunRow(
        key=name,
        name=name,
        path=printable(source.path),
        real_path=printable(source.real_path),
        members=tuple(row.key for row in rows),
        started=min((row.started for row in rows if row.started is not None), default=None),
        updated=source.updated,
        size=source.size,
        state=next((state for state in order if state in states), "idle"),
        steps=max((row.steps for row in rows), default=0),
        points=sum(row.points for row in rows),
        tags=tags,
        main_tag=first.main_tag if first else "",
        main_value=first.main_value if first else None,
        main_step=first.main_step if first else -1,
        main_finite=first.main_finite if first else None,
        main_finite_step=first.main_finite_step if first else -1,
        main_points=first.main_points if first else 0,
        problems=sum(row.problems for row in rows),
        notes=sum(row.notes for row in rows),
        version=sum(row.version for row in rows),
    )
