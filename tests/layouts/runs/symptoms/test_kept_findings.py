"""Findings about a run that grows: kept while nothing changes, replaced when something does."""

from __future__ import annotations

import gc

from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from parsers.analysis.runs.probes.model import Finding
from tests.sources import MemorySource, row, series

STEP = next(one for one in SYMPTOMS["not_a_number"].steps if one.probe == "insight")


def findings() -> int:
    """Return how many findings there are in this process."""
    gc.collect()
    return sum(isinstance(one, Finding) for one in gc.get_objects())


def test_a_finding_is_replaced_when_its_run_grows() -> None:
    """Those of earlier versions, which nobody asks for again, would fill the cache for hours."""
    source = MemorySource({"a": {"scalar": {"loss": series(50)}}}, rows=[row("a")])
    answers = SymptomAnswers(source)
    before, last = findings(), None
    for version in range(1, 6):
        source.rows = [row("a", version=version)]
        one = answers.answer(SourceRun(source, QuestionSubject("a", "", ("a",))), STEP, slow=False)
        again = answers.answer(SourceRun(source, QuestionSubject("a", "", ("a",))), STEP, slow=False)
        assert one.finding is not None
        assert one.finding is again.finding
        assert one.finding is not last, "what was found of an earlier version is no answer"
        last = one.finding
    del one, again, last
    assert findings() == before + 1
