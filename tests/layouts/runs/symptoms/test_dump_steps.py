"""Questions that dumps answer, on request: of one with a fault, of a healthy one, and of a run without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.runs.symptoms.model import SymptomQuestion
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from layouts.runs.symptoms.sentences import sentence_of
from parsers import open_run
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOT_RECORDED, NOTHING
from tests.sources import MemorySource
from tests.writers.dumps import BEGIN_US, Injection, file_name, npy, write_dump


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> MemorySource:
    base = tmp_path_factory.mktemp("dumps")
    write_dump(base / "good" / "dump", iterations=6)
    write_dump(base / "same" / "dump", iterations=6)
    write_dump(base / "bad" / "dump", iterations=6, injection=Injection(2, 5, "nan"))
    for name, largest in (("half", np.inf), ("near", 60_000.0), ("fits", 100.0)):
        write_half(base / name / "dump", largest)
    return MemorySource({**{name: {"dump": open_run(base / name).dump} for name in (
        "good", "same", "bad", "half", "near", "fits",
    )}, "none": {}})


@pytest.fixture
def unread(tmp_path: Path) -> MemorySource:
    """A dump with a fault, of which nothing was read, and a run without one."""
    write_dump(tmp_path / "bad" / "dump", iterations=6, injection=Injection(2, 5, "nan"))
    return MemorySource({"bad": {"dump": open_run(tmp_path / "bad").dump}, "none": {}})


def write_half(directory: Path, largest: float) -> None:
    """Write a dump of one float16 operator whose input is finite and whose output holds this value."""
    folder = directory / "rank_0" / "Net" / "0" / "3"
    folder.mkdir(parents=True)
    (directory / "rank_0" / ".dump_metadata").mkdir()
    (directory / "rank_0" / ".dump_metadata" / "config.json").write_text('{"device_target":"CPU","ms_version":"2.10.0"}')
    tensors = {"input": np.array([1.0, 300.0], np.float16), "output": np.array([1.0, largest], np.float16)}
    for n, (io, values) in enumerate(tensors.items()):
        name = file_name("Mul", "Default/net/Mul-op1", BEGIN_US + n, io, 0, "float16")
        (folder / name).write_bytes(npy(values))


def step_of(symptom: str, name: str) -> SymptomQuestion:
    return next(one for one in SYMPTOMS[symptom].steps if one.name == name)


def state(source: MemorySource, run: str, step: SymptomQuestion, other: str = "") -> str:
    answer = SymptomAnswers(source).answer(SourceRun(source, QuestionSubject(run, other, (run,))), step, slow=True)
    assert answer.finding is not None, answer
    return answer.finding.state


def test_the_first_cause(source: MemorySource) -> None:
    step = step_of("not_a_number", "cause")
    assert [state(source, run, step) for run in ("bad", "good", "none")] == [FOUND, NOTHING, NOT_RECORDED]
    answer = SymptomAnswers(source).answer(SourceRun(source, QuestionSubject("bad")), step, slow=True)
    assert answer.finding is not None
    assert answer.finding.where.step == 2


def test_bad_values_of_a_dump_are_seen_at_a_glance(source: MemorySource) -> None:
    """Without asking for it; that all is fine is never said, since a part of the dump was read."""
    step = step_of("not_a_number", "dumped")
    assert [state(source, run, step) for run in ("bad", "good", "none")] == [FOUND, NOT_JUDGED, NOT_RECORDED]
    answer = SymptomAnswers(source).answer(SourceRun(source, QuestionSubject("bad")), step, slow=False)
    assert answer.finding is not None
    assert answer.finding.where.step in (2, 5)  # the last iteration is read; the first bad one is known once all was


def test_what_is_seen_at_a_glance_is_a_sign(unread: MemorySource) -> None:
    signs = SymptomAnswers(unread).signs(SourceRun(unread, QuestionSubject("bad", "", ("bad",))))
    assert signs[0].step is not None
    assert (signs[0].symptom.name, signs[0].step.name) == ("not_a_number", "dumped")
    assert signs[0].finding is not None


def test_operators_near_the_first_bad_tensor(source: MemorySource) -> None:
    step = step_of("not_a_number", "near")
    assert [state(source, run, step) for run in ("good", "none")] == [NOTHING, NOT_RECORDED]
    answer = SymptomAnswers(source).answer(SourceRun(source, QuestionSubject("bad")), step, slow=True)
    assert answer.finding is not None
    # The network of the writer has no logarithm, division or root before the operator that was made bad.
    assert (answer.finding.state, answer.finding.said) == (NOTHING, "none_near_cause")
    assert answer.finding.told["nodes"] > 1


def test_the_first_tensor_that_differs(source: MemorySource) -> None:
    step = step_of("worse_than_reference", "tensor")
    assert [state(source, run, step, "good") for run in ("bad", "same", "none")] == [FOUND, NOTHING, NOT_RECORDED]
    assert state(source, "good", step) == NOT_RECORDED  # nothing to compare with


def test_norms_and_overflows_are_never_said_to_be_fine(source: MemorySource) -> None:
    """A short history shows no departure, and without records nobody knows whether overflows were asked for."""
    assert state(source, "good", step_of("not_a_number", "tensor")) == NOT_JUDGED
    assert state(source, "good", step_of("not_a_number", "overflow")) == NOT_JUDGED
    assert [state(source, "none", step_of("not_a_number", name)) for name in ("tensor", "overflow")] == [NOT_RECORDED] * 2


def test_overflow_of_float16(source: MemorySource) -> None:
    """By the values themselves, whether or not the device reported anything; float32 alone is not judged."""
    step = step_of("not_a_number", "half")
    states = [state(source, run, step) for run in ("half", "near", "fits", "good", "none")]
    assert states == [FOUND, FOUND, NOTHING, NOT_JUDGED, NOT_RECORDED]
    found = [
        SymptomAnswers(source).answer(SourceRun(source, QuestionSubject(run)), step, slow=True).finding
        for run in ("half", "near")
    ]
    assert [one and (one.said, one.where.step, one.told["hits"]) for one in found] == [
        ("half_overflowed", 3, 1), ("half_near", 3, 1),
    ]  # fmt: skip


def test_watchpoints(source: MemorySource) -> None:
    assert state(source, "none", step_of("no_learning", "vanishing")) == NOT_RECORDED
    assert state(source, "good", step_of("no_learning", "vanishing")) in (FOUND, NOTHING, NOT_JUDGED)


def test_what_a_page_has_read_is_not_asked_for_again(unread: MemorySource) -> None:
    run = SourceRun(unread, QuestionSubject("bad"))
    steps = [step_of("not_a_number", name) for name in ("cause", "tensor", "half", "near")]
    assert [SymptomAnswers(unread).answer(run, step, slow=False).state for step in steps] == ["ask"] * 4
    assert not run.is_measured
    opened = unread.dumps.open("bad").dump
    assert opened is not None
    opened.measured(np.arange(len(opened.tensors)))  # as First cause does
    assert run.is_measured
    found = [SymptomAnswers(unread).answer(run, step, slow=False) for step in steps]
    assert [one.finding is not None for one in found] == [True] * 4
    assert all("{" not in text for one in found if one.finding for text in sentence_of(one.finding))
    assert not SourceRun(unread, QuestionSubject("none")).is_measured


def test_a_slow_question_waits_until_somebody_asks(unread: MemorySource) -> None:
    step = step_of("not_a_number", "cause")
    answers, run = SymptomAnswers(unread), SourceRun(unread, QuestionSubject("bad"))
    assert answers.answer(run, step, slow=False).state == "ask"
    assert answers.answer(run, step, slow=True).state == "ready"
    assert answers.answer(run, step, slow=False).state == "ready"  # known by now
    assert answers.answer(SourceRun(unread, QuestionSubject("none")), step, slow=False).state == "ready"  # there is none
