"""The open symptom as text: the filled list, for a colleague or an issue tracker."""

from __future__ import annotations

from collections.abc import Sequence

from parsers.analysis.runs.probes.model import NO_FILE

from layouts.kit.i18n import CATALOGUE, LANGUAGES, Text, both
from layouts.runs.checks import Checks
from layouts.runs.symptoms.answering import Answer
from layouts.runs.symptoms.model import Symptom, SymptomQuestion
from layouts.runs.symptoms.sentences import rule_of, sentence_of, state_key


def as_text(symptom: Symptom, run: str, answers: Sequence[Answer], checks: Checks) -> Text:
    """Return the steps with their answers, rules, ticks and remarks in both languages; Markdown that reads as plain text."""
    english, chinese = (_in_language(symptom, run, answers, checks, at) for at in range(len(LANGUAGES)))
    return english, chinese


def _in_language(symptom: Symptom, run: str, answers: Sequence[Answer], checks: Checks, at: int) -> str:
    lines = [f"## {both('guides.text_head', symptom=symptom.title[at], run=run)[at]}", ""]
    for number, (step, answer) in enumerate(zip(symptom.steps, answers, strict=True), 1):
        lines += _step(number, f"{symptom.name}.{step.name}", step, answer, checks, at)
    return "\n".join(lines) + "\n"


def _step(number: int, name: str, step: SymptomQuestion, answer: Answer, checks: Checks, at: int) -> list[str]:
    question = step.question[at]
    if answer.finding is None:
        return [f"{number}. {question} – {CATALOGUE['guides.asked' if answer.state == 'ask' else 'guides.reading'][at]}"]
    check = checks.of(name)
    if answer.finding.state == NO_FILE:
        lines = [f"{number}. [{'x' if check.done else ' '}] {question}"]
        return [*lines, f"   {both('guides.text_remark', remark=check.remark)[at]}"] if check.remark else lines
    state, said, rule = CATALOGUE[state_key(answer.finding.state)], sentence_of(answer.finding), rule_of(answer.finding)
    lines = [f"{number}. {question}", f"   {state[at]}: {said[at]}"]
    return [*lines, f"   {both('guides.rule', rule=rule[at])[at]}"] if rule is not None else lines
