"""Tags of MLflow: texts by name that users, and MLflow itself, gave to a run or to its experiment."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.names import printable

RUN, EXPERIMENT = "tags.", "experiment.tags."
"""What names of settings begin with: `tags.` as in searches of MLflow."""
OWN = "mlflow."
SHOWN = frozenset((
    "mlflow.runName", "mlflow.note.content", "mlflow.user", "mlflow.parentRunId", "mlflow.source.name",
    "mlflow.source.git.commit", "mlflow.source.git.branch", "mlflow.source.git.repoURL",
))  # fmt: skip
"""Of those that MLflow sets, what its pages show as well; the others are its own records, such as the history of models."""


def settings_of(tags: Iterable[tuple[str, str]], begin: str) -> dict[str, str]:
    """Return tags as settings, always as texts: a commit such as 12e5678 is no number."""
    return {begin + printable(name): text for name, text in tags if not name.startswith(OWN) or name in SHOWN}
