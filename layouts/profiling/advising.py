"""Advice in words, for the advice page and the overview."""

from __future__ import annotations

from typing import Any

from dash import html
from parsers.analysis.advice import Advice

from layouts import format as fmt
from layouts.i18n import t
from layouts.profiling.idling import cause_bar


def sentence(one: Advice) -> Any:
    """One or two sentences: what was found, and what the time consists of if that is known."""
    said = html.P(t(f"advice.{_key(one)}", value=value_text(one), subject=", ".join(one.subject)))
    if not one.parts_ns:
        return said
    if one.rule == "gaps":
        return html.Div([said, cause_bar(one.parts_ns, one.parts_ns["whole"])])
    times = {part: fmt.duration(time * 1e-9) for part, time in one.parts_ns.items()}
    return html.Div([said, html.P(t("advice.communication.parts", **times))])


def value_text(one: Advice) -> str:
    """Return the value of advice with its unit."""
    return fmt.duration(one.value * 1e-9) if one.rule == "interval" else f"{one.value:.0%}"


def _key(one: Advice) -> str:
    if one.rule == "empty":
        return f"empty.{one.subject[0]}"
    if one.rule == "gaps":
        return "gaps.said" if one.subject else "gaps.said_unknown"
    return f"{one.rule}.said_many" if one.rule == "queue_use" and len(one.evidence) > 1 else f"{one.rule}.said"
