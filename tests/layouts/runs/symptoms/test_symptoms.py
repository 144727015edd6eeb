"""Symptoms are data, and what they name exists: probes, pages, code that records, texts, rules."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from docs.write_guides import chapter, path_of
from layouts import PAGES
from layouts.kit.i18n import CATALOGUE
from layouts.kit.recording import RECORDINGS
from layouts.runs import symptoms
from layouts.runs.guides import drawing
from layouts.runs.symptoms import meanings
from layouts.runs.symptoms.model import GUIDES, Symptom, SymptomQuestion
from layouts.runs.symptoms.registry import SYMPTOMS
from layouts.runs.symptoms.sentences import state_key
from parsers.analysis.curves.insights import RULES
from parsers.analysis.jobs.advice import THRESHOLDS
from parsers.analysis.runs import probes
from parsers.analysis.runs.probes.model import STATES
from parsers.analysis.runs.probes.registry import PROBES

FOLDER = Path(symptoms.__path__[0])
STEPS = [(symptom, step) for symptom in SYMPTOMS.values() for step in symptom.steps]
PROBE_FILES = sorted(Path(probes.__path__[0]).glob("*.py"))


@pytest.mark.parametrize(("symptom", "step"), STEPS, ids=lambda one: one.name)
def test_what_a_step_names_exists(symptom: Symptom, step: SymptomQuestion) -> None:
    assert step.probe in PROBES
    taken = inspect.signature(PROBES[step.probe].judge).parameters
    assert set(step.parameters) <= set(taken) - {"run"}
    required = {name for name, one in taken.items() if one.kind is one.KEYWORD_ONLY and one.default is one.empty}
    assert required <= set(step.parameters)
    assert step.record in RECORDINGS
    assert (step.page == "") is (step.probe == "check")
    assert step.page in {"", *(page.name for page in PAGES)}
    assert f"{symptom.key(step)}.do" in CATALOGUE
    assert CATALOGUE[symptom.key(step)] == step.question


def test_names_are_unique_and_files_are_data() -> None:
    assert len({step.name for step in SYMPTOMS["not_a_number"].steps}) == len(SYMPTOMS["not_a_number"].steps)
    for name, symptom in SYMPTOMS.items():
        assert symptom.guide in GUIDES
        assert len({step.name for step in symptom.steps}) == len(symptom.steps)
        body = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8")).body
        kinds = {type(one) for one in body}
        assert kinds <= {ast.Expr, ast.ImportFrom, ast.Assign}, name
        assert isinstance(body[0], ast.Expr)  # the docstring


def test_every_symptom_begins_with_a_step_that_shows_it() -> None:
    for symptom in SYMPTOMS.values():
        assert symptom.steps[0].probe != "check"
        assert symptom.name == "first_look" or any(step.sign for step in symptom.steps)


def asked(probe: str, parameter: str) -> dict[str, set[str]]:
    """What the steps of each symptom ask one probe for."""
    found: dict[str, set[str]] = {}
    for symptom, step in STEPS:
        if step.probe == probe:
            values = step.parameters[parameter]
            assert isinstance(values, tuple)
            found.setdefault(symptom.name, set()).update(values)
    return found


def test_a_symptom_reaches_every_rule_of_the_advice_and_every_insight() -> None:
    rules, kinds = asked("advice", "rules"), asked("insight", "kinds")
    kinds["worse_on_validation"] = {"overfitting"}  # by the probe of the gap
    assert set().union(*rules.values()) == set(THRESHOLDS)
    assert set().union(*kinds.values()) == set(RULES)
    assert set(meanings.OF_ADVICE) == set(THRESHOLDS)
    assert set(meanings.OF_INSIGHTS) == set(RULES)
    assert [rule for rule, name in meanings.OF_ADVICE.items() if rule not in rules[name]] == []
    assert [kind for kind, name in meanings.OF_INSIGHTS.items() if kind not in kinds[name]] == []
    assert any(step.probe == "first_cause" for step in SYMPTOMS[meanings.OF_CAUSES].steps)


def said_in_code() -> tuple[set[str], set[str]]:
    """The sentences and the rules that probes name: literals in calls of Finding and not_recorded."""
    said, rules = set(), set()
    for path in PROBE_FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "Finding":
                said |= {one.value for one in node.args[1:2] if isinstance(one, ast.Constant)}
                given = [*node.args[4:5], *(one.value for one in node.keywords if one.arg == "rule")]
                rules |= {one.value for one in given if isinstance(one, ast.Constant)}
            if node.func.id == "not_recorded":
                said |= {one.value for one in node.args[:1] if isinstance(one, ast.Constant)}
    return said, rules


def test_what_probes_say_is_written_in_both_languages() -> None:
    said, rules = said_in_code()
    assert len(said) > 80
    own = said - {"insight", "advice", "first_cause"}  # said in the words of the pages
    assert sorted(name for name in own if f"symptoms.said.{name}" not in CATALOGUE) == []
    assert sorted(name for name in rules if "." not in name and f"symptoms.rule.{name}" not in CATALOGUE) == []
    assert [state for state in STATES if state_key(state) not in CATALOGUE] == []
    assert said >= {*drawing.NEEDS_OTHER, *drawing.OF_JOBS}


def test_sentences_have_the_numbers_that_probes_tell() -> None:
    """A placeholder that no probe fills in would fail on the page; the names are literals of the dicts beside it."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PROBE_FILES)
    told = set(re.findall(r'"([a-z_]+)":', text)) | {"role", "tag", "value", "n", "step"}
    texts = [both[0] for key, both in CATALOGUE.items() if key.startswith("symptoms.said.")]
    holes = {hole for one in texts for hole in re.findall(r"{(\w+)}", one)}
    assert holes - told == set()


@pytest.mark.parametrize("guide", GUIDES)
def test_the_manual_has_the_same_lists(guide: str) -> None:
    assert path_of(guide).read_text(encoding="utf-8") == chapter(guide), "run: python -m docs.write_guides"
