"""Which colour a run is drawn in.

Ten hues after Okabe and Ito, moved in lightness until each has a contrast of at least 3:1 on the cards of both themes and
any two differ in normal, deuteranopic and protanopic sight; then two more lightnesses of each. All thirty lie in
the narrow band of luminance that is readable on white and on dark, so one colour serves both themes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

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


def run_colour(key: str) -> str:
    """The colour of one run by its key alone, where the other runs are not known."""
    return PALETTE[_hash(key) % HUES][0]


def run_colours(keys: Iterable[str]) -> dict[str, str]:
    """A colour for each run key, as #rrggbb: give it the members of *all* runs, so that a choice of runs changes no colour.

    A run takes the hue its key hashes to, unless one of the nine runs before it in natural order of names has it; it then
    takes the next free hue. So ten runs of neighbouring names differ in hue and thirty in colour, and names are how a sweep
    is told apart. Depends on the set of keys alone.
    """
    ordered = sorted(set(keys), key=_natural)
    slots: list[tuple[int, int]] = []
    for key in ordered:
        hue = _free(_hash(key), {slot[0] for slot in slots[1 - HUES :]}, HUES)
        shade = _free(0, {slot[1] for slot in slots[1 - HUES * SHADES :] if slot[0] == hue}, SHADES)
        slots.append((hue, shade))
    return {key: PALETTE[hue][shade] for key, (hue, shade) in zip(ordered, slots, strict=True)}


def _free(wanted: int, taken: set[int], total: int) -> int:
    """The first number from wanted on, modulo total, that is not taken; wanted where all are."""
    return next((n for n in ((wanted + i) % total for i in range(total)) if n not in taken), wanted % total)


def _hash(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))


def _natural(key: str) -> tuple[list[tuple[int, int, str]], str]:
    parts = re.split(r"([0-9]+)", key)
    return [(1, int(part), "") if part.isdigit() and part.isascii() else (0, 0, part.casefold()) for part in parts], key
