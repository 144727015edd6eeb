"""What a symptom is: words that a user would say, and the questions that lead to its cause. Data, not code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from layouts.kit.i18n import Text

ACCURACY, PERFORMANCE = "accuracy", "performance"
GUIDES = (ACCURACY, PERFORMANCE)
"""The guides, in the order of the page and of the manual."""


@dataclass(frozen=True, slots=True)
class SymptomQuestion:
    """A question about a run.

    probe answers it with `parameters` (`parsers.analysis.runs.probes.registry`), or "check": then a person does. do says what
    to do if this is the cause. page is the page that shows it, "" for none; record the kind of data that answers it
    (`layouts.kit.recording.RECORDINGS`). sign: found here, the symptom is found in the run.
    """

    name: str
    question: Text
    do: Text
    probe: str = "check"
    parameters: Mapping[str, object] = field(default_factory=dict)
    page: str = ""
    record: str = "scalar"
    sign: bool = False


@dataclass(frozen=True, slots=True)
class Symptom:
    """A symptom by its name: guide, title in the user's words, further words by which it is searched, and its steps."""

    name: str
    guide: str
    title: Text
    words: Text
    steps: tuple[SymptomQuestion, ...]

    def key(self, step: SymptomQuestion) -> str:
        """Return the text key of a step's question; with ".do" after it, that of what to do."""
        return f"symptoms.{self.name}.{step.name}"
