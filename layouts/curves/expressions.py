"""What is to be said of derived curves: whether an expression is valid, and what of the chosen runs it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypedDict

from parsers import ExpressionError
from parsers.analysis import Expression, parse_expression
from parsers.names import EXPRESSION

from layouts.curves.expression_texts import sentence
from layouts.runs.chosen_runs import label_of
from layouts.sources import RunSources

MOST_NAMED = 12
"""Maximum number of runs that are named."""


def expression_of(tag: str) -> str | None:
    """Return the expression of a derived curve; None for the name of a tag."""
    return tag.removeprefix(EXPRESSION) if tag.startswith(EXPRESSION) else None


def checked(source: RunSources, runs: Iterable[str], text: str) -> dict[str, Any]:
    """Return {"expression", "tags": its tags, "missing": those that no run has, "error": see `wrong`, None if it is valid}."""
    parsed = _parsed(text)
    if isinstance(parsed, ExpressionError):
        return {"expression": text, "tags": [], "missing": [], "error": wrong(parsed)}
    tags = list(parsed.tags)
    missing = set(tags)
    for run in runs:
        if not missing:
            break
        missing.difference_update(source.runs.tags(run))
    return {"expression": text, "tags": tags, "missing": [tag for tag in tags if tag in missing], "error": None}


def error_of(text: str) -> WrongPlace | None:
    """Return what is wrong with an expression, see `wrong`; None if it is valid."""
    parsed = _parsed(text)
    return wrong(parsed) if isinstance(parsed, ExpressionError) else None


class WrongPlace(TypedDict):
    """What is wrong in an expression."""

    column: int
    """In characters from 1."""
    text: Annotated[list[str], "Texts"]


Counted = list[Annotated[list[Any], tuple[str, int]]]


class DerivedSums(TypedDict):
    """What a derived curve lacks, over the runs on screen."""

    runs: int
    lacking: int
    lacking_runs: list[str]
    apart: int
    apart_runs: list[str]
    unpaired: Counted
    superseded: Counted
    undefined: Counted


class DerivedCurve(DerivedSums):
    """A derived curve whose expression is valid."""

    tag: str
    error: None


class WrongExpression(TypedDict):
    """A derived curve whose expression is not valid."""

    tag: str
    error: WrongPlace


ToldOfCurve = DerivedCurve | WrongExpression


def wrong(error: ExpressionError) -> WrongPlace:
    """Return {"column": in characters from 1, "text": the sentence in both languages}."""
    return {"column": error.column, "text": list(sentence(error))}


def told(source: RunSources, runs: Sequence[str], tags: Iterable[str]) -> list[ToldOfCurve]:
    """Return what a card says of each of its derived curves, over the runs on screen.

    tag, error as in `checked`; runs: their number; lacking: number of runs without one of the tags, and apart: number of runs
    whose tags have no common step, each with the names of the first ones in lacking_runs and apart_runs; unpaired, superseded
    and undefined: [[tag or operation, number], ...] as `parsers.analysis.Derived` has them, summed over the runs.
    """
    names: dict[str, str] | None = None
    found: list[ToldOfCurve] = []
    for tag in dict.fromkeys(tags):
        text = expression_of(tag)
        if text is None:
            continue
        parsed = _parsed(text)
        if isinstance(parsed, ExpressionError):
            found.append({"tag": tag, "error": wrong(parsed)})
            continue
        if names is None:
            names = {member: label_of(member, row) for row in source.runs.rows() for member in row.members}
        found.append({"tag": tag, "error": None, **_summed(source, runs, tag, text, names)})
    return found


def _summed(source: RunSources, runs: Sequence[str], tag: str, text: str, names: dict[str, str]) -> DerivedSums:
    lacking: list[str] = []
    apart: list[str] = []
    unpaired, superseded, undefined = Counter[str](), Counter[str](), Counter[str]()
    for run in runs:
        derived = None if tag in source.runs.tags(run) else source.curves.derived(run, text)
        if derived is None:
            continue
        if derived.missing:
            lacking.append(f"{names.get(run, run)}: {', '.join(derived.missing)}")
        elif not derived.series.step.size:
            apart.append(names.get(run, run))
        unpaired.update(derived.unpaired)
        superseded.update(derived.superseded)
        undefined.update(derived.undefined)
    return {
        "runs": len(runs), "lacking": len(lacking), "lacking_runs": lacking[:MOST_NAMED],
        "apart": len(apart), "apart_runs": apart[:MOST_NAMED],
        "unpaired": _pairs(unpaired), "superseded": _pairs(superseded), "undefined": _pairs(undefined),
    }  # fmt: skip


def _pairs(counted: Counter[str]) -> Counted:
    return [[name, number] for name, number in counted.items()]


def _parsed(text: str) -> Expression | ExpressionError:
    try:
        return parse_expression(text)
    except ExpressionError as error:
        return error
