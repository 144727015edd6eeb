"""Watchpoints: conditions that tensors of a dump are checked for, with the formulas of MindInsight's debugger."""

from __future__ import annotations

from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, Limit, Watchpoint, WatchpointCondition, parse_number
from parsers.analysis.dumps.watchpoints.files import read_watchpoints
from parsers.analysis.dumps.watchpoints.recommended import recommended

__all__ = ["CONDITIONS", "Limit", "Watchpoint", "WatchpointCondition", "parse_number", "read_watchpoints", "recommended"]
