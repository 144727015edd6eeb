"""What can be asked of the runs of a directory: each question with the page that answers it, and the run to open it at.

`questions` is a function of what the list of runs and of profiles says; nothing is read for it. A demo names places that show
its faults best by `Destinations`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from layouts.profiles.frames import ProfileRow
from layouts.runs.rows import EVERY_RUN, RunRow

State = Mapping[str, Sequence[str]]
SETTINGS = ("lineage", "hparams", "settings", "config")
"""Kinds of data of which a run with settings has one."""
MEMORY = ("memory", "operator_memory", "static_memory", "module_memory")
"""Frames of which a profile with device memory has one."""
STEP_TIMES = ("steps", "operators", "kernels", "operator_types", "trace")
"""Frames that tell where the time of a step goes, the ones that tell most first."""
LEAST_SWEEP = 3
"""Runs with settings that make a sweep."""
MOST_NAMED = 50
"""Runs that an address names, at most; it has all of them otherwise."""
MOST_ASKED = 20
"""Runs whose profiles are looked at for one with several ranks, newest first."""

Profiles = Callable[[str], Sequence[ProfileRow]]
"""Member run -> its profiles."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A page, and the state to open it with: the run, and where it matters tag, step, rank or sample."""

    page: str
    state: State = field(default_factory=dict)


Destinations = Mapping[str, Destination]
"""Question -> the place that answers it best, for a directory whose contents are known."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the place that answers it; None if no run has what it needs.

    needs is the kind of data in `layouts.kit.recording.RECORDINGS`. page is the page for such data. run is the key of the row
    that is shown, "" for several. rank is that of the profile shown, None where none is named; number is how many runs or ranks
    the answer is about, 0 where that means nothing.
    """

    name: str
    needs: str
    page: str
    place: Destination | None = None
    run: str = ""
    rank: int | None = None
    number: int = 0


def questions(rows: Sequence[RunRow], profiles: Profiles, places: Destinations | None = None) -> list[Question]:
    """Return the six questions, and where one has no answer, first of all that of how training is going.

    rows are those of the list of runs, newest first; places are preferred if their runs exist.
    """
    known = {row.key: row.key for row in rows} | {member: row.key for row in rows for member in row.members}
    six = [_preferred(one, known, places or {}) for one in (
        _best(rows), _broke(rows), _time(rows, profiles), _late(rows, profiles), _memory(rows, profiles), _looks(rows),
    )]  # fmt: skip
    return six if all(one.place for one in six) else [_going(rows), *six]


def counted(rows: Sequence[RunRow], studies: int = 0) -> dict[str, int]:
    """Return what there is by kind: runs, profiles, dumps, graphs, explanations and studies, without kinds of none."""
    kinds = {"profile": "profile", "dump": "dump", "graph": "graph", "explain": "explain"}
    sums = {"run": len(rows)} | {name: sum(row.tags.get(kind, 0) for row in rows) for name, kind in kinds.items()}
    return {name: number for name, number in (sums | {"study": studies}).items() if number}


def _preferred(question: Question, known: Mapping[str, str], places: Destinations) -> Question:
    place = places.get(question.name)
    if place is None:
        return question
    named = [*place.state.get("of", ()), *(run for run in place.state.get("run", ()) if run != EVERY_RUN)]
    if any(run not in known for run in named):
        return question
    rank = next((int(one) for one in place.state.get("rank", ()) if one.lstrip("-").isdigit()), None)
    keys = {known[run] for run in named}
    number = len(keys) if len(keys) > 1 else question.number
    return replace(question, place=place, run=keys.pop() if len(keys) == 1 else "", rank=rank, number=number)


def _having(rows: Iterable[RunRow], kinds: Iterable[str]) -> list[RunRow]:
    wanted = tuple(kinds)
    return [row for row in rows if any(row.tags.get(kind) for kind in wanted)]


def _going(rows: Sequence[RunRow]) -> Question:
    """The newest run with scalars, one that is being trained first."""
    having = _having(rows, ("scalar",))
    row = next((row for row in having if row.state == "live"), next(iter(having), None))
    if row is None:
        return Question("going", "scalar", "scalars")
    return Question("going", "scalar", "scalars", Destination("overview", {"run": [row.key]}), run=row.key)


def _best(rows: Sequence[RunRow]) -> Question:
    """The largest sweep below one directory; else the list of runs, if there are several with a result."""
    with_settings = _having(rows, SETTINGS)
    folders = Counter(_folder(row) for row in with_settings)
    folder, number = max(folders.items(), key=lambda one: one[1], default=("", 0))
    if number < LEAST_SWEEP and len(with_settings) >= LEAST_SWEEP:
        folder, number = "", len(with_settings)
    if number >= LEAST_SWEEP:
        sweep = [row.key for row in with_settings if not folder or _folder(row) == folder]
        state = {"run": sweep} if len(sweep) < len(with_settings) and len(sweep) <= MOST_NAMED else {"run": [EVERY_RUN]}
        return Question("best", "lineage", "optimisation", Destination("optimisation", state), number=number)
    results = [row for row in rows if row.main_tag]
    if len(results) > 1:
        return Question("best", "lineage", "optimisation", Destination(""), number=len(results))
    return Question("best", "lineage", "optimisation")


def _folder(row: RunRow) -> str:
    return row.name.rpartition("/")[0]


def _broke(rows: Sequence[RunRow]) -> Question:
    """The newest dump, of a run that ended as NaN or Inf if there is one; else the newest run that ended so."""
    dumped = _having(rows, ("dump",))
    row = next(filter(_ended_badly, dumped), next(iter(dumped), None))
    if row is not None:
        place = Destination("first_cause", {"run": [row.key], "of": [row.key]})
        return Question("broke", "dump", "first_cause", place, run=row.key)
    row = next(filter(_ended_badly, rows), None)
    if row is not None:
        place = Destination("scalars", {"run": [row.key], "tag": [row.main_tag]})
        return Question("broke", "dump", "first_cause", place, run=row.key)
    return Question("broke", "dump", "first_cause")


def _ended_badly(row: RunRow) -> bool:
    return row.main_value is not None and not math.isfinite(row.main_value)


def _time(rows: Sequence[RunRow], profiles: Profiles) -> Question:
    frames = (f"profile.{name}" for name in STEP_TIMES)
    found = next(filter(None, (_having(rows, (name,)) for name in (*frames, "profile"))), [])
    return _of_profile("time", "profile", "profile_overview", found, profiles, STEP_TIMES)


def _late(rows: Sequence[RunRow], profiles: Profiles) -> Question:
    """The newest job of several ranks that recorded steps."""
    for row in _having(rows, ("profile.cluster_steps",))[:MOST_ASKED]:
        ranks = {(member, one.rank) for member in row.members for one in profiles(member) if one.rank >= 0}
        if len(ranks) > 1:
            found = _of_profile("late", "communication", "cluster", [row], profiles, ("cluster_steps",))
            return replace(found, number=len(ranks), rank=None)
    return Question("late", "communication", "cluster")


def _memory(rows: Sequence[RunRow], profiles: Profiles) -> Question:
    found = _having(rows, (f"profile.{name}" for name in MEMORY))
    return _of_profile("memory", "memory", "memory", found, profiles, MEMORY)


def _looks(rows: Sequence[RunRow]) -> Question:
    row = next(iter(_having(rows, ("explain",))), None)
    if row is None:
        return Question("looks", "explain", "saliency")
    member = row.members[0] if row.members else row.key
    return Question("looks", "explain", "saliency", Destination("saliency", {"run": [row.key], "of": [member]}), run=row.key)


def _of_profile(
    name: str, needs: str, page: str, rows: Sequence[RunRow], profiles: Profiles, frames: Sequence[str]
) -> Question:
    """The newest session of the newest run with one of the frames, at its lowest rank."""
    for row in rows[:1]:
        for member in row.members:
            able = [one for one in profiles(member) if not {*frames}.isdisjoint(one.frames)] or profiles(member)
            if able:
                best = min(able, key=lambda one: (one.rank < 0, one.rank, -one.updated))
                state = {"run": [row.key], "of": [member], "session": [best.session], "rank": [str(best.rank)]}
                rank = best.rank if best.rank >= 0 else None
                return Question(name, needs, page, Destination(page, state), run=row.key, rank=rank)
        return Question(name, needs, page, Destination(page, {"run": [row.key]}), run=row.key)
    return Question(name, needs, page)

