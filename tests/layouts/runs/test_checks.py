"""Ticks and remarks on steps: what is kept, and what is refused."""

from __future__ import annotations

import pytest

from layouts.kit.user_input import InvalidInput
from layouts.runs.checks import LONGEST_REMARK, MOST_CHECKS, NO_CHECK, Checks, StepCheck


def test_a_check_without_a_tick_and_a_remark_is_none() -> None:
    made = Checks().changed("a.b", StepCheck(True)).changed("a.c", StepCheck(False, " so  \r\n"))
    assert made.by_step == {"a.b": StepCheck(True), "a.c": StepCheck(False, "so")}
    assert made.changed("a.b", StepCheck()).changed("a.c", StepCheck(remark=" ")) == Checks({})
    assert made.of("a.d") == NO_CHECK
    assert len({one.version for one in (NO_CHECK, *made.by_step.values())}) == 3


@pytest.mark.parametrize("step", ["", "a", "a.b.c", "A.b", "../x", "a." + "b" * 41])
def test_only_steps_can_be_ticked(step: str) -> None:
    with pytest.raises(InvalidInput, match="step"):
        Checks().changed(step, StepCheck(True))


def test_remarks_and_their_number_are_bounded() -> None:
    with pytest.raises(InvalidInput, match="remark"):
        Checks().changed("a.b", StepCheck(remark="x" * (LONGEST_REMARK + 1)))
    letters = [f"{one}{two}{three}" for one in "abcdefgh" for two in "abcdefgh" for three in "abcdefgh"]
    full = Checks({f"a.{name}": StepCheck(True) for name in letters[:MOST_CHECKS]})
    with pytest.raises(InvalidInput, match="checks"):
        full.changed("b.c", StepCheck(True))
    assert full.changed("b.c", StepCheck()) == full
