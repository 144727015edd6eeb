"""Reads training files into pandas frames: a library without a server.

    from parsers import discover, open_run
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from parsers.first_use import names_on_first_use

if TYPE_CHECKING:
    from parsers.analysis.curves.derived import Derived
    from parsers.analysis.curves.expressions import ExpressionError
    from parsers.analysis.curves.insights import Insight, insights
    from parsers.checkpoints import LandscapePlan, landscape_plan
    from parsers.discovery import discover
    from parsers.errors import FormatError, MediaError, MindscopeError, PayloadError, SchemaError, SourceError
    from parsers.frames import (
        DATASET_NODES,
        EDGES,
        HISTOGRAMS,
        IMAGES,
        IMPORTANCE,
        INSIGHTS,
        LANDSCAPES,
        LINEAGE,
        LINEAGE_TABLE,
        NODES,
        SCALARS,
        SHARES,
        SINGLE_CHANGES,
        TENSORS,
        TEXTS,
    )
    from parsers.graphs.access import GraphLocation, Graphs
    from parsers.graphs.graph import Graph, SourceLine
    from parsers.landscapes.facts import (
        LANDSCAPE_FACTS,
        LANDSCAPE_FAILURES,
        LandscapeFacts,
        checksum_of,
        landscape_facts,
    )
    from parsers.landscapes.points import GrowingDirectory, GrowingLandscape
    from parsers.lineage.datasets import DatasetGraph, DatasetNode, DatasetOperation
    from parsers.lineage.table import LineageRow, better, derive, lineage_frame, lineage_table, settings_frame, shared_tags
    from parsers.lineage.values import Setting
    from parsers.model import Problem, Series, Source
    from parsers.payloads.cache import PayloadCache
    from parsers.payloads.series import PayloadSeries
    from parsers.payloads.values import HistogramValue, ImageValue, LandscapeValue, TensorValue, TextValue, Value
    from parsers.profile_frames import (
        API,
        COMMUNICATION,
        CPU,
        FLOPS,
        FLOPS_SCOPES,
        HARDWARE,
        HOST_MEMORY,
        KERNELS,
        MEMORY,
        MODULE_MEMORY,
        OPERATOR_MEMORY,
        OPERATOR_TYPES,
        OPERATORS,
        PIPELINE,
        QUEUES,
        REDUCES,
        STATIC_MEMORY,
        STEPS,
    )
    from parsers.profiler.access import Profile, Profiles
    from parsers.profiler.job_access import Job
    from parsers.profiler.trace.frames import TraceFrames
    from parsers.profiler.trace.idle import Idle
    from parsers.profiler.trace.opened import OpenTrace
    from parsers.runs import Run, open_run
    from parsers.schema import Column, Schema

__all__ = [
    "API",
    "COMMUNICATION",
    "CPU",
    "DATASET_NODES",
    "EDGES",
    "FLOPS",
    "FLOPS_SCOPES",
    "HARDWARE",
    "HISTOGRAMS",
    "HOST_MEMORY",
    "IMAGES",
    "IMPORTANCE",
    "INSIGHTS",
    "KERNELS",
    "LANDSCAPES",
    "LANDSCAPE_FACTS",
    "LANDSCAPE_FAILURES",
    "LINEAGE",
    "LINEAGE_TABLE",
    "MEMORY",
    "MODULE_MEMORY",
    "NODES",
    "OPERATORS",
    "OPERATOR_MEMORY",
    "OPERATOR_TYPES",
    "PIPELINE",
    "QUEUES",
    "REDUCES",
    "SCALARS",
    "SHARES",
    "SINGLE_CHANGES",
    "STATIC_MEMORY",
    "STEPS",
    "TENSORS",
    "TEXTS",
    "Column",
    "DatasetGraph",
    "DatasetNode",
    "DatasetOperation",
    "Derived",
    "ExpressionError",
    "FormatError",
    "Graph",
    "GraphLocation",
    "Graphs",
    "GrowingDirectory",
    "GrowingLandscape",
    "HistogramValue",
    "Idle",
    "ImageValue",
    "Insight",
    "Job",
    "LandscapeFacts",
    "LandscapePlan",
    "LandscapeValue",
    "LineageRow",
    "MediaError",
    "MindscopeError",
    "OpenTrace",
    "PayloadCache",
    "PayloadError",
    "PayloadSeries",
    "Problem",
    "Profile",
    "Profiles",
    "Run",
    "Schema",
    "SchemaError",
    "Series",
    "Setting",
    "Source",
    "SourceError",
    "SourceLine",
    "TensorValue",
    "TextValue",
    "TraceFrames",
    "Value",
    "better",
    "checksum_of",
    "derive",
    "discover",
    "insights",
    "landscape_facts",
    "landscape_plan",
    "lineage_frame",
    "lineage_table",
    "open_run",
    "settings_frame",
    "shared_tags",
]  # fmt: skip

_NAMES: Mapping[str, tuple[str, ...]] = {
    "parsers.analysis.curves.derived": ("Derived",),
    "parsers.analysis.curves.expressions": ("ExpressionError",),
    "parsers.analysis.curves.insights": ("Insight", "insights"),
    "parsers.checkpoints": ("LandscapePlan", "landscape_plan"),
    "parsers.discovery": ("discover",),
    "parsers.errors": ("FormatError", "MediaError", "MindscopeError", "PayloadError", "SchemaError", "SourceError"),
    "parsers.frames": (
        "DATASET_NODES", "EDGES", "HISTOGRAMS", "IMAGES", "IMPORTANCE", "INSIGHTS", "LANDSCAPES", "LINEAGE",
        "LINEAGE_TABLE", "NODES", "SCALARS", "SHARES", "SINGLE_CHANGES", "TENSORS", "TEXTS",
    ),
    "parsers.graphs.access": ("GraphLocation", "Graphs"),
    "parsers.graphs.graph": ("Graph", "SourceLine"),
    "parsers.landscapes.facts": (
        "LANDSCAPE_FACTS", "LANDSCAPE_FAILURES", "LandscapeFacts", "checksum_of", "landscape_facts",
    ),
    "parsers.landscapes.points": ("GrowingDirectory", "GrowingLandscape"),
    "parsers.lineage.datasets": ("DatasetGraph", "DatasetNode", "DatasetOperation"),
    "parsers.lineage.table": (
        "LineageRow", "better", "derive", "lineage_frame", "lineage_table", "settings_frame", "shared_tags",
    ),
    "parsers.lineage.values": ("Setting",),
    "parsers.model": ("Problem", "Series", "Source"),
    "parsers.payloads.cache": ("PayloadCache",),
    "parsers.payloads.series": ("PayloadSeries",),
    "parsers.payloads.values": ("HistogramValue", "ImageValue", "LandscapeValue", "TensorValue", "TextValue", "Value"),
    "parsers.profile_frames": (
        "API", "COMMUNICATION", "CPU", "FLOPS", "FLOPS_SCOPES", "HARDWARE", "HOST_MEMORY", "KERNELS", "MEMORY", "MODULE_MEMORY",
        "OPERATOR_MEMORY", "OPERATOR_TYPES", "OPERATORS", "PIPELINE", "QUEUES", "REDUCES", "STATIC_MEMORY", "STEPS",
    ),
    "parsers.profiler.access": ("Profile", "Profiles"),
    "parsers.profiler.job_access": ("Job",),
    "parsers.profiler.trace.frames": ("TraceFrames",),
    "parsers.profiler.trace.idle": ("Idle",),
    "parsers.profiler.trace.opened": ("OpenTrace",),
    "parsers.runs": ("Run", "open_run"),
    "parsers.schema": ("Column", "Schema"),
}  # fmt: skip
"""Module -> its public names, imported on first access: a process that reads ranks needs a tenth of all this."""

if not TYPE_CHECKING:  # a type checker would take every name for one of this package
    __getattr__, __dir__ = names_on_first_use(__name__, _NAMES)
