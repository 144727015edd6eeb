"""Readers of the same cards share drawings: each is made once per change of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from layouts.curves.scalars.page import CARDS
from layouts.kit.cards import cards
from layouts.kit.cards.known_drawings import KnownDrawings
from layouts.kit.state import BadInput
from layouts.sources import Sources
from tests.sources import MemorySource, series


class Counting:
    """The drawing of curves, which counts."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, source: Sources, ask: Any) -> Any:
        self.made += 1
        return CARDS.draw(source, ask)


def test_readers_of_the_same_cards_share_drawings_until_data_come() -> None:
    draw = Counting()
    page, known = replace(CARDS, draw=draw), KnownDrawings(draw)
    source = MemorySource({"a": {"scalar": {"loss": series(100, 1)}}})
    ask = {"tag": ["loss"], "w": ["640"]}
    wanted = {"cards": [[0, ask], [1, ask | {"w": ["320"]}]]}
    answers = [cards.drawings(page, source, wanted, known) for _ in range(50)]
    assert draw.made == 2
    assert all(answer == answers[0] for answer in answers)
    assert answers[0] == cards.drawings(CARDS, source, wanted)
    grown = MemorySource({"a": {"scalar": {"loss": series(101, 1)}}})
    stamps = [stamp for _, _, stamp in answers[0]]
    news = [cards.grown_cards(page, grown, [0, 1], [one for _, one in wanted["cards"]], stamps, known) for _ in range(50)]
    assert draw.made == 4
    assert news[0] == news[49] == cards.grown_cards(CARDS, grown, [0, 1], [one for _, one in wanted["cards"]], stamps)
    assert len(news[0]) == 2


def test_what_is_refused_is_refused_each_time() -> None:
    known = KnownDrawings(CARDS.draw)
    source = MemorySource({"a": {"scalar": {"loss": series(100, 1)}}})
    for _ in range(2):
        with pytest.raises(BadInput):
            cards.drawings(CARDS, source, {"cards": [[0, {"tag": []}]]}, known)
