"""Computes derived frames and series: numpy in, numpy out, no drawing.

A series is the arrays of `parsers.model.Series`, in the order it was written. Every function here is pure and keeps that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from parsers.analysis.curves.axes import earliest, join_by_step, relative_time
    from parsers.analysis.curves.derived import Derived, evaluate
    from parsers.analysis.curves.expressions import Expression, ExpressionError, parse_expression, quoted
    from parsers.analysis.curves.groups import Curve, Summary, aligned, curve, grid, minus, summarised
    from parsers.analysis.curves.places import Places, as_step, local_milliseconds, since
    from parsers.analysis.curves.reduction import KINDS, NonFinite, Reduced, non_finite_runs, reduce_points
    from parsers.analysis.curves.seeds import FEW, Estimate, improvement, interquartile_mean
    from parsers.analysis.curves.segments import merged, newest, resolved, restarts, superseded
    from parsers.analysis.curves.series_facts import LONG, SeriesFacts
    from parsers.analysis.curves.smoothing import smooth
    from parsers.analysis.curves.thresholds import Condition, Threshold, ThresholdError, parse_threshold
    from parsers.analysis.curves.views import bad_runs, reduce_view
    from parsers.analysis.lineage.importance import importance, nearest_change, single_changes
    from parsers.analysis.lineage.settings import settings_of, targets_of
    from parsers.analysis.lineage.shares import REFITS, Range, Shares, stoppable, variance_shares
    from parsers.analysis.lineage.splines import Best, Fit, best_region, fitted, shape
    from parsers.analysis.profiles.step_times import StepTimes, step_times, times_at
    from parsers.analysis.profiles.steps import (
        Average,
        Breakdown,
        Outliers,
        average,
        breakdowns,
        copies_and_fetching,
        drift,
        one_step,
        outliers,
        shares,
    )
    from parsers.analysis.values.histograms import (
        bands,
        beyond,
        common_edges,
        even_edges,
        quantiles,
        resample,
        thinned,
        usual_limits,
    )
    from parsers.analysis.values.tensor_chunks import Tensor, TensorDifference, chunks, cut, next_bad, part, row_number
    from parsers.analysis.values.tensors import Selection, Statistics, default_boxes, distribution, selection, statistics

__all__ = [
    "FEW",
    "KINDS",
    "LONG",
    "REFITS",
    "Average",
    "Best",
    "Breakdown",
    "Condition",
    "Curve",
    "Derived",
    "Estimate",
    "Expression",
    "ExpressionError",
    "Fit",
    "NonFinite",
    "Outliers",
    "Places",
    "Range",
    "Reduced",
    "Selection",
    "SeriesFacts",
    "Shares",
    "Statistics",
    "StepTimes",
    "Summary",
    "Tensor",
    "TensorDifference",
    "Threshold",
    "ThresholdError",
    "aligned",
    "as_step",
    "average",
    "bad_runs",
    "bands",
    "best_region",
    "beyond",
    "breakdowns",
    "chunks",
    "common_edges",
    "copies_and_fetching",
    "curve",
    "cut",
    "default_boxes",
    "distribution",
    "drift",
    "earliest",
    "evaluate",
    "even_edges",
    "fitted",
    "grid",
    "importance",
    "improvement",
    "interquartile_mean",
    "join_by_step",
    "local_milliseconds",
    "merged",
    "minus",
    "nearest_change",
    "newest",
    "next_bad",
    "non_finite_runs",
    "one_step",
    "outliers",
    "parse_expression",
    "parse_threshold",
    "part",
    "quantiles",
    "quoted",
    "reduce_points",
    "reduce_view",
    "relative_time",
    "resample",
    "resolved",
    "restarts",
    "row_number",
    "selection",
    "settings_of",
    "shape",
    "shares",
    "since",
    "single_changes",
    "smooth",
    "statistics",
    "step_times",
    "stoppable",
    "summarised",
    "superseded",
    "targets_of",
    "thinned",
    "times_at",
    "usual_limits",
    "variance_shares",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = names_on_first_use(__name__, {
        "parsers.analysis.curves.axes": ("earliest", "join_by_step", "relative_time"),
        "parsers.analysis.curves.derived": ("Derived", "evaluate"),
        "parsers.analysis.curves.expressions": ("Expression", "ExpressionError", "parse_expression", "quoted"),
        "parsers.analysis.curves.groups": ("Curve", "Summary", "aligned", "curve", "grid", "minus", "summarised"),
        "parsers.analysis.curves.places": ("Places", "as_step", "local_milliseconds", "since"),
        "parsers.analysis.curves.reduction": ("KINDS", "NonFinite", "Reduced", "non_finite_runs", "reduce_points"),
        "parsers.analysis.curves.seeds": ("FEW", "Estimate", "improvement", "interquartile_mean"),
        "parsers.analysis.curves.segments": ("merged", "newest", "resolved", "restarts", "superseded"),
        "parsers.analysis.curves.series_facts": ("LONG", "SeriesFacts"),
        "parsers.analysis.curves.smoothing": ("smooth",),
        "parsers.analysis.curves.thresholds": ("Condition", "Threshold", "ThresholdError", "parse_threshold"),
        "parsers.analysis.curves.views": ("bad_runs", "reduce_view"),
        "parsers.analysis.lineage.importance": ("importance", "nearest_change", "single_changes"),
        "parsers.analysis.lineage.settings": ("settings_of", "targets_of"),
        "parsers.analysis.lineage.shares": ("REFITS", "Range", "Shares", "stoppable", "variance_shares"),
        "parsers.analysis.lineage.splines": ("Best", "Fit", "best_region", "fitted", "shape"),
        "parsers.analysis.profiles.step_times": ("StepTimes", "step_times", "times_at"),
        "parsers.analysis.profiles.steps": (
            "Average", "Breakdown", "Outliers", "average", "breakdowns", "copies_and_fetching", "drift", "one_step", "outliers",
            "shares",
        ),
        "parsers.analysis.values.histograms": (
            "bands", "beyond", "common_edges", "even_edges", "quantiles", "resample", "thinned", "usual_limits",
        ),
        "parsers.analysis.values.tensor_chunks": (
            "Tensor", "TensorDifference", "chunks", "cut", "next_bad", "part", "row_number",
        ),
        "parsers.analysis.values.tensors": (
            "Selection", "Statistics", "default_boxes", "distribution", "selection", "statistics",
        ),
    })  # fmt: skip
