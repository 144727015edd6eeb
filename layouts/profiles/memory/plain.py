"""Elements as the plain lists of `layouts.kit.plain_html`, made at once.

Tables of hundreds of rows are made of them instead of by `layouts.kit.tables`, whose components take ten times as long.
"""

from __future__ import annotations

from typing import Any

from layouts.kit.i18n import both

Plain = list[Any]
"""[tag, attributes, children]; a text is a child as it is."""


def element(tag: str, *children: Any, **attributes: str) -> Plain:
    """Make an element; data_part stands for the attribute data-part, class_ for class. Attributes of "" are left out."""
    return [tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value}, list(children)]


def words(key: str, **values: object) -> Plain:
    """Make a span with a text in both languages; the page shows one of them."""
    english, chinese = both(key, **values)
    if english == chinese:
        return element("span", english)
    return element("span", element("span", english, class_="en", lang="en"),
                   element("span", chinese, class_="zh", lang="zh-CN"), class_="t")  # fmt: skip


def table(head: list[Plain], rows: list[Plain], foot: list[Plain] | None = None, *, class_: str = "") -> Plain:
    """Make a table of rows, each a list of elements th or td."""
    parts = [element("thead", *head), element("tbody", *rows), *([element("tfoot", *foot)] if foot else [])]
    return element("table", *parts, class_=f"ms-memory-table {class_}".rstrip())


def headings(*keys: str) -> Plain:
    """Make a row of headings from text keys."""
    return element("tr", *(element("th", words(key), scope="col") for key in keys))
