"""Settings of MLflow, which keeps all of them as texts: params, and tags that users, or MLflow itself, gave to a run or to its
experiment."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.names import printable

MOST_DIGITS = 300
RUN_TAGS, EXPERIMENT_TAGS = "tags.", "experiment.tags."
"""What names of settings begin with: `tags.` as in searches of MLflow."""
OWN = "mlflow."
SHOWN = frozenset((
    "mlflow.runName", "mlflow.note.content", "mlflow.user", "mlflow.parentRunId", "mlflow.source.name",
    "mlflow.source.git.commit", "mlflow.source.git.branch", "mlflow.source.git.repoURL",
))  # fmt: skip
"""Of those that MLflow sets, what its pages show as well; the others are its own records, such as the history of models."""


def tag_settings(tags: Iterable[tuple[str, str]], begin: str) -> dict[str, str]:
    """Return tags as settings, always as texts: a commit such as 12e5678 is no number."""
    return {begin + printable(name): text for name, text in tags if not name.startswith(OWN) or name in SHOWN}


def parsed(text: str) -> bool | int | float | str:
    """Return what a setting was before it was written."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text) if len(text) < MOST_DIGITS and "_" not in text else text
        except ValueError:
            continue
    return text
