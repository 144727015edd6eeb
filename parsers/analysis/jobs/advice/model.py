"""What a rule finds, and how rules look at frames."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from parsers.deferred import pandas as pd

MOST_ROWS = 20
"""Maximum rows of evidence; the page named in the advice shows all."""


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The finding of a rule. value: what exceeds (or falls below) threshold. cost_ns: time per step that could be saved, NaN if
    unknown. evidence: the rows that support it, from the frame that `page` shows. subject: the affected part, such as the
    slow stage of feeding or types of operators; "" for the whole. parts_ns: what the time consists of, by name, if known.
    variant: which sentence of the rule says it, "" for its only one. told: what the sentence names, numbers by their unit
    (`_ns`, `_bytes`, `_share`).

    bound: how cost_ns is known (`parsers.analysis.jobs.advice.saved`): "exact", "at most", "between" alone_ns and most_ns,
    "sums" where no replay tells it, or "" for advice about one rank. With a replay, cost_ns is what it adds to advice before it
    and alone_ns what it saves alone; NaN without.
    """

    rule: str
    value: float
    threshold: float
    cost_ns: float
    evidence: pd.DataFrame
    page: str
    subject: tuple[str, ...] = ()
    parts_ns: Mapping[str, float] = field(default_factory=dict)
    variant: str = ""
    told: Mapping[str, float | str] = field(default_factory=dict)
    alone_ns: float = math.nan
    most_ns: float = math.nan
    bound: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Review:
    """What the rules found. found: advice, the largest cost first, unknown costs last. fine: rules that had data and found
    nothing. unchecked: rule -> names of files, any of which has the data that it lacks. reasons: rule -> why it was not checked
    although there are files (a name in REASONS).
    """

    found: tuple[Advice, ...]
    fine: tuple[str, ...]
    unchecked: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str] = field(default_factory=dict)


REASONS = (
    "one_rank", "no_group", "few_links", "few_steps", "slow_steps", "no_step_times", "no_capacity", "pool_free", "no_matmul",
    "no_packets", "one_stage", "no_stages", "few_batches", "few_samples", "no_calls",
    "no_kind_of_memory", "no_tensor_cores", "no_shapes", "no_device",
)  # fmt: skip
"""Why a rule cannot judge data that is there."""


class Unchecked(Exception):
    """Raised by a rule that lacks data; its arguments are the kinds (or names) of files any of which has them.

    reason is a name in REASONS if there are files, but what is in them cannot be judged.
    """

    def __init__(self, *files: str, reason: str = "") -> None:
        super().__init__(*files)
        self.reason = reason


Frames = Mapping[str, "pd.DataFrame | None"]
Told = Mapping[str, float | str]


class OwnFrames(Mapping[str, "pd.DataFrame | None"]):
    """Those of some frames that a rule declares; UndeclaredFrame for others."""

    def __init__(self, frames: Frames, names: Collection[str]) -> None:
        self._frames, self._names = frames, names

    def __getitem__(self, name: str) -> pd.DataFrame | None:
        if name not in self._names:
            raise UndeclaredFrame(f"expected a frame that the rule declares ({', '.join(self._names)}); found {name}")
        return self._frames.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class UndeclaredFrame(Exception):
    """A rule looks at a frame that it does not declare. It is no LookupError, which `Mapping.get` would answer with None."""


def frame_of(frames: Frames, name: str) -> pd.DataFrame | None:
    """Return a frame that has rows, or None."""
    frame = frames.get(name)
    return frame if frame is not None and len(frame) else None


def needed(frames: Frames, name: str, *files: str) -> pd.DataFrame:
    """Return a frame that has rows. Unchecked, naming the kinds of files, for another."""
    frame = frame_of(frames, name)
    if frame is None:
        raise Unchecked(*files)
    return frame
