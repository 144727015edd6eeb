"""What plots of cards have in common."""

from __future__ import annotations

import re
from pathlib import Path

from layouts.components.plot_cards import FONT, LAYOUT

ROOT = Path(__file__).resolve().parents[3]


def test_plotly_measures_texts_in_the_font_that_the_page_shows_them_in() -> None:
    found = re.search(r"--ms-font: (.+);", (ROOT / "assets" / "base" / "base.css").read_text(encoding="utf-8"))
    assert found is not None
    assert LAYOUT["font"]["family"] == found[1] == FONT
