"""The text alternative of a line chart: its runs and tags with their last, lowest and highest values, and what is marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from layouts.curves.smoothed_lines import ChartLine, LineStyle
from layouts.kit import units as fmt
from layouts.kit.figures.alternatives import MOST_NAMED, Name, ends, entry, joined, listed, marked
from layouts.kit.i18n import Text, both, define_texts

define_texts({
    "curves.lines": ("{n} lines of {tags}", "{tags} 的 {n} 条曲线"),
    "curves.line": ("Line of {tags}", "{tags} 的曲线"),
    "curves.none": ("Line chart without a point", "没有数据点的折线图"),
    "curves.by.step": ("over steps", "横轴为步骤"),
    "curves.by.relative": ("over the time since the start", "横轴为相对时间"),
    "curves.by.absolute": ("over the time of day", "横轴为绝对时间"),
    "curves.by.tag": ("over another tag", "横轴为另一标签"),
    "curves.smoothed": ("smoothed, but with recorded values named", "已平滑，所列为原始值"),
    "curves.zoomed": ("Zoomed to steps {low} to {high}", "已缩放到步骤 {low} 至 {high}"),
    "curves.first": ("First non-finite value: step {step} of {label}", "首个非有限值：{label} 的步骤 {step}"),
    "curves.outliers": ("outliers beyond the axis", "超出坐标轴的离群值"),
})  # fmt: skip
_KINDS = (("NaN", "nan"), ("+Inf", "above"), ("-Inf", "below"))


def of_curves(lines: Sequence[ChartLine], look: LineStyle, facts: Mapping[str, Any]) -> tuple[Text | None, ...]:
    """Return the sentences about a chart of lines; facts are those of its figure."""
    drawn = [line for line in lines if line.series.value.size]
    if not drawn:
        return (both("curves.none"),)
    tags = list(dict.fromkeys(line.tag for line in drawn))
    said = listed([_said(line, tags) for line in drawn[:MOST_NAMED]], len(drawn))
    return _title(drawn, tags, look), _zoom(look), said, _marks(facts), _first(facts)


def _title(lines: Sequence[ChartLine], tags: Sequence[str], look: LineStyle) -> Text:
    named = listed([(tag, tag) for tag in tags])
    key = "curves.line" if len(lines) == 1 else "curves.lines"
    english, chinese = (
        pattern.format(n=fmt.count(len(lines)), tags=text) for pattern, text in zip(both(key), named, strict=True)
    )
    smoothed = [both("curves.smoothed")] if look.weight > 0.0 else []
    return joined([(english, chinese), both(f"curves.by.{look.axis}"), *smoothed])


def _said(line: ChartLine, tags: Sequence[str]) -> Text:
    name: Name = line.label if len(tags) == 1 else f"{line.label} {line.tag}"
    blocks = line.facts.blocks if line.facts is not None else None
    values = line.series.value
    if blocks is None or (low := float(blocks.low.min())) > (high := float(blocks.high.max())):
        return entry(name, values)
    return ends(name, float(values[-1]), (low, high), (values.size, int((blocks.stop - blocks.first).sum())))


def _zoom(look: LineStyle) -> Text | None:
    if look.view.x is None or look.axis != "step":
        return None
    return both("curves.zoomed", **{name: fmt.number(end) for name, end in zip(("low", "high"), look.view.x, strict=True)})


def _marks(facts: Mapping[str, Any]) -> Text | None:
    outliers = facts["outliers"]
    return marked([
        *((name, facts[kind]) for name, kind in _KINDS),
        (both("curves.outliers"), outliers["beyond"] if outliers else 0),
        *((one["text"], one["satisfied"]) for one in facts["thresholds"]),
    ])  # fmt: skip


def _first(facts: Mapping[str, Any]) -> Text | None:
    first = facts["first"]
    return both("curves.first", step=fmt.count(first["step"]), label=first["label"]) if first else None
