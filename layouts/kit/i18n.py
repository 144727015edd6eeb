"""The texts of the interface in English and Chinese, and how they get on the page.

Both languages are always in the page and CSS shows the one that `<html lang>` names, so switching needs neither a
request nor a callback. `t` returns a component; `attributes` returns the data attributes from which assets/kit/i18n.js
sets title, placeholder and aria-label; `for_browser` returns the texts of widgets drawn by JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from dash import html

from layouts.kit.counted import counted
from layouts.kit.texts import COMMON

Text = tuple[str, str]
"""A text in English and in Chinese."""
Texts = Mapping[str, Text]

_texts: dict[str, Text] = dict(COMMON)
_references: dict[str, str] = {}
_modules: dict[str, list[str]] = {}


class _Catalogue(Mapping[str, Text]):
    """The texts of all modules imported so far; asking for a key imports the modules of its part first."""

    def __getitem__(self, key: str) -> Text:
        if key not in _texts:
            _import_part(key.partition(".")[0])
        return _texts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_texts)

    def __len__(self) -> int:
        return len(_texts)


CATALOGUE: Texts = _Catalogue()
"""Key -> text. Texts are only ever added, so a key always has the same text."""
REFERENCES: Mapping[str, str] = MappingProxyType(_references)
"""The keys that have the text of another key, and that key."""
LANGUAGES = ("en", "zh")


def define_texts(texts: Mapping[str, Text | str]) -> Texts:
    """Add the texts of one module to the catalogue and return them; ValueError if a key already has another text.

    Every part of the interface calls this once, in its module `texts`, whose keys begin with the name of the part. A key may
    name another key instead of a text: one of layouts/kit/texts.py, or an earlier one of the same call (else ValueError).
    """
    own: dict[str, Text] = {}
    references: dict[str, str] = {}
    for key, text in texts.items():
        if isinstance(text, str):
            found = COMMON.get(text) or own.get(text)
            if found is None:
                raise ValueError(f"define_texts: {key!r} names {text!r}, which is neither a common nor an earlier text")
            references[key] = text
        else:
            found = text
        own[key] = found
    taken = next((key for key, text in own.items() if _texts.get(key, text) != text), None)
    if taken is not None:
        raise ValueError(f"define_texts: {taken!r} is already defined with another text")
    _texts.update(own)
    _references.update(references)
    return MappingProxyType(own)


def texts_of(part: str) -> Texts:
    """Return the texts whose keys begin with the name of a part.

    For code that needs the texts of a page it must not import.
    """
    _import_part(part)
    return {key: text for key, text in _texts.items() if key.partition(".")[0] == part}


def modules_of_texts(modules: Mapping[str, Iterable[str]]) -> None:
    """Say which modules (below layouts) define the keys of which parts, so that they are imported when a key is asked for."""
    for module, names in modules.items():
        for name in names:
            _modules.setdefault(name, []).append(module)


def _import_part(part: str) -> None:
    for module in _modules.get(part, ()):
        import_module(f"layouts.{module}")


def both(key: str, **values: object) -> tuple[str, str]:
    """Return the English and the Chinese text of a key with its placeholders filled in: "1 step", "2 steps"."""
    english, chinese = CATALOGUE[key]
    return (counted(english, values).format(**values), chinese.format(**values)) if values else (english, chinese)


def t(key: str, **values: object) -> html.Span:
    """Return a span with the text in both languages; the page shows one of them."""
    english, chinese = both(key, **values)
    if english == chinese:
        return html.Span(english)
    return html.Span(
        [html.Span(english, className="en", lang="en"), html.Span(chinese, className="zh", lang="zh-CN")], className="t"
    )


def attributes(values: Mapping[str, object] | None = None, **keys: str) -> dict[str, Any]:
    """Return component attributes in both languages: attributes(title="shell.theme", aria_label="shell.theme").

    The attribute itself has the English text; the data attributes let the browser switch it.
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
    """Return the texts of a widget drawn by JavaScript: {key: (English, Chinese)}, placeholders as {name}."""
    return {key: CATALOGUE[key] for key in keys}
