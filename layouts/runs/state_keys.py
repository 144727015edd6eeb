"""The keys that the states of pages have, beside that of the chosen runs. A page ignores those of another one."""

from __future__ import annotations

STATE_KEYS = (
    "a", "act", "align", "aligned", "alone", "alpha", "also", "amount", "apart", "at", "axis", "b", "band", "bandwidth",
    "base", "beside", "bins", "board", "box", "bright", "brush", "by", "called", "camera", "capacity", "cards", "cause",
    "cell", "cells", "chart", "class", "clip", "clock", "clocks", "col", "colour", "colours", "column", "columns",
    "compare", "component", "contrast", "core", "device", "devices", "differ", "digits", "dims", "each", "empty", "every",
    "explainer", "file", "files", "filter", "final", "find", "first", "flag", "flagged", "fold", "form", "format", "from",
    "full", "graph", "group", "hccs", "height", "held", "hide", "hist", "how", "id", "in", "index", "inner", "insights",
    "into", "io", "key", "kind", "label", "large", "layer", "line", "linear", "lines", "link", "log", "lq", "m", "map",
    "mark", "measure", "metric", "minus", "minus_place", "minus_run", "minus_step", "mode", "model", "model_flops",
    "name", "near", "next", "node", "of", "one", "only_graph", "only_rank", "only_step", "only_watch", "op", "opacity",
    "open", "order", "other", "outcome", "outliers", "over", "p", "page", "paint", "pan", "parameters", "part", "pcie",
    "peak", "pick", "picked", "pin", "place", "predicted", "q", "question", "range", "rank", "rdma", "record", "regex",
    "rel", "rest", "right", "row", "rows", "same", "sample", "scale", "scope", "sd", "session", "setting", "shape", "sheet",
    "shortest", "show", "shown", "side", "simple", "size", "sizes", "slice", "slow", "small", "small_rdma", "smooth",
    "sort", "source", "span", "split", "stage", "stat", "step", "stream", "string", "study", "symptom", "t", "tab",
    "table", "tag", "tags", "tall", "target", "text", "threshold", "to", "together", "tokens", "tol", "tolerance",
    "trace", "tree", "trial", "truth", "type", "unfold", "unit", "use", "values", "view", "wanted", "weight", "with",
    "with_io", "with_mark", "with_rank", "with_row", "with_run", "with_step", "without", "wrap", "x", "y", "zero", "zoom",
)  # fmt: skip
"""Sorted; tests/layouts/runs/test_state_keys.py finds them in the pages."""
