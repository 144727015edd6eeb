"""What a catalogue says of the chosen runs beside their data of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from layouts.runs.chosen_runs import UNREAD, KeyAndName, elsewhere
from layouts.runs.damage import FileAndText, damage
from layouts.sources import RunSources

MOST_ELSEWHERE = 8


class ChosenRuns(TypedDict):
    """What a catalogue says of the chosen runs."""

    chosen: int
    waiting: int
    damage: list[FileAndText]
    elsewhere: list[KeyAndName]


def about_runs(source: RunSources, runs: Sequence[str], kind: str, *, found: bool, unreached: bool = False) -> ChosenRuns:
    """Return how many runs are chosen, and how many of them are not read yet.

    Unless one was found with data of the kind: elsewhere lists other runs that have some, and damage the problems of the chosen
    ones that may be the reason (unreached: only those that may hide whole files).
    """
    states = {member: row.state for row in source.runs.rows() for member in row.members}
    return {
        "chosen": len(runs), "waiting": sum(states.get(run) in UNREAD for run in runs),
        "damage": [] if found else damage(source, runs, unreached=unreached),
        "elsewhere": [] if found else elsewhere(source, runs, kind, MOST_ELSEWHERE),
    }  # fmt: skip
