"""Texts of symptoms: their titles, questions and what to do, from their files; the states of answers."""

from __future__ import annotations

from layouts.kit.i18n import Text, define_texts
from layouts.runs.symptoms.registry import SYMPTOMS


def _of_symptoms() -> dict[str, Text | str]:
    made: dict[str, Text | str] = {}
    for symptom in SYMPTOMS.values():
        made[f"symptoms.{symptom.name}.title"] = symptom.title
        for step in symptom.steps:
            made[symptom.key(step)] = step.question
            made[f"{symptom.key(step)}.do"] = step.do
    return made


TEXTS = define_texts({
    **_of_symptoms(),
    "symptoms.state.found": ("Found", "已发现"),
    "symptoms.state.nothing_found": ("Nothing found", "未发现"),
    "symptoms.state.not_judged": ("Not judged", "未判定"),
    "symptoms.state.not_recorded": ("Not recorded", "未记录"),
    "symptoms.state.not_in_any_file": ("Not in any file", "文件中没有"),
    "symptoms.guide.accuracy": ("Accuracy", "精度"),
    "symptoms.guide.performance": ("Performance", "性能"),
    "symptoms.meaning": ("What does this mean?", "这意味着什么？"),
})  # fmt: skip
