"""Texts of symptoms: their titles, questions and what to do, from their files; the states of answers."""

from __future__ import annotations

from layouts.kit.i18n import Text, define_texts
from layouts.runs.symptoms.registry import SYMPTOMS


def _of_symptoms() -> dict[str, Text | str]:
    every: dict[str, Text] = {}
    for symptom in SYMPTOMS.values():
        every[f"symptoms.{symptom.name}.title"] = symptom.title
        for step in symptom.steps:
            every[symptom.key(step)] = step.question
            every[f"{symptom.key(step)}.do"] = step.do
    first: dict[Text, str] = {}
    for key, text in every.items():
        first.setdefault(text, key)
    # Some symptoms ask the same question.
    return {key: text if first[text] == key else first[text] for key, text in every.items()}


TEXTS = define_texts({
    **_of_symptoms(),
    "symptoms.state.found": "common.found",
    "symptoms.state.nothing_found": "common.nothing_found",
    "symptoms.state.not_judged": "common.not_judged",
    "symptoms.state.not_recorded": "common.not_recorded",
    "symptoms.state.not_in_any_file": ("Not in any file", "文件中没有"),
    "symptoms.guide.accuracy": ("Accuracy", "精度"),
    "symptoms.guide.performance": "common.performance",
    "symptoms.meaning": "common.what_does_this_mean",
})  # fmt: skip
