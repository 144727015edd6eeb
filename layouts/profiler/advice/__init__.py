"""The advice page: what to change in a run, by rules over its profile, each with its evidence and the time at stake."""

from __future__ import annotations

from layouts.page import Page
from layouts.profiler.advice.callbacks import register
from layouts.profiler.advice.layout import FRAMES, layout

PAGE = Page(
    path="advice", name="advice", title="advice.title", icon="health", needs=tuple(f"profile.{name}" for name in FRAMES),
    layout=layout, register=register, group="profiling",
)  # fmt: skip
