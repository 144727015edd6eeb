"""What a probe asks of a run, and what it answers: a state, the evidence with units, where it is, and the rule.

A probe is a pure function of a `ProbedRun` and keyword parameters. It asks for what it needs and for nothing else, so a run is
read no further than a question takes. It has no limit of its own: what is unusual is decided by the functions that the pages
call. `NOTHING` is said only of data that would have shown the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from parsers.analysis.curves.curve_digest import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING
from parsers.model import Series

if TYPE_CHECKING:
    from parsers.analysis.curves.insights import Insight
    from parsers.analysis.jobs.advice import Review
    from parsers.deferred import pandas as pd
    from parsers.graphs.graph import Graph
    from parsers.lineage.datasets import DatasetGraph, RecordedPipeline
    from parsers.lineage.values import Setting
    from parsers.payloads.series import PayloadSeries
    from parsers.payloads.values import Value
    from parsers.profiler.trace.opened import OpenTrace

NO_FILE = "not in any file"
STATES = (FOUND, NOTHING, NOT_JUDGED, NOT_RECORDED, NO_FILE)
"""What a probe may answer; the last is for questions that no file can answer."""


class Pending(Exception):
    """Raised by a `ProbedRun` whose answer is not there yet: done of total, state as in `layouts.kit.work.WorkResult`."""

    def __init__(self, state: str = "reading", done: int = 0, total: int = 0, text: str = "") -> None:
        super().__init__(state)
        self.state, self.done, self.total, self.text = state, done, total, text


class ProbedRun(Protocol):
    """What probes may ask of a member run and of one of its profiles. Every method may raise `Pending`."""

    @property
    def other(self) -> ProbedRun | None:
        """The run that it is compared with; None without one."""
        ...

    @property
    def before(self) -> tuple[str, ProbedRun] | None:
        """What its profile is compared with, by its name: the other run, else the session before in the same run; None
        without either."""
        ...

    @property
    def others(self) -> Sequence[ProbedRun]:
        """The other runs on screen."""
        ...

    @property
    def ranks(self) -> Mapping[int, ProbedRun]:
        """The ranks of its job by number; empty for a single run."""
        ...

    def tags(self, kind: str = "scalar") -> Sequence[str]:
        """Return its tags of a kind."""
        ...

    def series(self, tag: str) -> Series | None:
        """Return a scalar with restarts resolved."""
        ...

    def recorded(self, tag: str) -> Series | None:
        """Return a scalar as it was written."""
        ...

    def insights(self, tags: Sequence[str]) -> Sequence[Insight]:
        """Return the insights of these scalars at the normal sensitivity, the severest first."""
        ...

    def stalled(self) -> Insight | None:
        """Return whether the run has stalled."""
        ...

    def payloads(self, kind: str, tag: str) -> PayloadSeries | None:
        """Return where the large values of a tag are."""
        ...

    def value(self, kind: str, tag: str, place: int) -> Value | None:
        """Return one large value; None if it cannot be read."""
        ...

    def settings(self) -> Mapping[str, Setting]:
        """Return its recorded settings and results."""
        ...

    def pipeline(self) -> DatasetGraph | None:
        """Return its data pipeline."""
        ...

    def pipelines(self) -> Sequence[RecordedPipeline]:
        """Return all its data pipelines, one for each start of the training, the oldest first."""
        ...

    def graph(self) -> Graph | None:
        """Return its computation graph: of several the largest that trains."""
        ...

    def review(self, rules: Collection[str]) -> Review | None:
        """Return what some rules of the advice say of the profile; None without a profile."""
        ...

    def frame(self, name: str) -> pd.DataFrame | None:
        """Return a frame of the profile or of its job; None without one, or if it has no rows."""
        ...

    def files_of(self, name: str) -> Sequence[str]:
        """Return the names of files any of which has a frame."""
        ...

    def other_kernels(self) -> Mapping[str, pd.DataFrame]:
        """Return the frame `kernels` of the other sessions of this run and rank, the newest first."""
        ...

    def trace(self) -> OpenTrace | None:
        """Return the best trace of the profile; None without one."""
        ...

    def dump(self, result: str) -> pd.DataFrame | None:
        """Return a result of the dump, a name in `DUMP_RESULTS`; None without a dump."""
        ...


DUMP_RESULTS = ("overflows", "glance", "statistics", "causes", "nearby", "departures", "hits", "differences")
"""What probes ask of dumps; all but the first two take reading many tensors."""


@dataclass(frozen=True, slots=True)
class Where:
    """The place that a link opens: each part is left out where it means nothing. tags are curves that are shown together,
    session is that of a second profile, span a range in ns, label a step of a trace by which others are laid beside it."""

    tags: tuple[str, ...] = ()
    step: int | None = None
    last_step: int | None = None
    rank: int | None = None
    node: str = ""
    tolerance: float | None = None
    session: str = ""
    span: tuple[int, int] | None = None
    label: str = ""


NOWHERE = Where()


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a probe says.

    said names the sentence, told what it names: numbers whose unit the end of their name tells as in `Advice.told` (`_ns`,
    `_bytes`, `_share`), whole numbers and texts as they are. rule names what was applied: "insight.<kind>", "advice.<rule>" or
    a rule of the probe. by is what a page says in a sentence of its own: an Insight, Advice, or a row of DUMP_CAUSES. missing
    are the files or tags that would have it, severity orders findings: 2 for errors, 1 for hints.
    """

    state: str
    said: str
    told: Mapping[str, float | str] = field(default_factory=dict)
    where: Where = NOWHERE
    rule: str = ""
    by: Any = None
    missing: tuple[str, ...] = ()
    severity: float = 1.0


Judge = Callable[..., Finding]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe by its name: the function, and whether it is slow, so that it runs only when somebody asks for it."""

    name: str
    judge: Judge
    slow: bool = False


def not_recorded(what: str, *missing: str, **told: float | str) -> Finding:
    """Return that data is missing; what names the sentence."""
    return Finding(NOT_RECORDED, what, told, missing=missing)


__all__ = [
    "DUMP_RESULTS", "FOUND", "NOTHING", "NOT_JUDGED", "NOT_RECORDED", "NOWHERE", "NO_FILE", "STATES", "Finding", "Judge",
    "Pending", "Probe", "ProbedRun", "Where", "not_recorded",
]  # fmt: skip
