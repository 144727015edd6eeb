"""Every question, of files: of a run with the fault, of one without it, and of one without the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.store import Store
from layouts.runs.guides.page import shown
from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.runs.symptoms.probed import QuestionSubject, SourceRun
from layouts.runs.symptoms.registry import SYMPTOMS
from parsers.analysis.runs.probes.model import FOUND, NOT_RECORDED, NOTHING, Finding, Pending
from parsers.analysis.runs.probes.registry import PROBES
from tests.amounts import each_once
from tests.layouts.runs.guides.test_guides import all_of
from tests.waiting import until
from tests.writers import symptomatic_files, symptomatic_runs
from tests.writers.symptomatic_files import write_run
from tests.writers.symptomatic_runs import Made, Triple, triples

TRIPLES = triples()
STATES = ("fault", "healthy", "absent")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    base = tmp_path_factory.mktemp("triples")
    for name, triple in TRIPLES.items():
        for state in STATES:
            made: Made = getattr(triple, state)
            write_run(base / f"{name}-{state}", made)
            for number, other in enumerate(made.others):
                write_run(base / f"{name}-{state}-{number}", other)
    store = Store([base], interval=0).start()
    assert store.wait(120)
    until(lambda: store.runs.status().loaded == store.runs.status().total)
    yield store
    store.stop()


def asked(store: Store, name: str, state: str, others: int) -> QuestionSubject:
    rows = {row.key: row for row in store.runs.rows()}
    shown = [rows[one].members[0] for one in (f"{name}-{state}", *(f"{name}-{state}-{n}" for n in range(others)))]
    return QuestionSubject(shown[0], shown[1] if others else "", tuple(shown))


def answer(store: Store, name: str, state: str) -> Finding:
    """The answer once everything that it needs is read."""
    triple: Triple = TRIPLES[name]
    of = asked(store, name, state, len(getattr(triple, state).others))

    def ready() -> Finding | None:
        try:
            return PROBES[triple.probe].judge(
                SourceRun(store, QuestionSubject(of.run, of.other, of.shown)), **triple.parameters
            )
        except Pending:
            return None

    found = until(ready)
    assert found is not None
    return found


def test_what_makes_them_imports_no_rule_and_there_are_enough() -> None:
    for module in (symptomatic_files, symptomatic_runs):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        named = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [name for name in named if name.startswith(("parsers.analysis", "layouts", "app"))]
    assert len(TRIPLES) >= 40


def test_the_peak_of_blocks_without_a_curve(store: Store) -> None:
    found = until(lambda: at_peak(SourceRun(store, asked(store, "fragmentation", "fault", 0))))
    assert found is not None
    assert (found.state, found.told["peak_bytes"], found.told["largest_bytes"], found.told["n"]) == (FOUND, 400.0, 150.0, 4)


def at_peak(run: SourceRun) -> Finding | None:
    try:
        return PROBES["at_peak"].judge(run)
    except Pending:
        return None


@pytest.mark.parametrize(("symptom", "run"), each_once(SYMPTOMS, [
    "nan-fault", "one rank alone-healthy", "frozen weights-fault", "logarithm-fault", "settings-fault", "float32-healthy",
    "slow rank-fault",
]))  # fmt: skip
def test_no_step_is_a_dead_end(store: Store, symptom: str, run: str) -> None:
    """Each has a link, the code that records what is missing, a check box, a button, or another run to choose."""
    answers, state = SymptomAnswers(store), {"run": [run], "symptom": [symptom]}
    found = until(lambda: None if (made := shown(store, answers, state, None))["again"] else made)
    assert found is not None
    steps = next(one for one in found["parts"]["steps"] if one[0] == "ol")[2]
    assert len(steps) == len(SYMPTOMS[symptom].steps)
    ways = ("href", "data-record", "data-check", "data-other", "data-look")
    assert [one[1]["data-step"] for one in steps if not any(all_of([one], way) for way in ways)] == []


@pytest.mark.parametrize("name", TRIPLES)
def test_files_say_found_nothing_found_and_not_recorded(store: Store, name: str) -> None:
    found = [answer(store, name, state) for state in STATES]
    assert [one.state for one in found] == [FOUND, NOTHING, NOT_RECORDED], [(one.state, one.said, one.told) for one in found]
