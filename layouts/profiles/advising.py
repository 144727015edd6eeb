"""Advice in words, for the advice page and the overview."""

from __future__ import annotations

import math
from typing import Any

from dash import html
from parsers.analysis.jobs.advice import Advice

from layouts.kit import units as fmt
from layouts.kit.i18n import Text, both, t
from layouts.profiles.idling import cause_bar

_TIMES = ("interval", "retransmission")
"""Rules whose value is a time."""


def text(one: Advice) -> Text:
    """Return what was found as a sentence in both languages."""
    return both(f"advice.{_key(one)}", **_values(one))


def _values(one: Advice) -> dict[str, str]:
    told = {name: value if isinstance(value, str) else quantity(name, value) for name, value in one.told.items()}
    return {"value": value_text(one), "subject": ", ".join(one.subject), **told}


def sentence(one: Advice) -> Any:
    """One or two sentences: what was found, and what the time consists of if that is known."""
    said = html.P(t(f"advice.{_key(one)}", **_values(one)))
    if not one.parts_ns:
        return said
    if one.rule == "gaps":
        return html.Div([said, cause_bar(one.parts_ns, one.parts_ns["whole"])])
    times = {part: fmt.duration(time * 1e-9) for part, time in one.parts_ns.items()}
    key = "advice.communication.parts"
    if "moved" in one.parts_ns:
        key = f"{key}_ranks" if "transit" in one.parts_ns else f"{key}_unrecorded"
    return html.Div([said, html.P(t(key, **times))])


def value_text(one: Advice) -> str:
    """Return the value of advice with its unit."""
    return limit_text(one.rule, one.value)


def limit_text(rule: str, value: float) -> str:
    """Return a value or the threshold of a rule with its unit."""
    if rule == "contention":
        return quantity("bandwidth", value)
    return fmt.duration(value * 1e-9) if rule in _TIMES else fmt.percent(value)


def quantity(name: str, value: float) -> str:
    """Return a number with its unit, which the end of its name tells: _ns, _bytes, _traffic (B), _share or bandwidth (B/s)."""
    if not math.isfinite(value):
        return "–"
    if name.endswith("_ns"):
        return fmt.duration(value * 1e-9)
    if name.endswith("_bytes"):
        return fmt.size(value)
    if name.endswith("_traffic"):
        return fmt.prefixed(value, "B")
    if name.endswith("_share"):
        return fmt.percent(value)
    if name.endswith("bandwidth"):
        return fmt.rate(value, "B")
    return fmt.number(value)


def _key(one: Advice) -> str:
    if one.rule == "empty":
        return "_".join(filter(None, (f"empty.{one.subject[0]}", one.variant)))
    if one.rule == "gaps":
        return "gaps.said" if one.subject else "gaps.said_unknown"
    if one.variant:
        return f"{one.rule}.{one.variant}"
    return f"{one.rule}.said_many" if one.rule == "queue_use" and len(one.evidence) > 1 else f"{one.rule}.said"
