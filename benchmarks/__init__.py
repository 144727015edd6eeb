"""Benchmarks of the figures that the README promises, and of peers if they are installed. They never fail a build."""

from __future__ import annotations

PARTS = (
    "listing", "many", "serving_many", "reading", "holes", "values", "graphs", "profiler", "showing", "tables",
    "starting", "drawing", "saving", "long_series", "derived", "loggers", "graphs_view", "painted", "lineage",
    "insights", "digests", "timeline", "memory", "dumps", "live", "clusters", "matrices", "pipeline", "ranks", "strategy",
    "browsing", "growth", "explanations", "tuning", "ahead", "conversion", "recording", "landscapes", "torch_profiles",
    "idle", "visits", "open_pages", "team", "mirror", "guides", "peers", "replays",
)  # fmt: skip
"""Modules of this package that measure, in the order of `make bench`."""
