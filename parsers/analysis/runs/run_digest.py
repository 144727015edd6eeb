"""What a run shows, in facts: of its curves, its profiles and its dump. Every fact is one that a page states.

`layouts.runs.digest` writes it in words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from parsers.analysis.curves.curve_digest import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING, CurveDigest, CurveFact, curve_digest
from parsers.model import Series

if TYPE_CHECKING:
    from parsers.analysis.jobs.advice import Review
    from parsers.analysis.profiles.steps import Average
    from parsers.dumps.access import RunDump
    from parsers.profiler.access import Profile, Profiles
    from parsers.profiler.job_access import Job

MOST_ADVICE = 3
"""Pieces of advice that a digest names; the page Advice has all."""
_NUMBERS = ("value", "usual", "measured", "limit")


class DigestedRun(Protocol):
    """What a digest needs of a run; `parsers.Run` satisfies it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def ranks(self) -> Sequence[DigestedRun]:
        """The ranks of a job."""
        ...

    @property
    def profile(self) -> Profiles:
        """Its profiles."""
        ...

    @property
    def profiled(self) -> bool:
        """Whether it has profiles."""
        ...

    @property
    def dump(self) -> RunDump:
        """Its dumped tensors."""
        ...

    def tags(self, kind: str = "scalar") -> tuple[str, ...]:
        """Its tags."""
        ...

    def kinds(self) -> dict[str, int]:
        """The kinds of data it has."""
        ...

    def series(self, tag: str) -> Series:
        """One of its series."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ProfileDigest:
    """The average step of one rank of a session, and what the rules of the advice find; usual is None without a step trace."""

    session: str
    rank: int
    usual: Average | None
    review: Review

    @property
    def name(self) -> str:
        """Session and rank as text."""
        return f"{self.session}, rank {self.rank}" if self.session not in ("", ".") else f"rank {self.rank}"

    def facts(self) -> Iterator[CurveFact]:
        """Return step time, its parts, and the first MOST_ADVICE pieces of advice."""
        if self.usual is None:
            yield CurveFact("profile", self.name, "step_time", NOT_RECORDED, missing="a step trace")
        else:
            yield CurveFact("profile", self.name, "step_time", value=self.usual.whole_ns, unit="ns", points=self.usual.steps)
            for part, time, share in zip(self.usual.parts, self.usual.time_ns, self.usual.shares, strict=True):
                yield CurveFact("profile", self.name, f"part/{part}", value=time, unit="ns", measured=share)
        for one in self.review.found[:MOST_ADVICE]:
            yield CurveFact("profile", self.name, f"advice/{one.rule}", value=one.cost_ns, unit="ns", measured=one.value,
                            limit=one.threshold, rule=one.rule, points=len(one.evidence))  # fmt: skip
        if not self.review.found:
            missing = ", ".join(sorted({file for files in self.review.unchecked.values() for file in files}))
            fine = len(self.review.fine)
            yield CurveFact("profile", self.name, "advice", NOTHING if fine else NOT_JUDGED, points=fine, missing=missing)


@dataclass(frozen=True, slots=True, eq=False)
class DumpDigest:
    """The first cause of bad values in a dump: a row of the schema DUMP_CAUSES, None if nothing is bad.

    tensors is their number, unknown how many have no statistics, ranks how many ranks were dumped.
    """

    cause: Mapping[str, Any] | None
    tensors: int
    unknown: int
    ranks: int

    def facts(self) -> Iterator[CurveFact]:
        """Return the cause as one fact."""
        if self.cause is None:
            state = NOT_JUDGED if self.unknown == self.tensors else NOTHING
            missing = f"statistics of {self.unknown} of {self.tensors} tensors" if self.unknown else ""
            yield CurveFact("dump", "", "first_cause", state, points=self.tensors - self.unknown, missing=missing)
            return
        row = self.cause
        step = int(row["iteration"])
        yield CurveFact("dump", str(row["name"]), f"first_cause/{row['kind']}", FOUND, step, step, float(row["measured"]),
                        float(row["usual"]), rule=str(row["origin"]), points=int(row["affected"]))  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class RunDigest:
    """What one run shows. ranks are the digests of the ranks of a job that have scalars of their own; unmatched is the number
    of scalars that were not asked for."""

    run: str
    curves: tuple[CurveDigest, ...]
    profiles: tuple[ProfileDigest, ...] = ()
    dump: DumpDigest | None = None
    ranks: tuple[RunDigest, ...] = field(default=())
    unmatched: int = 0

    @property
    def facts(self) -> tuple[CurveFact, ...]:
        """All facts, of curves first; those of ranks are in `ranks`."""
        parts = (*self.curves, *self.profiles, *((self.dump,) if self.dump else ()))
        found = tuple(fact for part in parts for fact in part.facts())
        if found or self.ranks or self.unmatched:
            return found
        return (CurveFact("run", self.run, "digest", NOT_RECORDED, missing="scalars, a profile or a dump"),)

    def as_json(self) -> dict[str, Any]:
        """Return the facts as JSON holds them: see `fact_json`."""
        return {"run": self.run, "facts": list(map(fact_json, self.facts)), "ranks": [one.as_json() for one in self.ranks]}


def fact_json(fact: CurveFact) -> dict[str, Any]:
    """Return a fact as JSON holds it: what does not apply is null, what is infinite or NaN a text."""
    found = asdict(fact)
    for name in _NUMBERS:
        found[name] = None if math.isnan(found[name]) else found[name]
        if isinstance(found[name], float) and math.isinf(found[name]):
            found[name] = "Infinity" if found[name] > 0 else "-Infinity"
    if math.isnan(fact.value) and fact.about == "curve" and fact.kind in ("last", "non_finite"):
        found["value"] = "NaN"
    return found


def run_digest(run: DigestedRun, tags: str = "") -> RunDigest:
    """Return what a run shows; tags is a regular expression of which a match is found in each tag (re.error for another)."""
    wanted = re.compile(tags)
    return RunDigest(
        run.name, curves_of(run, wanted), tuple(profiles_of(run)), dump_of(run) if run.kinds().get("dump") else None,
        tuple(RunDigest(rank.name, curves) for rank in run.ranks if (curves := curves_of(rank, wanted))),
        sum(not wanted.search(tag) for tag in run.tags("scalar")),
    )  # fmt: skip


def curves_of(run: DigestedRun, wanted: re.Pattern[str]) -> tuple[CurveDigest, ...]:
    """Return what the curves of a run do whose tags match."""
    chosen = [tag for tag in run.tags("scalar") if wanted.search(tag)]
    return tuple(curve_digest(tag, one) for tag in chosen if (one := run.series(tag)).step.size)


# Profiles and dumps --------------------------------------------------------------------------------------------------


def profiles_of(run: DigestedRun) -> Iterator[ProfileDigest]:
    """Return the digest of the first rank of each job, and of each profile of none. Traces, of gigabytes, are not read."""
    if not run.profiled:
        return
    left = dict.fromkeys(run.profile)
    for job in run.profile.jobs:
        places = sorted((key for one in job.files.members if (key := (one.session, one.rank)) in left), key=lambda key: key[1])
        for place in places:
            del left[place]
        if places:
            yield profile_digest(*places[0], run.profile[places[0]], job)
    for session, rank in left:
        yield profile_digest(session, rank, run.profile[session, rank], None)


def profile_digest(session: str, rank: int, profile: Profile, job: Job | None) -> ProfileDigest:
    """Return the digest of the profile of one rank."""
    from parsers.analysis.jobs.advice import FRAMES, OF_JOB, review
    from parsers.analysis.profiles.steps import average, breakdowns

    frames = {name: profile.frame(name) if profile.gives(name) else None for name in FRAMES}
    if frames["memory"] is None and profile.gives("operator_memory"):
        frames["operator_memory"] = profile.frame("operator_memory")
    frames |= {name: job.frame(name) if job is not None and job.gives(name) else None for name in OF_JOB}
    steps = frames["steps"]
    found = breakdowns(steps) if steps is not None else ()
    return ProfileDigest(session, rank, average(found[0]) if found else None, review(frames))


def dump_of(run: DigestedRun) -> DumpDigest:
    """Return the digest of the dump of a run that has one."""
    from parsers.analysis.dumps.first_cause import Causes

    causes = Causes(run.dump)
    frame = causes.frame()
    row = {str(name): value for name, value in frame.iloc[0].items()} if len(frame) else None
    return DumpDigest(row, len(causes.tensors), int((~causes.known).sum()), causes.tensors["rank"].nunique())
