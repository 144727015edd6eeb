"""Answers to the steps of symptoms for a run: what probes say, or how far reading is; and which symptoms a run has."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass

from parsers.analysis.runs.probes.model import FOUND, Finding, Pending
from parsers.analysis.runs.probes.registry import PROBES
from parsers.caches import Cache

from layouts.profiles.idling import idle_time
from layouts.runs.symptoms.model import Symptom, SymptomQuestion
from layouts.runs.symptoms.probed import SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from layouts.sources import Sources

MOST_KEPT = 4_000
"""Findings that are kept."""
_OF_TWO = ("graphs_differ", "first_tensor")
"""Slow probes that compare two runs."""
_OF_STATISTICS = ("first_cause", "departed", "near_cause", "half_overflow")
"""Slow probes that take statistics of the run's own dump: nothing is left to read once these are known."""
GAPS_RULE = "gaps"
"""The rule of the advice that looks at idle time by cause, which is known once the trace has been read."""
OF_CURVES = "scalar"
"""The kind of data that curves are: what steps name in `record`."""
WORKING = ("reading", "working", "waiting")
"""States in which the same is asked again soon."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The answer to a step: a finding, or the state of getting one.

    state is "ready", one of WORKING (done of total), "ask" (it is slow, and nobody has asked for it), "cancelled" or "failed"
    (text is the reason).
    """

    state: str
    finding: Finding | None = None
    done: int = 0
    total: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Sign:
    """A symptom, what was found of it in a run (None for nothing so far), and whether something is still being read."""

    symptom: Symptom
    step: SymptomQuestion | None = None
    finding: Finding | None = None
    is_reading: bool = False


class SymptomAnswers:
    """Answers about the runs of a source. Findings are kept until the data of a run that they are about changes."""

    def __init__(self, source: Sources) -> None:
        self._source = source
        self._kept: Cache[Hashable, tuple[Hashable, Finding]] = Cache(MOST_KEPT)

    def answer(self, run: SourceRun, step: SymptomQuestion, *, slow: bool) -> Answer:
        """Return the answer to a step.

        Without `slow` a slow probe answers only what it has found before, or what its page has read.
        """
        probe = PROBES[step.probe]
        parameters = tuple(sorted((name, str(value)) for name, value in step.parameters.items()))
        key = (probe.name, parameters, run.run, run.asked.other, run.asked.shown, run.profile)
        mark = self._mark(run, step)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == mark:
            return Answer("ready", kept[1])
        is_read = probe.name in _OF_STATISTICS and run.is_measured
        if probe.slow and not slow and not is_read and not _is_missing(run, step):
            return Answer("ask")
        try:
            found = probe.judge(run, **step.parameters)
        except Pending as pending:
            return Answer(pending.state, None, pending.done, pending.total, pending.text)
        if not (run.is_provisional and probe.name == "advice"):  # replays may put another piece of advice first
            self._kept.put(key, (mark, found))
        return Answer("ready", found)

    def signs(self, run: SourceRun, symptoms: Iterable[Symptom] = SYMPTOMS.values()) -> list[Sign]:
        """Return all symptoms: those found in the run first, the severest at the top, then the others in their order."""
        found = [self._sign(run, symptom) for symptom in symptoms]
        return sorted(found, key=lambda one: -(one.finding.severity if one.finding is not None else 0.0))

    def worst_of_curves(self, runs: Iterable[SourceRun]) -> tuple[str, bool]:
        """Return (the run of the severest symptom that its curves tell, "" for none; whether some are still being read).

        Nothing but curves is looked at, so that comparing runs reads no profile, graph or dump of any.
        """
        found, reading = ("", 0.0), False
        for run in runs:
            for symptom in SYMPTOMS.values():
                sign = self._sign(run, symptom, (OF_CURVES,))
                reading = reading or sign.is_reading
                if sign.finding is not None and sign.finding.severity > found[1]:
                    found = run.run, sign.finding.severity
        return found[0], reading

    def _sign(self, run: SourceRun, symptom: Symptom, records: Collection[str] = ()) -> Sign:
        """Return a symptom of a run, by the steps that these kinds of data answer; () for all."""
        reading = False
        best: tuple[SymptomQuestion, Finding] | None = None
        for one in symptom.steps:
            if not one.sign or (records and one.record not in records):
                continue
            told = self.answer(run, one, slow=False)
            reading = reading or told.state in WORKING
            said = told.finding
            if said is not None and said.state == FOUND and (best is None or said.severity > best[1].severity):
                best = one, said
        step, finding = best if best is not None else (None, None)
        return Sign(symptom, step, finding, reading)

    def _mark(self, run: SourceRun, step: SymptomQuestion) -> Hashable:
        """Return what changes whenever the data of one of the runs does: then the finding that is kept is replaced."""
        versions = tuple(self._source.runs.version(one) for one in (run.run, run.asked.other, *run.asked.shown) if one)
        profile = run.profile
        rules = step.parameters.get("rules", ())
        looks_at_gaps = isinstance(rules, tuple) and GAPS_RULE in rules
        idle = idle_time(self._source, profile).state if profile is not None and looks_at_gaps else ""
        return versions, idle


def _is_missing(run: SourceRun, step: SymptomQuestion) -> bool:
    """Return whether a slow probe would only say at once that its data is not there."""
    row = run.row
    if row is None:
        return True
    if step.record == "profile":
        return run.before is None or not _has_trace(run) or not _has_trace(run.before[1])
    if step.probe in _OF_TWO and run.other is None:
        return True
    return not row.tags.get("graph" if step.record == "graph" else "dump")


def _has_trace(run: SourceRun) -> bool:
    """Return whether the profile of a run has a trace."""
    of = run.profile
    return of is not None and bool(run.source.profiles.traces(of.run, of.session, of.rank))


def worst(signs: Collection[Sign], most: int) -> list[Sign]:
    """Return the `most` severest of the symptoms that were found."""
    return [one for one in signs if one.finding is not None][:most]
