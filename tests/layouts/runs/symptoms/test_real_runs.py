"""Real runs with a known fault: the guide names the right symptom and its first step; healthy ones have none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.store.store import Store
from layouts.runs.symptoms.answering import Sign, SymptomAnswers
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from parsers.analysis.runs.probes.model import FOUND, Finding
from tests.waiting import until


def found_in(store: Store, run: str) -> list[Sign]:
    """The symptoms found in a run once everything is read."""
    answers = SymptomAnswers(store)
    member = next(row.members[0] for row in store.runs.rows() if run in (row.key, *row.members))

    def ready() -> list[Sign] | None:
        probed = SourceRun(store, QuestionSubject(member, "", (member,)))
        signs = answers.signs(probed)
        return None if probed.is_provisional or any(one.is_reading for one in signs) else signs

    signs = until(ready)
    assert signs is not None
    return [one for one in signs if one.finding is not None]


@pytest.fixture(scope="module")
def opened(real_data: Path) -> Iterator[Callable[[str], Store]]:
    stores: dict[str, Store] = {}

    def at(folder: str) -> Store:
        if folder not in stores:
            stores[folder] = Store([real_data / folder], interval=0).start()
            assert stores[folder].wait(60)
        store = stores[folder]
        until(lambda: store.runs.status().loaded == store.runs.status().total)
        return store

    yield at
    for store in stores.values():
        store.stop()


@pytest.mark.parametrize(("folder", "run", "symptom", "step"), [
    ("summary", "lenet_diverges_nan", "not_a_number", "first"), ("summary", "nan_inf", "not_a_number", "first"),
    ("dump", "out_nan", "not_a_number", "dumped"),
    ("profiler_new", "mindspore_2.10_minddata/raw_a", "long_interval", "queues"),
    ("mindinsight_legacy", "run_2/normal_run", "long_interval", "interval"),
    ("profiler_new", "torch_npu_st_4ranks_pp2", "model_parallel", "bubble"),
])  # fmt: skip
def test_the_fault_comes_first(opened: Callable[[str], Store], folder: str, run: str, symptom: str, step: str) -> None:
    first = found_in(opened(folder), run)[0]
    assert first.step is not None
    assert (first.symptom.name, first.step.name) == (symptom, step)


@pytest.mark.parametrize("run", ["lenet_defaults", "lenet_adam_lr0.001_b16", "lenet_adam_lr0.01_b64"])
def test_healthy_runs_have_no_symptom(opened: Callable[[str], Store], run: str) -> None:
    assert found_in(opened("summary"), run) == []


@pytest.mark.long
def test_the_dump_of_a_training_that_diverges_names_the_operator(opened: Callable[[str], Store]) -> None:
    store = opened("dump")
    answers, steps = SymptomAnswers(store), {step.name: step for step in SYMPTOMS["not_a_number"].steps}
    member = next(row for row in store.runs.rows() if row.key == "out_nan").members[0]
    run = SourceRun(store, QuestionSubject(member, "", (member,)))

    def found(name: str) -> Finding:
        answer = until(lambda: told if (told := answers.answer(run, steps[name], slow=True)).state == "ready" else None)
        assert answer is not None
        assert answer.finding is not None
        return answer.finding

    assert (found("cause").state, found("cause").where.step) == (FOUND, 1)
    assert "Square" in found("cause").where.node
    assert (found("near").state, found("near").said, found("near").where.node) == (
        FOUND, "cause_is_unbounded", found("cause").where.node,
    )  # fmt: skip


@pytest.mark.parametrize("run", ["out_tensor", "out_kern", "out_cf"])
def test_dumps_of_trainings_that_go_well_have_no_symptom(opened: Callable[[str], Store], run: str) -> None:
    assert [(one.symptom.name, one.step) for one in found_in(opened("dump"), run)] == []
