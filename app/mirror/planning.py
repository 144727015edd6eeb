"""What to copy next, and what to remove, from a listing and what is known: a function without files or network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.mirror.names import clashes, is_safe, same_but_for_case, wanted
from app.mirror.remote import RemoteFile
from app.mirror.state import COPIED, FAILED, GROWING, LARGE, REMOVED, WAITING, RemoteEntry
from app.mirror.wishes import Wishes
from parsers.ages import age_of

GROWS_SECONDS = 600.0
"""A file that changed within this time is growing, and its directory is listed between two full listings."""
MOST_BETWEEN = 64
"""Directories that are listed between two full listings, those with the newest changes first."""
SHARE = 0.05
"""Of the time, for full listings."""
CPU_SHARE = 0.025
"""Of a core, for full listings."""


@dataclass(frozen=True, slots=True)
class CopyLimits:
    """most: bytes of all copies. largest: bytes of one file."""

    most: int = 20 << 30
    largest: int = 1 << 30


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """entries: all files there are now, by name. bring: what to copy, most wanted first. remove: copies to remove."""

    entries: dict[str, RemoteEntry]
    bring: Sequence[RemoteFile]
    remove: Sequence[str]


def plan(
    listed: Sequence[RemoteFile], known: Mapping[str, RemoteEntry], copies: Mapping[str, tuple[int, float] | None],
    wishes: Wishes, limits: CopyLimits, now: float, *, problems: Mapping[str, str] | None = None, ignores_case: bool = False,
) -> CopyPlan:
    """Return what to do for remote files: `listed` are all there are, known those before, copies their (size, mtime) on disk.

    problems are names that cannot be copied, with the reason. Files on screen come first, then those of the newest runs; where
    not all have room, those that were not on screen for longest, or never, and are oldest, are removed or not copied.
    """
    listed = wanted(listed)
    refused = _refused(listed, problems or {}, ignores_case)
    entries = {name: RemoteEntry(name, 0, 0.0, state=FAILED, reason=reason) for name, reason in refused.items()}
    ranked = _ranked([file for file in listed if file.name not in refused], known, wishes, now)
    entries |= {file.name: entry for file, entry in ranked}
    bring: list[RemoteFile] = []
    taken = 0
    for file, entry in ranked:
        copy = copies.get(file.name)
        if file.size > limits.largest and not entry.chosen:
            entry.state = LARGE
            taken += copy[0] if copy else 0  # it may have been smaller: what there is stays
        elif taken + file.size > limits.most:
            entry.state = REMOVED
        else:
            taken += file.size
            if _is_copied(entry, file, copy):
                _confirm(entry, file, now)
            else:
                entry.state = entry.state if entry.state == FAILED else WAITING
                bring.append(file)
    kept = {name for name, entry in entries.items() if entry.state in (COPIED, GROWING, WAITING, LARGE)}
    kept |= {file.name for file in bring}
    return CopyPlan(entries, bring, [name for name, copy in copies.items() if copy is not None and name not in kept])


def _refused(listed: Sequence[RemoteFile], problems: Mapping[str, str], ignores_case: bool) -> dict[str, str]:
    """Return why files cannot have a copy, by name."""
    refused = dict(problems) | {file.name: "name" for file in listed if not is_safe(file.name)}
    refused |= clashes(file.name for file in listed)
    if ignores_case:
        refused |= same_but_for_case(file.name for file in listed if file.name not in refused)
    return refused


def _ranked(
    files: Sequence[RemoteFile], known: Mapping[str, RemoteEntry], wishes: Wishes, now: float
) -> list[tuple[RemoteFile, RemoteEntry]]:
    """Return files and their renewed entries: first on screen, then of directories that were seen or changed last."""
    newest: dict[str, float] = {}
    for file in files:
        place = directory_of(file.name)
        newest[place] = max(newest.get(place, 0.0), file.mtime)
    on_screen = {place: _seen(place, wishes.screen) for place in newest}
    chosen = set(wishes.fetch)
    ranked = []
    for file in files:
        before, place = known.get(file.name), directory_of(file.name)
        entry = RemoteEntry(file.name, 0, 0.0, wanted=file.size) if before is None else _renewed(before, file)
        entry.chosen = entry.chosen or file.name in chosen
        if on_screen[place]:
            entry.viewed = now
        rank = (not on_screen[place], -max(entry.viewed, newest[place]), -file.mtime, file.name)
        ranked.append((rank, file, entry))
    ranked.sort(key=lambda one: one[0])
    return [(file, entry) for _, file, entry in ranked]


def _confirm(entry: RemoteEntry, file: RemoteFile, now: float) -> None:
    """Write into an entry that its copy is the remote file."""
    entry.size, entry.mtime, entry.tag = file.size, file.mtime, file.tag or entry.tag
    entry.state = state_of_copy(file, now)
    entry.reason = entry.code = ""


def state_of_copy(file: RemoteFile, now: float) -> str:
    """Return the state of a file that has been copied as it is."""
    return GROWING if age_of(file.mtime, now) < GROWS_SECONDS else COPIED


def directory_of(name: str) -> str:
    """Return the directory of a file, "" for the first one."""
    return name.rpartition("/")[0]


def _seen(place: str, screen: Sequence[str]) -> bool:
    return any(run in ("", ".", place) or place.startswith(run + "/") for run in screen)


def _renewed(before: RemoteEntry, file: RemoteFile) -> RemoteEntry:
    """Return an entry to change, without the failure of a version that is gone."""
    same = before.wanted == file.size
    state, reason, code = (before.state, before.reason, before.code) if same else (WAITING, "", "")
    return RemoteEntry(
        before.name, before.size, before.mtime, before.tag, file.size, state, reason, code, before.viewed, before.chosen
    )


def _is_copied(entry: RemoteEntry, file: RemoteFile, copy: tuple[int, float] | None) -> bool:
    """Return whether a copy is the remote file: of its size, its time, and of its tag if that is known."""
    if copy is None or copy[0] != file.size or abs(copy[1] - file.mtime) > 0.001:
        return False
    return entry.mtime != file.mtime or not (entry.tag and file.tag) or entry.tag == file.tag


def busy_directories(changed: Mapping[str, float], now: float) -> list[str]:
    """Return the directories to list between two full listings: those with files that changed lately, newest first.

    changed has the times of changes by name, by the clock of `now`.
    """
    newest: dict[str, float] = {}
    for name, when in changed.items():
        if now - when < GROWS_SECONDS:
            place = directory_of(name)
            newest[place] = max(newest.get(place, when), when)
    return sorted(newest, key=lambda place: -newest[place])[:MOST_BETWEEN]


def seconds_between(every: float, took: float, cpu: float) -> float:
    """Return the seconds from the begin of a full listing, which took this time and this processor time, to the next one."""
    return max(every, took / SHARE, cpu / CPU_SHARE)


def seconds_to_wait(failures: int) -> float:
    """Return the seconds until what failed this often in a row is tried again: 1 s, doubled each time, at most 5 minutes."""
    return min(2.0 ** max(failures - 1, 0), 300.0) if failures < 20 else 300.0
