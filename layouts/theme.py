"""The colours of runs.

Ten hues after Okabe and Ito, with the lightness adjusted until each has a contrast of at least 3:1 on the cards of both
themes and any two differ in normal, deuteranopic and protanopic vision; then two more lightnesses of each. All thirty lie in
the narrow band of luminance that is readable on a light and on a dark background, so one colour serves both themes.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Sequence

from layouts.sources import RunRow

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
    """Return a colour for each run, as #rrggbb. keys are those of all runs, oldest first.

    A run gets the hue that its key hashes to, or the next hue that none of the nine runs before it has. So any ten
    consecutive runs differ in hue and any thirty in colour, and a new run never changes the colour of an older one.
    """
    colours: dict[str, str] = {}
    recent: deque[tuple[int, int]] = deque(maxlen=HUES * SHADES - 1)
    for key in dict.fromkeys(keys):
        hue, shade = _free(zlib.crc32(key.encode("utf-8", "surrogatepass")), recent)
        recent.append((hue, shade))
        colours[key] = PALETTE[hue][shade]
    return colours


def colours_of(rows: Iterable[RunRow]) -> dict[str, str]:
    """Return member run key -> colour for all runs, whatever the order of their rows."""
    oldest_first = sorted(rows, key=lambda row: (row.started or 0.0, row.key))
    return run_colours(member for row in oldest_first for member in row.members)


def _free(number: int, recent: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the first free (hue, shade), starting from the hue of the hash."""
    near = {hue for hue, _ in list(recent)[-(HUES - 1) :]}
    hues = [hue for step in range(HUES) if (hue := (number + step) % HUES) not in near]
    taken = set(recent)
    return next((hue, shade) for hue in hues for shade in range(SHADES) if (hue, shade) not in taken)
