"""Tables and texts that several pages about dumps make alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from layouts.kit import tables
from layouts.kit.tables import TableColumn


def short(name: str) -> str:
    """Return the last part of the name of an operator."""
    return name.rstrip("/").rpartition("/")[2] or name


def bilingual(english: str, chinese: str) -> html.Span:
    """A text in both languages, of which the page shows one."""
    if english == chinese:
        return html.Span(english)
    texts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
    return html.Span(texts, className="t")


def table(columns: Sequence[TableColumn], rows: Sequence[Any]) -> Any:
    """A table that scrolls within its card."""
    return tables.table(columns, rows, class_name="", scroll="ms-debugging-rows", heads=0)
