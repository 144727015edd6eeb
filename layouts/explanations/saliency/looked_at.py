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
    told = [name for name in names if found.every[name].maps >= FEWEST]
    if not told:
        most = max((found.every[name].maps for name in names), default=0)
        return [html.P(t("saliency.looks.few", n=fmt.count(most), least=fmt.count(FEWEST)), className="ms-muted")]
    values = {"even": fmt.percent(TENTH), "even_middle": fmt.percent(MIDDLE)}
    said = t("saliency.looks", tops=_by_name(found.every, told, "top"), middles=_by_name(found.every, told, "middle"), **values)
    return [html.P(said, className="ms-saliency-sentence"), html.P(_basis(found, told), className="ms-muted")]


def _basis(found: Attention, told: Sequence[str]) -> list[Any]:
    key = "saliency.looks.basis" if found.looked == found.total else "saliency.looks.basis_part"
    said: list[Any] = [t(key, n=fmt.count(found.samples), total=fmt.count(found.total))]
    both_known = [name for name in told if min(found.of_right[name].maps, found.of_wrong[name].maps) >= FEWEST]
    if both_known:
        values = {"n": fmt.count(found.right), "wrong": fmt.count(found.wrong)}
        right, wrong = (_by_name(group, both_known, "top") for group in (found.of_right, found.of_wrong))
        said += [" ", t("saliency.looks.wrong", right_tops=right, wrong_tops=wrong, **values)]
    elif found.right + found.wrong:
        counts = {"n": fmt.count(found.right), "wrong": fmt.count(found.wrong), "least": fmt.count(FEWEST)}
        said += [" ", t("saliency.looks.few_wrong", **counts)]
    if found.unreadable:
        said += [" ", t("saliency.unreadable", n=fmt.count(found.unreadable))]
    if found.empty:
        said += [" ", t("saliency.looks.empty", n=fmt.count(found.empty))]
    return said


def _by_name(shares: Mapping[str, MapShares], names: Sequence[str], which: str) -> str:
    """Return "46.0 % (Gradient), 31.0 % (GradCAM)"."""
    parts = [f"{fmt.percent(getattr(shares[name], which))} ({name})" for name in names[:MOST_NAMED]]
    return ", ".join([*parts, *(["…"] if len(names) > MOST_NAMED else [])])
