"""Write the chapters "Accuracy guide" and "Performance guide" of the manual from the symptoms of the page Guides.

    python -m docs.write_guides            writes docs/accuracy_guide.md and docs/performance_guide.md
"""

from __future__ import annotations

from pathlib import Path

from layouts.kit.i18n import CATALOGUE
from layouts.runs.symptoms.model import ACCURACY, GUIDES, Symptom, SymptomQuestion
from layouts.runs.symptoms.registry import SYMPTOMS
from parsers.analysis.runs.probes.registry import PROBES

HERE = Path(__file__).resolve().parent
CHAPTERS = {
    "runs": "training", "scalars": "training", "histograms": "training", "images": "training", "tensors": "training",
    "landscape": "training", "graph": "training", "dataset": "training", "model_lineage": "comparison",
    "two_runs": "comparison",
    "steps": "performance/steps", "preparation": "performance/steps", "memory": "performance/steps",
    "operators": "performance/operators", "shapes": "performance/operators", "timeline": "performance/timeline",
    "job": "performance/job", "advice": "performance/job", "two_jobs": "performance/job", "communication": "performance/ranks",
    "cluster": "performance/ranks", "pipeline": "performance/parallel", "strategy": "performance/parallel",
    "debugger": "debugging", "first_cause": "debugging", "two_dumps": "debugging",
}  # fmt: skip
"""Page -> the chapter of the manual that describes it."""
HEAD = {
    ACCURACY: ("Accuracy guide", "what to look at when a network does not learn what it should"),
    "performance": ("Performance guide", "what to look at when training is slow or runs out of memory"),
}


def chapter(guide: str) -> str:
    """Return a chapter of the manual as Markdown."""
    title, about = HEAD[guide]
    symptoms = [one for one in SYMPTOMS.values() if one.guide == guide]
    lines = [
        f"# {title}", "",
        f"From a symptom to its cause: {about}.", "",
        "The page [Guides](tools.md#guides) asks these questions of a run, fills in what its files answer, and opens the pages",
        "with run, step and operator chosen. This chapter is written from the same lists by `python -m docs.write_guides`.", "",
        *(f"- [{one.title[0]}](#{_anchor(one.title[0])})" for one in symptoms), "",
    ]  # fmt: skip
    for symptom in symptoms:
        lines += _section(symptom)
    return "\n".join(lines)


def _section(symptom: Symptom) -> list[str]:
    rows = [_row(number, step) for number, step in enumerate(symptom.steps, 1)]
    return [
        f"## {symptom.title[0]}", "", "| | question | answered by | if this is the cause |", "|---|---|---|---|", *rows, "",
    ]  # fmt: skip


def _row(number: int, step: SymptomQuestion) -> str:
    return f"| {number} | {step.question[0]} | {_by(step)} | {step.do[0]} |"


def _by(step: SymptomQuestion) -> str:
    if step.probe == "check":
        return "you: no file can"
    title = CATALOGUE[f"{step.page}.title"][0]
    link = f"[{title}]({CHAPTERS[step.page]}.md#{_anchor(title)})"
    return f"{link}, on request" if PROBES[step.probe].slow else link


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.strip().replace(" ", "-")


def path_of(guide: str) -> Path:
    """Return the file of a chapter."""
    return HERE / f"{guide}_guide.md"


if __name__ == "__main__":
    for name in GUIDES:
        path_of(name).write_text(chapter(name), encoding="utf-8")
