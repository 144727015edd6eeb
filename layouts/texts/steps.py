"""Texts of pages that step through what was recorded."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "steps.slider": ("Step", "步骤"),
    "steps.previous": ("Previous step (←)", "上一步 (←)"),
    "steps.next": ("Next step (→)", "下一步 (→)"),
    "steps.now": ("Step {step}", "步骤 {step}"),
    "steps.now_again": ("Step {step} (time {nth})", "步骤 {step}（第 {nth} 次）"),
    "steps.of": ("{n} of {total}", "{n}/{total}"),
    "steps.each": ("Per tag", "按标签"),
    "steps.each.title": ("Each tag has a step of its own", "每个标签使用各自的步骤"),
}
