"""Text alternatives: what a chart shows, in English and Chinese, for readers who do not see it.

A figure has its alternative in `layout.meta.alternative`; assets/kit/alternatives.js makes it the name of the plot. The text
names at most MOST_NAMED lines or parts and counts the others, so it stays short. Values are those of the data, or of the traces
where these have all of them or all extremes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from layouts.kit import units as fmt
from layouts.kit.i18n import Text, both, define_texts
from layouts.kit.names import middle

Floats = NDArray[np.float64]
Figure: TypeAlias = dict[str, Any]
Name: TypeAlias = str | Text
"""A name: text from files, or a text in both languages."""

MOST_NAMED = 5
LONGEST = 80
"""Characters of a name from a file."""

define_texts({
    "alternative.over": ("{name}: last {last}, lowest {low}, highest {high}", "{name}：最新 {last}，最小 {low}，最大 {high}"),
    "alternative.constant": ("{name}: always {last}", "{name}：始终为 {last}"),
    "alternative.range": ("{name}: {n} values from {low} to {high}", "{name}：{n} 个值，从 {low} 到 {high}"),
    "alternative.one": ("{name}: {last}", "{name}：{last}"),
    "alternative.none": ("{name}: no finite value", "{name}：没有有限值"),
    "alternative.bad": ("{said}, {n} not finite", "{said}，{n} 个非有限值"),
    "alternative.more": "common.and_n_more",
    "alternative.marks": ("Marked: {said}.", "标记：{said}。"),
    "alternative.values": ("Histogram of {n} finite values", "{n} 个有限值的直方图"),
    "alternative.bins": ("From {low} to {high}", "从 {low} 到 {high}"),
    "alternative.fullest": ("Most of them, {n}, from {low} to {high}", "最多的 {n} 个介于 {low} 与 {high} 之间"),
    "alternative.sentence": ("{said}.", "{said}。"),
})  # fmt: skip


def in_both(name: Name) -> Text:
    """Return a name in both languages, that of a file shortened."""
    return (middle(name, LONGEST),) * 2 if isinstance(name, str) else name


def entry(name: Name, values: Floats, write: Callable[[float], str] = fmt.number, *, ordered: bool = True) -> Text:
    """Return last, lowest and highest of the values of a line; of values in no order only the ends."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return _filled("none", name)
    return ends(
        name, float(values[-1]), (float(finite.min()), float(finite.max())), (values.size, values.size - finite.size), write,
        ordered=ordered,
    )  # fmt: skip


def ends(
    name: Name, last: float, extremes: tuple[float, float], numbers: tuple[int, int],
    write: Callable[[float], str] = fmt.number, *, ordered: bool = True,
) -> Text:  # fmt: skip
    """Return a line by its last value, (lowest, highest) finite one, and numbers of all and of not finite values."""
    low, high = extremes
    size, bad = numbers
    key = "one" if size == 1 else "constant" if low == high and not bad else "over" if ordered else "range"
    said = _filled(key, name, last=write(last), low=write(low), high=write(high), n=fmt.count(size))
    return _each("bad", said=said, n=fmt.count(bad)) if bad else said


def listed(entries: Iterable[Text], total: int | None = None) -> Text:
    """Return the first MOST_NAMED entries as one text, with the number of the others of `total`."""
    every = list(entries)
    named = every[:MOST_NAMED]
    left = (len(every) if total is None else total) - len(named)
    if left > 0:
        named.append(both("alternative.more", n=fmt.count(left)))
    return "; ".join(one[0] for one in named), "；".join(one[1] for one in named)


def named(name: Name, said: Name) -> Text:
    """Return a name with what is said of it."""
    english, chinese = (
        pattern.format(name=text, last=last)
        for pattern, text, last in zip(both("alternative.one"), in_both(name), in_both(said), strict=True)
    )
    return english, chinese


def marked(numbers: Iterable[tuple[Name, int]]) -> Text | None:
    """Return how many marks of each kind there are, None without any."""
    some = [named(name, fmt.count(number)) for name, number in numbers if number]
    return _each("marks", said=listed(some)) if some else None


def alternative(*parts: Text | None) -> Text:
    """Return the sentences of an alternative as one text."""
    said = [one for one in parts if one and one[0]]
    ends = [_each("sentence", said=one) if one[0][-1] not in ".!?" else one for one in said]
    return " ".join(one[0] for one in ends), "".join(one[1] for one in ends)


def described(figure: Figure, *parts: Text | None) -> Figure:
    """Return a figure with the sentences as its alternative; it has a copy of the layout."""
    layout = figure.get("layout", {})
    return figure | {"layout": layout | {"meta": layout.get("meta", {}) | {"alternative": list(alternative(*parts))}}}


# From traces ----------------------------------------------------------------------------------------------------------


def described_by(
    figure: Figure, title: Text, names: Mapping[str, Name], marks: Mapping[str, Name] | None = None, *,
    ordered: bool = True, more: Text | None = None,
) -> Figure:  # fmt: skip
    """Return a figure with an alternative from its traces: title, ends of those with a name, number of points of marks.

    names and marks are by the role in the `meta` of a trace; units are those of the axis. Traces have all extremes; what is not
    finite in them are gaps. more is a further sentence.
    """
    lines = [(names[role], trace) for trace in figure["data"] if (role := role_of(trace)) in names]
    points = [(marks[role], heights(trace).size) for trace in figure["data"] if marks and (role := role_of(trace)) in marks]
    said = (entry(name, _finite(trace), writer(figure, trace), ordered=ordered) for name, trace in lines[:MOST_NAMED])
    return described(figure, title, listed(said, len(lines)), more, marked(points))


def role_of(trace: Figure) -> str:
    """Return the role of a trace, "" without one."""
    meta = trace.get("meta")
    return str(meta.get("role", "")) if isinstance(meta, Mapping) else ""


def heights(trace: Figure) -> Floats:
    """Return the values of a trace: y, of bars from left to right x."""
    return _array(trace.get("x" if trace.get("orientation") == "h" else "y", ()))


def _finite(trace: Figure) -> Floats:
    found = heights(trace)
    return found[np.isfinite(found)]


def _array(values: Any) -> Floats:
    if isinstance(values, Mapping):
        raw = np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"]))
        return raw.astype(np.float64)
    return np.array(values, np.float64)


def writer(figure: Figure, trace: Figure) -> Callable[[float], str]:
    """Return what writes a value of a trace with the unit of its axis."""
    axis = "xaxis" if trace.get("orientation") == "h" else "yaxis" + str(trace.get("yaxis", "y"))[1:]
    look = figure["layout"].get(axis, {})
    unit = str(look.get("ticksuffix", ""))
    if str(look.get("tickformat", "")).endswith("%"):
        return fmt.percent
    return lambda value: fmt.number(value) + unit


def _filled(key: str, name: Name, **values: str) -> Text:
    texts = in_both(name)
    english, chinese = (
        pattern.format(name=text, **values) for pattern, text in zip(both(f"alternative.{key}"), texts, strict=True)
    )
    return english, chinese


def _each(key: str, *, said: Text, **values: str) -> Text:
    english, chinese = (
        pattern.format(said=text, **values) for pattern, text in zip(both(f"alternative.{key}"), said, strict=True)
    )
    return english, chinese


def joined(parts: Sequence[Text]) -> Text:
    """Return short texts as one, with commas."""
    return ", ".join(one[0] for one in parts), "，".join(one[1] for one in parts)
