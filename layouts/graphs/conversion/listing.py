"""Which runs have model conversions, and what one of them says of itself before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from parsers import PayloadError, Problem

from layouts.graphs.conversion.asks import ConversionRequest
from layouts.kit.body import DamagedFile, listed_damage
from layouts.kit.state import digest_of
from layouts.runs.chosen_runs import label_of, selected_runs
from layouts.runs.listed_runs import ChosenRuns, about_runs
from layouts.sources import ValueSources

KIND = "conversion"
MOST_RUNS, MOST_MODELS = 1_000, 200


class ConversionCatalogue(ChosenRuns):
    """The runs with conversions."""

    digest: str
    runs: list[Annotated[list[Any], tuple[str, str, str, list[str]]]]
    """key, name, version, names of reports"""
    left: int


class ConversionListing(TypedDict):
    """Whether a conversion can be shown: state is "ready", "nothing" (no node), "missing" or "failed" (text is the reason)."""

    of: str
    model: str
    state: str
    text: str
    mark: str
    problems: list[DamagedFile]
    more: int
    notes: int


def catalogue(source: ValueSources, state: Any, known: Any = None) -> ConversionCatalogue | None:
    """Return the chosen runs with conversions; None if the digest is the known one."""
    runs = selected_runs(state, source, (KIND,))
    source.runs.want(runs)
    rows = {member: row for row in source.runs.rows() for member in row.members}
    having = [run for run in runs if source.runs.tags(run, KIND)]
    listed = [
        [run, label_of(run, rows.get(run)), str(source.runs.version(run)), list(source.graphs.conversions(run))[:MOST_MODELS]]
        for run in having[:MOST_RUNS]
    ]
    answer: ConversionCatalogue = {
        "digest": "", "runs": listed, "left": max(0, len(having) - MOST_RUNS),
        **about_runs(source, runs, KIND, found=bool(having)),
    }  # fmt: skip
    answer["digest"] = digest_of(answer)
    return None if answer["digest"] == known else answer


def listing(source: ValueSources, wanted: Any) -> ConversionListing | None:
    """Return whether the wanted conversion can be shown; None if none is wanted."""
    ask = ConversionRequest.read_any(wanted)
    if ask is None:
        return None
    try:
        report = source.graphs.conversion(ask.run, ask.model)
    except PayloadError as error:
        return _listed(ask, "failed", text=str(error))
    if report is None:
        return _listed(ask, "missing")
    state = "ready" if len(report.nodes) else "nothing"
    return _listed(ask, state, mark=str(source.runs.version(ask.run)), problems=report.problems)


def _listed(
    ask: ConversionRequest, state: str, *, text: str = "", mark: str = "", problems: Sequence[Problem] = ()
) -> ConversionListing:
    damage = listed_damage(problems)
    return {
        "of": ask.run, "model": ask.model, "state": state, "text": text, "mark": mark, "problems": damage["problems"],
        "more": damage["more"], "notes": damage["notes"],
    }  # fmt: skip
