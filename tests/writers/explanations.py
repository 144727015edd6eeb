"""Writes runs with explanations from arrays, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from parsers.recording import ExplanationWriter

Rows = Mapping[int, tuple[Sequence[int], Mapping[int, float]]]
"""Sample -> (true labels, probability of each recorded label)."""
Scores = Mapping[tuple[str, str], tuple[float, Sequence[float]]]
"""(explainer, metric) -> (score, score of each label)."""


def write_explanations(
    folder: Path, rows: Rows, labels: Sequence[str], *, explainers: Sequence[str] = (), metrics: Sequence[str] = (),
    scores: Scores | None = None, seconds: int = 1_700_000_000,
) -> Path:
    """Write a run; each picture has 8 x 8 pixels."""
    with ExplanationWriter(str(folder), labels=labels, explainers=explainers, metrics=metrics, seconds=seconds) as writer:
        for sample, (truth, probabilities) in rows.items():
            picture = np.full((8, 8), sample % 256, np.uint8)
            writer.sample(sample, picture, truth=truth, probabilities=probabilities)
        for (explainer, metric), (total, each) in (scores or {}).items():
            writer.score(explainer, metric, total, each)
    return folder


def markup_text(markup: object) -> str:
    """The English text of plain lists of layouts/kit/plain_html.py, or of several by name."""
    if isinstance(markup, str):
        return markup
    if isinstance(markup, dict):
        return markup_text(list(markup.values()))
    assert isinstance(markup, (list, tuple))
    if len(markup) == 3 and isinstance(markup[0], str) and isinstance(markup[1], dict):
        return "" if markup[1].get("class") == "zh" else markup_text(markup[2])
    return " ".join(filter(None, map(markup_text, markup)))


def tags(markup: object, name: str) -> list[tuple[Mapping[str, str], list[object]]]:
    """Attributes and children of all elements of a tag, in order."""
    if isinstance(markup, str):
        return []
    assert isinstance(markup, (list, tuple))
    if len(markup) == 3 and isinstance(markup[0], str) and isinstance(markup[1], dict):
        own = [(markup[1], markup[2])] if markup[0] == name else []
        return own + tags(markup[2], name)
    return [found for one in markup for found in tags(one, name)]
