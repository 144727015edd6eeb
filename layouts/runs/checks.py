"""What users tick off and remark on the steps of a guide, for one run. All of it is untrusted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from layouts.kit.user_input import InvalidInput, plain_text, version_of

LONGEST_REMARK = 2_000
MOST_CHECKS = 500
"""Steps with a tick or a remark on one run."""
_STEP = re.compile(r"[a-z_]{1,40}\.[a-z_]{1,40}")


@dataclass(frozen=True, slots=True)
class StepCheck:
    """Whether a step was ticked off, and the remark on it."""

    done: bool = False
    remark: str = ""

    @property
    def version(self) -> str:
        """The version that a change of the check must be based on."""
        return version_of(str(self.done), self.remark)

    def checked(self) -> StepCheck:
        """Return it with a normalised remark. InvalidInput if the remark is too long."""
        return StepCheck(self.done, plain_text("remark", self.remark, LONGEST_REMARK))


NO_CHECK = StepCheck()


def step_name(text: str) -> str:
    """Return the name of a step, "symptom.step", as it is. InvalidInput if it is none."""
    if not _STEP.fullmatch(text):
        raise InvalidInput(f"step: expected a symptom and a step of it, found {text[:80]!r}")
    return text


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks on a run by step ("not_a_number.labels"); those without a tick and a remark are left out."""

    by_step: Mapping[str, StepCheck] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, step: str) -> StepCheck:
        """Return the check of a step."""
        return self.by_step.get(step, NO_CHECK)

    def changed(self, step: str, check: StepCheck) -> Checks:
        """Return the checks with another one of a step. InvalidInput for an invalid step or remark, or for too many."""
        made, name = check.checked(), step_name(step)
        rest = {other: one for other, one in self.by_step.items() if other != name}
        if made != NO_CHECK and len(rest) >= MOST_CHECKS:
            raise InvalidInput(f"checks: expected at most {MOST_CHECKS} on a run, found more")
        return Checks(rest | ({name: made} if made != NO_CHECK else {}))
