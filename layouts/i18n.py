"""The words of the interface, English and Chinese, and how they get on the page.

Both languages are always in the page and css shows the one that `<html lang>` names, so switching needs neither a
request nor a callback. `t` gives a component; `attributes` gives the data attributes from which assets/i18n.js sets
title, placeholder and aria-label; `for_browser` hands texts to widgets that JavaScript draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from dash import html

from layouts.texts import (
    advice,
    cards,
    dataset,
    graph,
    histograms,
    images,
    insights,
    landscape,
    lineage,
    notes,
    operators,
    overview,
    pair,
    pipelines,
    preparation,
    profile,
    profiling,
    runs,
    scalars,
    shell,
    steps,
    steptrace,
    target,
    tensors,
    texts,
)  # fmt: skip

PARTS = (
    shell.TEXTS, notes.TEXTS, runs.TEXTS, cards.TEXTS, scalars.TEXTS, histograms.TEXTS, landscape.TEXTS, overview.TEXTS,
    steps.TEXTS,
    images.TEXTS, tensors.TEXTS, texts.TEXTS, graph.TEXTS, dataset.TEXTS, lineage.TEXTS, pipelines.TEXTS, target.TEXTS,
    pair.TEXTS, insights.TEXTS, profiling.TEXTS, operators.TEXTS, steptrace.TEXTS, profile.TEXTS,
    preparation.TEXTS, advice.TEXTS,
)  # fmt: skip
CATALOGUE: Mapping[str, tuple[str, str]] = MappingProxyType({key: texts for part in PARTS for key, texts in part.items()})
LANGUAGES = ("en", "zh")


def both(key: str, **values: object) -> tuple[str, str]:
    """The English and the Chinese text of a key, its placeholders filled in."""
    english, chinese = CATALOGUE[key]
    return (english.format(**values), chinese.format(**values)) if values else (english, chinese)


def t(key: str, **values: object) -> html.Span:
    """A text in both languages, of which the page shows one."""
    english, chinese = both(key, **values)
    if english == chinese:
        return html.Span(english)
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


def attributes(values: Mapping[str, object] | None = None, **keys: str) -> dict[str, Any]:
    """Attributes of a component in both languages: attributes(title="shell.theme", aria_label="shell.theme").

    The English text is set at once, the data attributes let the browser switch it.
    """
    result: dict[str, Any] = {}
    for name, key in keys.items():
        attribute = name.replace("_", "-")
        english, chinese = both(key, **(values or {}))
        result[f"data-en-{attribute}"] = english
        result[f"data-zh-{attribute}"] = chinese
        result[attribute] = english
    return result


def for_browser(keys: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The texts that a widget drawn by JavaScript needs: {key: (English, Chinese)}, placeholders as {name}."""
    return {key: CATALOGUE[key] for key in keys}
