"""Colours measured with the formulas of WCAG (contrast) and Machado et al. 2009 (colour blindness)."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from layouts.kit.plot_cards import FONT
from layouts.kit.theme import HUES, PALETTE, SHADES
from layouts.runs.run_colours import wishes

ASSETS = Path(__file__).resolve().parents[3] / "assets"
CARDS = ("#ffffff", "#1a1d21")
SIGHT = {
    "normal": np.eye(3),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
}
KEYS = st.lists(st.text(), unique=True, max_size=40)


def linear(colour: str) -> NDArray[np.float64]:
    part = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ np.array([0.2126, 0.7152, 0.0722]))


def oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    cones = np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    lab = np.array([[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
                    [0.0259040371, 0.7827717662, -0.808675766]])  # fmt: skip
    return np.asarray(lab @ np.cbrt(cones @ np.clip(rgb, 0, 1)))


@pytest.mark.parametrize("card", CARDS)
def test_every_colour_is_readable_on_the_cards_of_both_themes(card: str) -> None:
    for colour in itertools.chain.from_iterable(PALETTE):
        dark, light = sorted((luminance(colour), luminance(card)))
        assert (light + 0.05) / (dark + 0.05) >= 3, colour


@pytest.mark.parametrize("sight", SIGHT)
def test_any_two_hues_differ_in_every_sight(sight: str) -> None:
    seen = [oklab(SIGHT[sight] @ linear(hue[0])) for hue in PALETTE]
    assert min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2)) > 0.055


@given(KEYS)
def test_runs_that_follow_each_other_differ(keys: list[str]) -> None:
    drawn = list(wishes(keys).values())
    assert len(drawn) == len(keys)
    for begin in range(len(drawn)):
        ten, thirty = drawn[begin : begin + HUES], drawn[begin : begin + HUES * SHADES]
        assert len({hue for hue, _ in ten}) == len(ten)
        assert len(set(thirty)) == len(thirty)


@given(KEYS, st.text())
def test_a_later_run_changes_no_wish(keys: list[str], later: str) -> None:
    before = wishes(keys)
    after = wishes([*keys, later])
    assert {key: after[key] for key in keys} == before


def test_plots_measure_texts_in_the_font_of_the_page() -> None:
    css = (ASSETS / "kit" / "kit.css").read_text(encoding="utf-8")
    assert f"--ms-font: {FONT};" in css
