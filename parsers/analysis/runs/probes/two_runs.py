"""Probes of a run beside another: settings, data pipelines, graphs, results of several seeds, and steps of two profiles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from parsers.analysis.curves.final_values import final
from parsers.analysis.curves.gates import LEAST_RUNS, difference_interval
from parsers.analysis.graphs.opened import ComparedGraphs, comparable, opened_graph
from parsers.analysis.lineage.pipelines import MISSING
from parsers.analysis.lineage.results import main_tag
from parsers.analysis.lineage.setting_differences import differing_settings
from parsers.analysis.lineage.settings import is_seed
from parsers.analysis.runs.probes.model import FOUND, NOT_JUDGED, NOTHING, Finding, ProbedRun, Where, not_recorded
from parsers.analysis.runs.probes.profiles import computing_types, step_lengths, usual_step
from parsers.deferred import pandas as pd
from parsers.graphs.graph import Graph
from parsers.lineage.table import better
from parsers.profiler.trace import ranges
from parsers.profiler.trace.opened import OpenTrace, TraceStep

_TELLING = re.compile(r"eps|momentum|init|bias|transpose|keep_prob|rate|axis|reduction|dtype|precision", re.IGNORECASE)
"""Attributes of nodes that change results and that frameworks have different defaults for: told before others."""
_RANDOM = re.compile(r"random|augment|mix.?up|cut.?mix|cut.?out", re.IGNORECASE)
"""Tensor operations that augment: those of mindspore.dataset with chance in them."""
_NORMALIZING = re.compile(r"normali[sz]e|rescale|standardi[sz]", re.IGNORECASE)
"""Tensor operations that training and evaluation must have in common."""
_TOLD_OF = frozenset({"step", "scope", "overlap"})
"""Kinds of tracks of a trace that say of others what they do."""


def settings_differ(run: ProbedRun) -> Finding:
    """Return the settings in which a run differs from the other."""
    if run.other is None:
        return not_recorded("no_other_run")
    one, other = run.settings(), run.other.settings()
    if not one or not other:
        return not_recorded("no_settings")
    differing = differing_settings(one, other)
    shared = set(one) & set(other)
    if differing:
        name, values = differing[0]
        texts = ["–" if value is MISSING else str(value) for value in values]
        told: dict[str, float | str] = {"n": len(differing), "name": name, "value": texts[0], "other": texts[1]}
        return Finding(FOUND, "settings_differ", told, rule="settings_differ", severity=1.3)
    if not shared:
        return Finding(NOT_JUDGED, "no_shared_settings", {"n": len(one)}, rule="settings_differ")
    return Finding(NOTHING, "settings_equal", {"n": len(shared)}, rule="settings_differ")


def evaluation_pipeline(run: ProbedRun) -> Finding:
    """Return whether the pipelines of a training and of its evaluation normalize differently, or both augment.

    That one of them alone has random operations is as it should be.
    """
    if run.other is None:
        return not_recorded("no_other_run")
    one, other = run.pipeline(), run.other.pipeline()
    if one is None or other is None:
        return not_recorded("no_two_pipelines")
    ours, theirs = ([operation for _, _, node in graph.walk() for operation in node.operations] for graph in (one, other))
    random = [[each.name for each in side if _RANDOM.search(each.name)] for side in (ours, theirs)]
    fixed = [[(each.name, dict(each.parameters)) for each in side if _NORMALIZING.search(each.name)] for side in (ours, theirs)]
    told: dict[str, float | str] = {"n": sum(map(len, random))}
    if not fixed[0] and not fixed[1]:
        return Finding(NOT_JUDGED, "no_normalization", {"n": len(ours), "of": len(theirs)}, rule="evaluation_pipeline")
    if fixed[0] != fixed[1]:
        none: tuple[str, dict[str, Any]] = ("–", {})
        first, second = next(pair for pair in zip_longest(*fixed, fillvalue=none) if pair[0] != pair[1])
        told |= {"name": _written(*first), "other": _written(*second)}
        return Finding(FOUND, "normalization_differs", told, rule="evaluation_pipeline", severity=1.3)
    if random[0] and random[1]:
        return Finding(FOUND, "both_augment", told | {"name": random[1][0]}, rule="evaluation_pipeline", severity=1.1)
    return Finding(NOTHING, "same_normalization", told | {"name": _written(*fixed[0][0])}, rule="evaluation_pipeline")


def _written(name: str, parameters: Mapping[str, Any]) -> str:
    """Return an operation with its first parameters as a program would have it."""
    texts = [f"{key}={value}" for key, value in parameters.items()]
    return f"{name}({', '.join(texts)})"[:100] if texts else name


def graphs_differ(run: ProbedRun) -> Finding:
    """Return how many nodes differ between the graphs of two runs."""
    if run.other is None:
        return not_recorded("no_other_run")
    one, other = run.graph(), run.other.graph()
    if one is None or other is None:
        return not_recorded("no_two_graphs")
    compared = opened_graph((one, other), (0,)).compared
    if compared is None:
        raise ValueError("expected the comparison of two graphs")
    found = compared.difference
    told: dict[str, float | str] = {"nodes": len(one.nodes)}
    if found.same:
        return Finding(NOTHING, "graphs_equal", told, rule="graphs_differ")
    told |= {"n": len(found.changed), "removed": len(found.counted.removed), "added": len(found.counted.added)}
    named = _telling(one, compared)
    if named is None:
        return Finding(FOUND, "graphs_differ", told, rule="graphs_differ", severity=1.1)
    row, attribute, value, theirs = named
    told |= {"name": str(one.nodes["name"].array[row]), "parameter": attribute, "value": value, "other": theirs}
    return Finding(FOUND, "attributes_differ", told, Where(node=f"n{row}"), "graphs_differ", severity=1.2)


def _telling(one: Graph, compared: ComparedGraphs) -> tuple[int, str, str, str] | None:
    """Return (row, attribute, its text, that of the other graph) of the difference to look at first: of epsilon, momentum,
    initial values and the like, else of any attribute; else the type of a value. None if no matched node differs so."""
    other, match = compared.graph, compared.difference.match
    found: list[tuple[int, int, str, str, str]] = []
    for row, fields in compared.difference.changed.items():
        if "attributes" in fields:
            ours, theirs = comparable(one, row), comparable(other, int(match[row]))
            for name in sorted(ours.keys() | theirs.keys()):
                if ours.get(name) != theirs.get(name):
                    texts = (ours.get(name, "–")[:60], theirs.get(name, "–")[:60])
                    found.append((0 if _TELLING.search(name) else 1, row, name, *texts))
        if "output_type" in fields:
            kinds = (str(one.nodes["output_type"].array[row]), str(other.nodes["output_type"].array[int(match[row])]))
            found.append((0, row, "output_type", *kinds))
    return min(found)[1:] if found else None


def worse_result(run: ProbedRun) -> Finding:
    """Return whether the main result of a run is worse than that of the other one, as its last values say."""
    if run.other is None:
        return not_recorded("no_other_run")
    tag = main_tag(sorted(set(run.tags()) & set(run.other.tags())))
    if not tag:
        return not_recorded("no_shared_scalar")
    ends = [_finals(tag, [one]) for one in (run, run.other)]
    told: dict[str, float | str] = {"tag": tag}
    if not all(one.size for one in ends):
        return Finding(NOT_JUDGED, "no_final_value", told, Where((tag,)), "worse_result")
    own, other = float(ends[0][0]), float(ends[1][0])
    told |= {"value": own, "other": other}
    if own > other if better(tag) == "lower" else own < other:
        return Finding(FOUND, "worse_result", told, Where((tag,)), "worse_result", severity=1.3)
    return Finding(NOTHING, "result_not_worse", told, Where((tag,)), "worse_result")


def seeds_differ(run: ProbedRun, *, alpha: float = 0.05) -> Finding:
    """Return whether the main result differs from that of the other run by more than runs of other seeds differ.

    The runs of a side are those on screen whose settings are equal but for the seed; the interval is that of the gate.
    """
    if run.other is None:
        return not_recorded("no_other_run")
    tag = main_tag(sorted(set(run.tags()) & set(run.other.tags())))
    if not tag:
        return not_recorded("no_shared_scalar")
    sides = [_finals(tag, [one, *(other for other in run.others if other is not one and _alike(one, other))])
             for one in (run, run.other)]  # fmt: skip
    told: dict[str, float | str] = {"tag": tag, "n": min(map(len, sides)), "needed": LEAST_RUNS}
    if min(map(len, sides)) < LEAST_RUNS:
        return Finding(NOT_JUDGED, "few_seeds", told, Where((tag,)), "seeds_differ")
    interval = difference_interval(sides[0], sides[1], alpha)
    told |= {"difference": interval.difference, "low": interval.low, "high": interval.high}
    if interval.low > 0.0 or interval.high < 0.0:
        return Finding(FOUND, "seeds_differ", told, Where((tag,)), "seeds_differ", severity=1.0)
    return Finding(NOTHING, "seeds_alike", told, Where((tag,)), "seeds_differ")


def _alike(one: ProbedRun, other: ProbedRun) -> bool:
    """Return whether two runs have the same settings but for the seed."""
    ours, theirs = one.settings(), other.settings()
    if not ours or not theirs:
        return False
    return all(is_seed(name) for name, _ in differing_settings(ours, theirs))


def _finals(tag: str, runs: Sequence[ProbedRun]) -> np.ndarray[Any, np.dtype[np.float64]]:
    found = [final(series, better(tag)).finite for run in runs if (series := run.series(tag)) is not None and series.step.size]
    values = np.array(found, np.float64)
    return values[np.isfinite(values)]


def steps_differ(run: ProbedRun, *, alpha: float = 0.05) -> Finding:
    """Return the part of a step that makes most of the difference between the profiles of two runs.

    Found if steps are longer by more than they differ among themselves; the interval is that of the gate.
    """
    if run.before is None:
        return not_recorded("no_session_before")
    name, before = run.before
    usual = [usual_step(one) for one in (run, before)]
    one, other = usual
    if one is None or other is None:
        return not_recorded("no_two_profiles")
    parts = sorted(set(one.parts) & set(other.parts), key=lambda part: -abs(one.time_of(part) - other.time_of(part)))
    if not parts:
        return Finding(NOT_JUDGED, "no_shared_parts", {"n": len(one.parts)}, rule="steps_differ")
    told: dict[str, float | str] = {
        "step_ns": one.whole_ns, "other_ns": other.whole_ns, "part": parts[0],
        "part_ns": one.time_of(parts[0]) - other.time_of(parts[0]), "before": name,
    }  # fmt: skip
    lengths = [step_lengths(side) for side in (run, before)]
    if min(map(len, lengths)) < LEAST_RUNS:
        told |= {"n": min(map(len, lengths)), "needed": LEAST_RUNS}
        return Finding(NOT_JUDGED, "few_steps", told, rule="steps_differ")
    if difference_interval(lengths[0], lengths[1], alpha).low > 0.0:
        return Finding(FOUND, "steps_differ", told, rule="steps_differ", severity=1.4)
    return Finding(NOTHING, "steps_not_slower", told, rule="steps_differ")


def operators_differ(run: ProbedRun) -> Finding:
    """Return the type of operators that takes most more time than in the profile of the other run."""
    if run.before is None:
        return not_recorded("no_session_before")
    before, past = run.before
    frames = [one.frame("operator_types") for one in (run, past)]
    one, other = frames
    if one is None or other is None or not len(one) or not len(other):
        return not_recorded("no_two_profiles")
    change = _times(computing_types(one)).sub(_times(computing_types(other)), fill_value=0.0)
    if not len(change):
        return Finding(NOT_JUDGED, "no_operator_times", {"n": 0}, rule="operators_differ")
    name = str(change.idxmax())
    told: dict[str, float | str] = {"name": name, "taken_ns": float(change.max()), "n": len(change), "before": before}
    if float(change.max()) > 0.0:
        return Finding(FOUND, "operators_differ", told, Where(node=name), "operators_differ", severity=1.2)
    return Finding(NOTHING, "operators_not_slower", told, rule="operators_differ")


def _times(types: pd.DataFrame) -> pd.Series[Any]:
    """Return the time of each type of operators."""
    return types.groupby(types["type"].astype("str"))["total_ns"].sum()


def traces_differ(run: ProbedRun) -> Finding:
    """Return the slices that take most more time in a step of this trace than in one of the other run's, by name."""
    if run.before is None:
        return not_recorded("no_session_before")
    before, past = run.before
    one, other = run.trace(), past.trace()
    if one is None or other is None:
        return not_recorded("no_two_traces")
    label, spans = _steps(one, other)
    (first, last), (begin, end) = spans
    names = [_names(opened, *span) for opened, span in ((other, spans[1]), (one, spans[0]))]
    told: dict[str, float | str] = {"step_ns": float(last - first), "other_ns": float(end - begin), "before": before}
    if not len(names[0]) or not len(names[1]):
        return Finding(NOT_JUDGED, "empty_traces", told, rule="traces_differ")
    found = ranges.difference(names[0], names[1])
    at = int(found["difference_ns"].to_numpy().argmax())
    more = float(found["difference_ns"].iloc[at])
    told |= {"n": len(found), "name": str(found["name"].iloc[at]), "more_ns": more}
    where = Where(span=(first, last), label=label)
    if more > 0.0 and last - first > end - begin:
        return Finding(FOUND, "traces_differ", told, where, "traces_differ", severity=1.2)
    return Finding(NOTHING, "traces_not_slower", told, where, "traces_differ")


Span = tuple[int, int]


def _steps(one: OpenTrace, other: OpenTrace) -> tuple[str, tuple[Span, Span]]:
    """Return the ranges in ns that are compared: of the first trace the step of median length, of the other one the step of
    the same label, else of median length; all of a trace without steps. The label is "" unless both have it."""
    chosen = _usual(one)
    if chosen is None:
        return "", (one.extent, _span(_usual(other), other))
    same = other.step_named(chosen.label) if chosen.label else None
    return (chosen.label if same else "", (_span(chosen, one), _span(same or _usual(other), other)))


def _usual(opened: OpenTrace) -> TraceStep | None:
    steps = sorted(opened.steps(), key=lambda one: one.duration)
    return steps[len(steps) // 2] if steps else None


def _span(step: TraceStep | None, opened: OpenTrace) -> Span:
    return opened.extent if step is None else (step.start, step.start + step.duration)


def _names(opened: OpenTrace, begin: int, end: int) -> pd.DataFrame:
    trace = opened.trace
    kept = [number for number, track in enumerate(trace.tracks) if track.kind not in _TOLD_OF]
    return ranges.statistics(trace, begin, end, kept, pyramid=opened.pyramid)
