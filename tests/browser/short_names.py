"""Names on a page as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from playwright.sync_api import Page

NAMES = """(selector) => {
    const pen = document.createElement('canvas').getContext('2d');
    const seen = (one) => one.checkVisibility({ visibilityProperty: true });
    return [...document.querySelectorAll(selector)].filter(seen).map((one) => {
        const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(one);
        pen.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
        let box = one.getBoundingClientRect();
        let [left, right] = [box.left, box.right];
        for (let around = one.parentElement; around; around = around.parentElement) {
            if (getComputedStyle(around).overflowX === 'visible') continue;
            box = around.getBoundingClientRect();
            [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        }
        const shown = one.dataset.short ?? one.textContent;
        return [one.textContent, shown, pen.measureText(shown).width - (right - left)];
    });
}"""


class Shown(NamedTuple):
    """A name, what is seen of it, and by how many px that is wider than what the elements around it leave in sight."""

    name: str
    short: str
    over: float


def names_on(page: Page, selector: str = ".ms-name") -> list[Shown]:
    """Return all names that are on the page."""
    return [Shown(*one) for one in page.evaluate(NAMES, selector)]


def meant(short: str, names: Iterable[str]) -> list[str]:
    """Return the names that a reader could take a short form for."""
    pattern = re.compile(".*".join(re.escape(piece) for piece in short.split("…")), re.DOTALL)
    return [name for name in names if pattern.fullmatch(name)]
