"""The text alternative of a computation graph on the canvas: what it consists of, and which boxes are on screen."""

from __future__ import annotations

from collections.abc import Mapping

from parsers.analysis.graphs import Visible

from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import alternative, in_both, listed, named
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "graphs.counts": (
        "{operators} operators, {parameters} parameters, {constants} constants and {edges} edges in {boxes} boxes",
        "{operators} 个算子、{parameters} 个参数、{constants} 个常量、{edges} 条边，显示为 {boxes} 个框",
    ),
    "graphs.open": ("Open boxes", "已展开的框"),
    "graphs.outer": ("Outermost boxes", "最外层的框"),
    "graphs.box": ("{name}, {n} operators", "{name}，{n} 个算子"),
})  # fmt: skip


def of_graph(title: str, visible: Visible, counts: Mapping[str, int]) -> Text:
    """Return the alternative of the visible part of a graph."""
    numbers = {name: fmt.count(number) for name, number in counts.items()} | {"boxes": fmt.count(len(visible.items))}
    outer = [_box(item.label, item.count) for item in visible.items if item.parent < 0]
    opened = [in_both(item.label) for item in visible.items if item.opened]
    return alternative(
        in_both(title) if title else None, both("graphs.counts", **numbers),
        named(both("graphs.outer"), listed(outer)) if outer else None,
        named(both("graphs.open"), listed(opened)) if opened else None,
    )  # fmt: skip


def _box(label: str, operators: int) -> Text:
    return both("graphs.box", name=in_both(label)[0], n=fmt.count(operators)) if operators > 1 else in_both(label)
