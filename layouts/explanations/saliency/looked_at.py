"""What the network looks at, in a sentence: how much of the heat maps lies in how small a part of the pictures, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from parsers.analysis.explanations.attention import FEWEST, MIDDLE, TENTH, Attention, MapShares

from layouts.kit import units as fmt
from layouts.kit.i18n import t

MOST_NAMED = 4
"""Explainers that a sentence names."""


def sentence(found: Attention, explainers: Sequence[str] = ()) -> list[Any]:
    """Return the sentence and what it rests on; of these explainers only, if any are chosen."""
    names = [name for name in found.every if not explainers or name in explainers]
    judged = [name for name in names if found.every[name].maps >= FEWEST]
    if not judged:
        most = max((found.every[name].maps for name in names), default=0)
        said = t("saliency.looks.few", n=fmt.count(most), least=fmt.count(FEWEST))
        return [html.P([said, *_left_out(found, names)], className="ms-muted")]
    values = {"even": fmt.percent(TENTH), "even_middle": fmt.percent(MIDDLE)}
    tops, middles = (_by_name(found.every, judged, which) for which in ("top", "middle"))
    said = t("saliency.looks", tops=tops, middles=middles, **values)
    return [html.P(said, className="ms-saliency-sentence"), html.P(_basis(found, names, judged), className="ms-muted")]


def _basis(found: Attention, names: Sequence[str], judged: Sequence[str]) -> list[Any]:
    key = "saliency.looks.basis" if found.looked == found.total else "saliency.looks.basis_part"
    said: list[Any] = [t(key, n=_counts(found.every, judged), total=fmt.count(found.total))]
    compared = [name for name in judged if min(found.of_right[name].maps, found.of_wrong[name].maps) >= FEWEST]
    for name in sorted(compared, key=lambda name: name not in found.differing)[:MOST_NAMED]:
        right, wrong = found.of_right[name], found.of_wrong[name]
        key = "saliency.looks.differ" if name in found.differing else "saliency.looks.alike"
        values = {"right_top": fmt.percent(right.top), "wrong_top": fmt.percent(wrong.top)}
        said += [" ", t(key, name=name, n=fmt.count(right.maps), wrong=fmt.count(wrong.maps), **values)]
    said += [" …"] if len(compared) > MOST_NAMED else []
    known = [name for name in judged if found.of_right[name].maps + found.of_wrong[name].maps and name not in compared]
    if known:
        counts = {"n": _counts(found.of_right, known, compared), "wrong": _counts(found.of_wrong, known, compared)}
        said += [" ", t("saliency.looks.few_wrong", least=fmt.count(FEWEST), **counts)]
    if len(judged) < len(names):
        few = [f"{name} ({fmt.count(found.every[name].maps)})" for name in names if name not in judged]
        said += [" ", t("saliency.looks.few_of", least=fmt.count(FEWEST), names=_first(few))]
    return said + _left_out(found, names)


def _left_out(found: Attention, names: Sequence[str]) -> list[Any]:
    """Return what is said of maps that do not count."""
    left_out = {"saliency.unreadable": found.unreadable, "saliency.looks.empty": found.empty}
    counts = {key: sum(by_name[name] for name in names) for key, by_name in left_out.items()}
    return [one for key, n in counts.items() if n for one in (" ", t(key, n=fmt.count(n)))]


def _by_name(shares: Mapping[str, MapShares], names: Sequence[str], which: str) -> str:
    """Return "46.0 % (Gradient), 31.0 % (GradCAM)"."""
    return _first([f"{fmt.percent(getattr(shares[name], which))} ({name})" for name in names])


def _counts(shares: Mapping[str, MapShares], names: Sequence[str], others: Sequence[str] = ()) -> str:
    """Return how many maps there are: "12" if that is so for all and there are no others, else "12 (Gradient), 5 (GradCAM)"."""
    numbers = {shares[name].maps for name in names}
    if len(numbers) == 1 and not others:
        return fmt.count(numbers.pop())
    return _first([f"{fmt.count(shares[name].maps)} ({name})" for name in names])


def _first(parts: Sequence[str]) -> str:
    return ", ".join([*parts[:MOST_NAMED], *(["…"] if len(parts) > MOST_NAMED else [])])
