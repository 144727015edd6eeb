"""Frames and series to derived ones: numpy in, numpy out, no drawing.

A series is the arrays of `parsers.model.Series`, in the order it was written. Every function here is pure and keeps that order.
"""

from __future__ import annotations

from parsers.analysis.axes import join_by_step, relative_time
from parsers.analysis.histograms import bands, beyond, common_edges, even_edges, quantiles, resample, thinned, usual_limits
from parsers.analysis.importance import importance, settings_of, single_changes, targets_of, trend
from parsers.analysis.pieces import Difference, Tensor, cut, next_bad, part, pieces, row_number
from parsers.analysis.reduction import KINDS, NonFinite, Reduced, non_finite_runs, reduce_points
from parsers.analysis.segments import merged, restarts
from parsers.analysis.smoothing import smooth
from parsers.analysis.tensors import Selection, Statistics, default_boxes, distribution, selection, statistics
from parsers.analysis.thresholds import Condition, Threshold, ThresholdError, parse_threshold

__all__ = [
    "KINDS", "Condition", "Difference", "NonFinite", "Reduced", "Selection", "Statistics", "Tensor", "Threshold",
    "ThresholdError", "bands", "beyond", "common_edges", "cut", "default_boxes", "distribution", "even_edges",
    "importance", "join_by_step", "merged", "next_bad", "non_finite_runs", "parse_threshold", "part", "pieces",
    "quantiles", "reduce_points", "relative_time", "resample", "restarts", "row_number", "selection", "settings_of",
    "single_changes", "smooth", "statistics", "targets_of", "thinned", "trend", "usual_limits",
]  # fmt: skip
