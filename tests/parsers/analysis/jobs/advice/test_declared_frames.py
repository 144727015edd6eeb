"""Rules look at the frames that they declare, and at none that their verdict does not take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import pytest

from parsers.analysis.jobs.advice.model import OwnFrames, UndeclaredFrame, frame_of
from parsers.analysis.jobs.advice.rules import FRAMES, GAPS, OF_JOB, RULES, THRESHOLDS, judged
from tests.writers.symptomatic_runs import triples


class Watched(Mapping[str, "pd.DataFrame | None"]):
    """Frames that keep the names by which they were looked at."""

    def __init__(self, frames: Mapping[str, pd.DataFrame | None]) -> None:
        self._frames = frames
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame | None:
        self.seen.add(name)
        return self._frames.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)


def test_rules_declare_what_is_read_for_them_and_nothing_else() -> None:
    assert list(RULES) == list(THRESHOLDS)
    declared = {name for rule in RULES.values() for name in rule.frames}
    of_replays = {"device_times"}
    assert declared | of_replays == {*FRAMES, *OF_JOB, *GAPS, "operator_memory", "memory_sessions"}


def test_a_frame_that_is_not_declared_is_an_error_rather_than_missing() -> None:
    own = OwnFrames({"steps": None, "kernels": None}, ("steps",))
    assert frame_of(own, "steps") is None
    with pytest.raises(UndeclaredFrame, match="found kernels"):
        frame_of(own, "kernels")


@pytest.mark.parametrize("rule", RULES)
def test_a_review_of_one_rule_looks_at_its_frames_alone(rule: str) -> None:
    seen: set[str] = set()
    for triple in triples().values():
        for made in (triple.fault, triple.healthy, triple.absent):
            frames = Watched(made.frames)
            judged(frames, rules=(rule,))
            seen |= frames.seen
    assert seen <= set(RULES[rule].frames)
    assert seen


def test_some_rules_say_what_all_of_them_say() -> None:
    names = ("interval", "idle", "communication", "ai_cpu", "synchronising")
    for name, triple in triples().items():
        whole, some = judged(triple.fault.frames), judged(triple.fault.frames, rules=names)
        wanted = [(one.rule, one.value) for one in whole.found if one.rule in names]
        assert [(one.rule, one.value) for one in some.found] == wanted, name
        assert some.unchecked == {rule: files for rule, files in whole.unchecked.items() if rule in names}


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(KeyError, match="no_such_rule"):
        judged({}, rules=("no_such_rule",))
