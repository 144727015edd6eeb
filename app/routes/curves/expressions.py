"""Expressions over tags in requests.

    <prefix>api/expression.json?expr=TEXT&run=KEY    whether an expression is valid; run is repeatable; default: all

The scalar exports take `expr=TEXT`, repeatable, for derived curves; `tag==TEXT` is the same, as the pages name these curves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flask import request

from app.routes.refusals import Unusable
from layouts.curves.expressions import expression_of
from layouts.sources import RunSources
from parsers import ExpressionError
from parsers.analysis import parse_expression
from parsers.names import EXPRESSION

PARAMETER = "expr"


def named_tags() -> list[str]:
    """Return the tags that a request names, and after them its expressions as names of derived curves."""
    return [*request.args.getlist("tag"), *(EXPRESSION + text for text in request.args.getlist(PARAMETER))]


def single_expression() -> str:
    """Return the only expression of a request, or raise Unusable."""
    texts = request.args.getlist(PARAMETER)
    if len(texts) != 1:
        raise Unusable(f"{PARAMETER}: expected this parameter once, found it {len(texts)} times")
    return texts[0]


def check(tags: Iterable[str], known: Iterable[str]) -> None:
    """Raise Unusable for an invalid expression among the names of tags; those in known were recorded."""
    recorded = set(known)
    for tag in tags:
        text = None if tag in recorded else expression_of(tag)
        if text is not None:
            try:
                parse_expression(text)
            except ExpressionError as error:
                raise Unusable(str(error)) from error


def derived(source: RunSources, runs: Sequence[str], names: Iterable[str]) -> dict[str, set[str]]:
    """Return name of a derived curve -> runs that have it; 400 for an invalid expression, 404 for one that no run has."""
    wanted = [name for name in names if expression_of(name) is not None]
    check(wanted, ())
    found = {name: {run for run in runs if source.curves.series(run, name) is not None} for name in wanted}
    nowhere = next((name for name, having in found.items() if not having), None)
    if nowhere is not None:
        raise Unusable(_reason(source, runs, nowhere), 404)
    return found


def _reason(source: RunSources, runs: Sequence[str], tag: str) -> str:
    """Return why no run has a derived curve: the tags that each lacks, or that their steps differ."""
    derived = [found for run in runs if (found := source.curves.derived(run, tag.removeprefix(EXPRESSION))) is not None]
    lacking = dict.fromkeys(name for one in derived for name in one.missing)
    if lacking and all(one.missing for one in derived):
        return f"no run has all tags of {tag[:200]!r}; missing: {', '.join(map(repr, lacking))}"[:1000]
    return f"the tags of {tag[:200]!r} have no step in common"
