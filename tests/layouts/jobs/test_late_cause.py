"""Why a rank is late: the call that Advice names, where its trace has been read, else a link to the timeline that reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from layouts.jobs.late_cause import SMALL, cause_is_read, late_cause
from layouts.profiles.frames import IdleTime, ProfileFrame
from layouts.profiles.profile_choice import ProfileChoice
from parsers import Idle
from parsers.deferred import pandas as pd

ROW = {
    "cause": "host", "site": "/code/train.py(42): train", "name": "<built-in function collect>", "count": 3,
    "idle_ns": 24_000_000, "duration_ns": 9_000_000, "start_ns": 1_000, "stack": "",
}  # fmt: skip
CHOICE = ProfileChoice("job", "first", 0)


class Profiles:
    """Two ranks, of which the second has this idle time."""

    def __init__(self, found: IdleTime) -> None:
        self.found = found

    def members(self, run: str, session: str, rank: int) -> list[tuple[str, str, int]]:
        return [(run, session, 0), (run, session, 5)]

    def idle_time(self, run: str, session: str, rank: int) -> IdleTime:
        return self.found if rank == 5 else IdleTime("missing")

    def trace_frame(self, run: str, session: str, rank: int) -> ProfileFrame:
        self.found = IdleTime("reading")
        return ProfileFrame("reading")


class Source:
    def __init__(self, found: IdleTime) -> None:
        self.profiles = Profiles(found)


def idle(*rows: dict[str, Any]) -> IdleTime:
    calls = pd.DataFrame(rows or None, columns=[*ROW])
    return IdleTime("ready", Idle(2, "Stream 7", 1_000, pd.DataFrame({"step": ["1", "2"]}), calls))


def test_the_call_of_the_host_is_named_with_its_time_per_step_and_place() -> None:
    device = ROW | {"cause": "communication", "name": "AllReduce", "idle_ns": 90_000_000}
    shown = str(late_cause(Source(idle(device, ROW)), CHOICE, 5))
    assert "train.py:42 collect()" in shown
    assert "12.0 ms" in shown
    assert "AllReduce" not in shown
    assert "timeline?" in shown
    assert "advice?" in shown


def test_a_trace_that_was_not_read_is_linked() -> None:
    shown = str(late_cause(Source(IdleTime("unread")), CHOICE, 5))
    assert "is not read yet" in shown
    assert "timeline?" in shown


def test_a_small_trace_is_read_and_a_large_one_only_when_it_is_opened() -> None:
    small, large = Source(IdleTime("unread", size=SMALL)), Source(IdleTime("unread", size=SMALL + 1))
    assert not cause_is_read(small, CHOICE, 5)
    assert "is being read" in str(late_cause(small, CHOICE, 5))
    assert cause_is_read(small, CHOICE, 5)
    assert "is not read yet" in str(late_cause(large, CHOICE, 5))
    assert not cause_is_read(large, CHOICE, 5)
    assert not cause_is_read(small, CHOICE, 3)


@pytest.mark.parametrize(("found", "rank"), [(IdleTime("missing"), 5), (IdleTime("none"), 5), (idle(), 5), (idle(ROW), 3)])
def test_nothing_is_said_of_what_is_not_known(found: IdleTime, rank: int) -> None:
    assert late_cause(Source(found), replace(CHOICE), rank) is None
