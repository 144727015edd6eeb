"""The components of CANN that reserve much device memory."""

from __future__ import annotations

from typing import Any

from dash import html
from parsers.analysis.profiles.memory.modules import LARGE
from parsers.deferred import pandas as pd

from layouts.kit import units as fmt
from layouts.kit.i18n import t
from layouts.kit.tables import TableColumn, table
from layouts.profiles.memory import memory_texts


def parts(large: pd.DataFrame, modules: pd.DataFrame) -> list[Any]:
    """A table of the large components: peak, when it was, and the last value. large is of `large_components`."""
    every = modules["component"].nunique()
    said = html.P(t("memory.modules.said", n=fmt.count(len(large)), total=fmt.count(every), least=fmt.size(LARGE)))
    if not len(large):
        return [said]
    origin = int(modules["time_ns"].min())
    several = large["device"].nunique() > 1
    rows = [
        (
            _named(row["component"]), *([str(row["device"])] if several else []), memory_texts.size(row["peak_bytes"]),
            memory_texts.moment(row["time_ns"], origin, "ns"), memory_texts.size(row["last_bytes"]),
        )
        for row in large.to_dict("records")
    ]  # fmt: skip
    keys = ["memory.by.component", *(["memory.device"] if several else []), "memory.modules.peak", "memory.modules.when",
            "memory.modules.last"]  # fmt: skip
    drawn = table(list(map(TableColumn, keys)), rows, class_name="ms-memory-table ms-memory-narrow", scroll="ms-memory-scroll")
    return [said, drawn]


def _named(component: str) -> Any:
    if component == "APP":
        return t("memory.modules.framework")
    return t("memory.modules.unnamed", number=component) if component.isdecimal() else component
