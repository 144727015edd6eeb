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

Text = tuple[str, str]
"""A text in English and in Chinese."""
Texts = Mapping[str, Text]

_catalogue: dict[str, Text] = {}
CATALOGUE: Texts = MappingProxyType(_catalogue)
"""All texts of the modules imported so far. It only grows, so a key means the same text wherever it is looked up."""
LANGUAGES = ("en", "zh")


def define_texts(texts: Texts) -> Texts:
    """Add the texts of one module to the catalogue and return them. ValueError for a key that is there with another text.

    Every part of the interface calls this once, in its module `texts`, whose keys begin with the name of the part.
    """
    taken = next((key for key, text in texts.items() if _catalogue.get(key, text) != text), None)
    if taken is not None:
        raise ValueError(f"define_texts: {taken!r} is already defined, with another text")
    _catalogue.update(texts)
    return MappingProxyType(dict(texts))


def texts_of(part: str) -> Texts:
    """The texts whose keys begin with the name of a part, as of the modules imported so far.

    For what draws with the texts of a page it may not import; called when a page is laid out, all of them are there.
    """
    return {key: text for key, text in _catalogue.items() if key.partition(".")[0] == part}


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
