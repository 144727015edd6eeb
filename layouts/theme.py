"""Which colour a run is drawn in.

Ten hues after Okabe and Ito, moved in lightness until each has a contrast of at least 3:1 on the cards of both themes and
any two differ in normal, deuteranopic and protanopic sight; then two more lightnesses of each. All thirty lie in
the narrow band of luminance that is readable on white and on dark, so one colour serves both themes.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable

PALETTE: tuple[tuple[str, str, str], ...] = (
    ("#236db4", "#4e95df", "#3880c9"),  # blue
    ("#d25908", "#e96e2b", "#b64a00"),  # vermillion
    ("#2b9c78", "#087a5b", "#138e6b"),  # bluish green
    ("#895dd6", "#a57af6", "#7f52ca"),  # violet
    ("#c6871a", "#926209", "#aa7103"),  # orange
    ("#2e9ac8", "#00749c", "#0986b3"),  # sky
    ("#c765aa", "#a7488d", "#d26fb5"),  # reddish purple
    ("#7c8542", "#8e9754", "#68702d"),  # olive
    ("#217f7b", "#479f9a", "#2f8a86"),  # teal
    ("#866850", "#ab8b72", "#96775f"),  # umber
)
HUES, SHADES = len(PALETTE), len(PALETTE[0])


def run_colours(keys: Iterable[str]) -> dict[str, str]:
    """A colour for each of the runs on screen, as #rrggbb; assets/picker.js does the same in the browser.

    A run has the hue that its key hashes to. Of several runs on screen with one hue the one with the least hash keeps it
    and the others take the next free hue, then the next free shade; so ten runs differ in hue, thirty in
    colour, and a run changes its colour only where another on screen has a claim to it.
    """
    ordered = sorted(dict.fromkeys(keys), key=run_hash)
    colours: dict[str, str] = {}
    taken: set[tuple[int, int]] = set()
    displaced = []
    for key in ordered:
        hue = run_hash(key) % HUES
        if (hue, 0) in taken:
            displaced.append(key)
        else:
            taken.add((hue, 0))
            colours[key] = PALETTE[hue][0]
    for key in displaced:
        hue, shade = _free(run_hash(key), taken)
        taken.add((hue, shade))
        colours[key] = PALETTE[hue][shade]
    return colours


def run_hash(key: str) -> int:
    """The number from 0 to 2**32 - 1 that decides the colour of a run."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))


def _free(number: int, taken: Collection[tuple[int, int]]) -> tuple[int, int]:
    """(hue, shade) next to the hash's own that is not taken; its own, in some shade, where all are."""
    places = (((number + step) % HUES, shade) for shade in range(SHADES) for step in range(HUES))
    return next((place for place in places if place not in taken), (number % HUES, number // HUES % SHADES))
