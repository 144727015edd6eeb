"""Parse what the page asks the server for. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parsers.tuning.importances import METHODS

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import number, text

SORTS = ("best", "newest")
STATES = ("", "complete", "running", "pruned", "failed")


@dataclass(frozen=True, slots=True)
class StudyRequest:
    """What is shown: a study ("" for the first one), a target by name, two settings by name ("" for those that matter most), a
    trial by number (-1 for the best one), order and state of the table's rows, by which method settings are important ("" for
    their association with the target)."""

    study: str
    target: str
    x: str
    y: str
    trial: int
    sort: str
    show: str
    by: str
    language: str
    dark: bool


def read_ask(data: Any) -> StudyRequest:
    """Return the ask that a browser sent, or raise BadInput."""
    return StudyRequest(
        text(data, "study"), text(data, "target"), text(data, "x"), text(data, "y"),
        int(number(data, "trial", -1, -1, 1e9)), text(data, "sort", SORTS[0], choices=SORTS),
        text(data, "show", "", choices=STATES), text(data, "by", "", choices=("", *METHODS)),
        text(data, "lang", "en", choices=LANGUAGES),
        text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )  # fmt: skip
