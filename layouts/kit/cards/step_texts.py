"""Texts of pages that step through recorded values."""

from __future__ import annotations

from layouts.kit.i18n import define_texts

TEXTS = define_texts({
    "step_slider.slider": "common.step",
    "step_slider.previous": ("Previous step (←)", "上一步（←）"),
    "step_slider.next": ("Next step (→)", "下一步（→）"),
    "step_slider.now": ("Step {step}", "步骤 {step}"),
    "step_slider.now_again": ("Step {step} (time {nth})", "步骤 {step}（第 {nth} 次）"),
    "step_slider.of": "common.n_of_total",
    "step_slider.each": ("Per tag", "按标签"),
    "step_slider.each.title": ("Each tag has a step of its own", "每个标签使用各自的步骤"),
})
