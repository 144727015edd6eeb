"""Texts in both languages whose values are texts in both languages."""

from __future__ import annotations

from dash import html

from layouts.kit.i18n import CATALOGUE, Text


def in_both(key: str, **values: object) -> Text:
    """Return the English and the Chinese text of a key; a value that is a pair is a text in both languages."""
    english, chinese = (
        text.format(**{name: value[at] if isinstance(value, tuple) else value for name, value in values.items()})
        for at, text in enumerate(CATALOGUE[key])
    )
    return english, chinese


def span(text: Text) -> html.Span:
    """Return a span with a text in both languages; the page shows one of them."""
    english, chinese = text
    parts = [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")]
    return html.Span(parts, className="t")
