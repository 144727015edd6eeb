"""Tables and texts that several pages about dumps make alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html

from layouts.kit.elements import scrolled
from layouts.kit.i18n import t


def short(name: str) -> str:
    """Return the last part of the name of an operator."""
    return name.rstrip("/").rpartition("/")[2] or name


def bilingual(english: str, chinese: str) -> html.Span:
    """A text in both languages, of which the page shows one."""
    if english == chinese:
        return html.Span(english)
    texts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
    return html.Span(texts, className="t")


def table(titles: Sequence[str], rows: Sequence[html.Tr]) -> html.Div:
    """A table that scrolls within its card. titles are text keys; that of a column of numbers begins with "#"."""
    top = [
        html.Th(t(title.removeprefix("#")), scope="col", className="ms-number" if title.startswith("#") else None)
        for title in titles
    ]
    return scrolled(html.Table([html.Thead(html.Tr(top)), html.Tbody(list(rows))]), "ms-debugging-rows")


def number(text: Any, class_name: str = "") -> html.Td:
    """A cell with a number."""
    return html.Td(text, className=f"ms-number {class_name}".rstrip())
