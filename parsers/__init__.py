"""Reads training files into pandas frames: a library without a server.

    from parsers import discover, open_run
"""

from __future__ import annotations

from parsers.analysis.insights import Insight, insights
from parsers.checkpoints import LandscapePlan, landscape_plan
from parsers.discovery import discover
from parsers.errors import FormatError, MediaError, MindscopeError, PayloadError, SchemaError, SourceError
from parsers.frames import (
    API,
    COMMUNICATION,
    CPU,
    DATASET_NODES,
    EDGES,
    FLOPS,
    FLOPS_SCOPES,
    FOREST,
    HISTOGRAMS,
    HOST_MEMORY,
    IMAGES,
    IMPORTANCE,
    INSIGHTS,
    KERNELS,
    LANDSCAPES,
    LINEAGE,
    LINEAGE_TABLE,
    MEMORY,
    MODULE_MEMORY,
    NODES,
    OPERATOR_MEMORY,
    OPERATOR_TYPES,
    OPERATORS,
    PIPELINE,
    QUEUES,
    REDUCES,
    SCALARS,
    SINGLE_CHANGES,
    STATIC_MEMORY,
    STEPS,
    TENSORS,
    TEXTS,
)  # isort: skip  # fmt: skip
from parsers.graphs.access import GraphLocation, Graphs
from parsers.graphs.graph import Graph, SourceLine
from parsers.lineage.datasets import DatasetGraph, DatasetNode, DatasetOperation
from parsers.lineage.table import LineageRow, better, derive, lineage_frame, lineage_table, settings_frame, shared_tags
from parsers.lineage.values import Setting
from parsers.model import Problem, Series, Source
from parsers.payloads.cache import PayloadCache
from parsers.payloads.series import PayloadSeries
from parsers.payloads.values import HistogramValue, ImageValue, LandscapeValue, TensorValue, TextValue, Value
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
    "FOREST",
    "HISTOGRAMS",
    "HOST_MEMORY",
    "IMAGES",
    "IMPORTANCE",
    "INSIGHTS",
    "KERNELS",
    "LANDSCAPES",
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
    "SINGLE_CHANGES",
    "STATIC_MEMORY",
    "STEPS",
    "TENSORS",
    "TEXTS",
    "Column",
    "DatasetGraph",
    "DatasetNode",
    "DatasetOperation",
    "FormatError",
    "Graph",
    "GraphLocation",
    "Graphs",
    "HistogramValue",
    "Idle",
    "ImageValue",
    "Insight",
    "Job",
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
    "derive",
    "discover",
    "insights",
    "landscape_plan",
    "lineage_frame",
    "lineage_table",
    "open_run",
    "settings_frame",
    "shared_tags",
]  # fmt: skip
