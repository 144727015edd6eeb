"""The advice page: what to change in a run, by rules over its profile, each with its evidence and the time at stake."""

from __future__ import annotations

from layouts.page import Page
from layouts.pages.advice.callbacks import register
from layouts.pages.advice.layout import FRAMES, layout
from layouts.pages.advice.texts import TEXTS

PAGE = Page(
    name="advice", texts=TEXTS, needs=tuple(f"profile.{name}" for name in FRAMES), layout=layout, register=register,
    group="performance",
)  # fmt: skip
