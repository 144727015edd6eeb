"""What a finding says, and its rule, as texts in both languages: what a page has a sentence for is said in the same words."""

from __future__ import annotations

from collections.abc import Callable

from parsers.analysis.curves.insights import RULES, Insight
from parsers.analysis.jobs.advice import THRESHOLDS, Advice
from parsers.analysis.runs.probes.model import Finding

from layouts.curves.insights import sentence
from layouts.dumps.causes import cause
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, Text, both
from layouts.profiles.advising import limit_text, quantity
from layouts.profiles.advising import text as advice_text

_WORDS: dict[str, Callable[[str], str]] = {
    "part": lambda word: f"composition.part.{word}", "role": lambda word: f"symptoms.role.{word}",
    "reason": lambda word: f"advice.reason.{word}", "cause": lambda word: f"symptoms.cause.{word}",
}  # fmt: skip
"""Parts of a sentence that are words of ours -> their text key."""
_SHARES = ("divergence", "overfitting", "oscillation", "plateau")
"""Kinds of insights whose limit is a share."""


def state_key(state: str) -> str:
    """Return the text key of a state of an answer."""
    return f"symptoms.state.{state.replace(' ', '_')}"


def sentence_of(finding: Finding, *, ranks: int = 1) -> Text:
    """Return what was found, with its numbers and their units. ranks is how many were dumped."""
    if isinstance(finding.by, Insight):
        said = sentence(finding.by)
        if finding.said == "rank_alone":
            before = _filled("symptoms.said.rank_alone", finding)
            return f"{before[0]} {said[0]}", f"{before[1]}{said[1]}"
        return said
    if isinstance(finding.by, Advice):
        return advice_text(finding.by)
    if finding.said == "first_cause":
        return cause(finding.by, ranks=ranks)
    return _filled(f"symptoms.said.{finding.said}", finding)


def _filled(key: str, finding: Finding) -> Text:
    english, chinese = ({name: _value(name, value, language) for name, value in finding.told.items()} for language in (0, 1))
    return both(key, **english)[0] if english else CATALOGUE[key][0], both(key, **chinese)[1] if chinese else CATALOGUE[key][1]


def _value(name: str, value: float | str, language: int) -> str:
    if isinstance(value, str):
        return CATALOGUE[_WORDS[name](value)][language] if name in _WORDS else value
    if isinstance(value, int):
        return fmt.count(value)
    return fmt.prefixed(value, "") if name.endswith("_per_s") else quantity(name, value)


def rule_of(finding: Finding) -> Text | None:
    """Return the rule that was applied, with its limit; None for a question without one."""
    family, _, name = finding.rule.partition(".")
    if not finding.rule:
        return None
    if family == "insight":
        limit = fmt.percent(RULES[name].limit) if name in _SHARES else fmt.number(RULES[name].limit, 3)
        kinds, rules = CATALOGUE[f"insights.kind.{name}"], both(f"symptoms.rule.insight_{name}", limit=limit)
        english, chinese = (both("symptoms.rule.insight", kind=kinds[at], rule=rules[at])[at] for at in (0, 1))
        return english, chinese
    if family == "advice":
        threshold = finding.by.threshold if isinstance(finding.by, Advice) else THRESHOLDS[name]
        titles, rules = CATALOGUE[f"advice.{name}.title"], CATALOGUE[f"advice.{name}.rule"]
        limit = limit_text(name, threshold)
        english, chinese = (
            both("symptoms.rule.advice", title=titles[at], rule=rules[at], limit=limit)[at] for at in (0, 1)
        )
        return english, chinese
    return both(f"symptoms.rule.{finding.rule}")


