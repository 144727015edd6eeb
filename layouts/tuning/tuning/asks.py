"""Parse what the page asks the server for. Every value in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.tuning.importances import METHODS

from layouts.kit import parameters as asked
from layouts.kit.parameters import Request

SORTS = ("best", "newest")
ASSOCIATION = "association"
STATES = ("", "complete", "running", "pruned", "failed")


@dataclass(frozen=True, slots=True)
class StudyRequest(Request):
    """What is shown: a study ("" for the first one), a target by name, two settings by name ("" for those that matter most), a
    trial by number (-1 for the best one), order and state of the table's rows, by which method settings are important ("" for
    their share of the variance)."""

    study: str = asked.word("study")
    target: str = asked.word("target")
    x: str = asked.word("x")
    y: str = asked.word("y")
    trial: int = asked.count("trial", -1, -1, 1e9)
    sort: str = asked.one_of("sort", SORTS)
    show: str = asked.one_of("show", STATES)
    by: str = asked.one_of("by", ("", ASSOCIATION, *METHODS))
    language: str = asked.language()
    dark: bool = asked.dark()


