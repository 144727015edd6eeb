"""Parse how to draw a step trace. Every value from the browser is untrusted."""

from __future__ import annotations

from typing import Any

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import number, text
from layouts.profiles.composition import words
from layouts.profiles.step_plots import MEASURES, StepStyle

_COLUMNS = (100, 8_000)
_MOST = 2**31


def read_look(data: Any) -> StepStyle:
    """Return the look that a browser sent, or raise BadInput."""
    step = _whole(data, "step")
    first, last = _whole(data, "from"), _whole(data, "to")
    return StepStyle(
        words(text(data, "lang", "en", choices=LANGUAGES)),
        text(data, "unit", MEASURES[0], choices=MEASURES),
        int(number(data, "columns", 1_000, *_COLUMNS)),
        (first, last) if first is not None and last is not None else None,
        step,
        text(data, "theme", "light", choices=("light", "dark")) == "dark",
    )


def _whole(data: Any, key: str) -> int | None:
    return int(number(data, key, 0, 0, _MOST)) if text(data, key) else None
