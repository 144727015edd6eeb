"""Choose the colours of runs and groups: hues are spread over those on screen, and the ranks of a job are shades of one.

Every run or job wishes for a hue, which depends on nothing but the runs before it. Of those on screen the oldest get what they
wish for; the others get hues that are free, first the five that differ most (`layouts.kit.theme.FIRST`). So up to five never
look alike, up to ten differ in hue and up to thirty in colour, and colours stay the same for as long as the same runs are
chosen. A colour that the user set by hand comes before all of this, and others avoid its hue.

If a state names no runs, each page shows the best or the newest that have its kind of data. The colours of these are
chosen together (`TOGETHER`), so that a run has the same colour on all pages.

Counterpart of assets/kit/colours.js, which colours the runs that a state names without a request.
"""

from __future__ import annotations

import copy
import zlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from layouts.kit.theme import FIRST, HUES, PALETTE, SHADES, nearest_hue, shade
from layouts.runs.chosen_runs import UNREAD, usual_runs
from layouts.runs.rows import EVERY_RUN, RunRow

TOGETHER: tuple[tuple[str, ...], ...] = (
    ("scalar",),
    (),
    ("lineage", "hparams", "settings", "config"),
    ("histogram",),
    ("image",),
    ("tensor",),
    ("landscape", "checkpoints", "growing"),
    ("text",),
    ("dataset_graph",),
)
"""The needs of the pages that show runs by colour; the first ones win where a run cannot
have a hue of its own on all of them."""
_SECOND = tuple(hue for hue in range(HUES) if hue not in FIRST)
_ORDERS = tuple((*FIRST[n:], *FIRST[:n], *_SECOND[n:], *_SECOND[:n]) for n in range(len(FIRST)))
_CACHED = 16

Wish = tuple[int, int]
"""Hue and shade, as places in PALETTE."""


@dataclass(frozen=True, slots=True)
class ColouredUnit:
    """What gets one hue: a run, a job with its ranks as members, or a group. hand is the colour set by hand, or ""."""

    key: str
    members: tuple[str, ...]
    wish: Wish
    hand: str = ""


def wishes(keys: Iterable[str]) -> dict[str, Wish]:
    """Return the wish of each key. keys are those of all runs or groups, oldest first.

    A key wishes for the hue that it hashes to, or the next one that none of the nine keys before it has. So any ten that follow
    each other differ in hue and any thirty in colour, and a new key never changes the wish of an older one.
    """
    found: dict[str, Wish] = {}
    recent: deque[Wish] = deque(maxlen=HUES * SHADES - 1)
    for key in dict.fromkeys(keys):
        found[key] = _free(zlib.crc32(key.encode("utf-8", "surrogatepass")), recent)
        recent.append(found[key])
    return found


def spread(
    units: Sequence[ColouredUnit], known: Mapping[str, Wish] | None = None, near: Mapping[str, set[str]] | None = None
) -> dict[str, Wish]:
    """Return hue and shade of units that are shown together, oldest first.

    known are those that were chosen already, near the keys of all units that each is ever shown with, by default these.
    """
    found = {unit.key: known[unit.key] for unit in units if unit.key in known} if known else {}
    uses = [0] * HUES
    for hue, _ in found.values():
        uses[hue] += 1
    taken = set(found.values())

    def elsewhere(unit: ColouredUnit) -> list[Wish]:
        return [known[key] for key in near[unit.key] if key in known] if near and known else []

    def take(unit: ColouredUnit, hue: int) -> None:
        avoided = taken.union(elsewhere(unit))
        free = (number for number in range(SHADES) if (hue, number) not in avoided)
        found[unit.key] = hue, next(free, uses[hue] % SHADES)
        taken.add(found[unit.key])
        uses[hue] += 1

    left = []
    for unit in units:
        if unit.key in found:
            continue
        hue = unit.wish[0]
        if hue in FIRST and not uses[hue] and all(hue != other for other, _ in elsewhere(unit)):
            take(unit, hue)
        else:
            left.append(unit)
    for unit in left:
        hue = unit.wish[0]
        others = [other for other, _ in elsewhere(unit)]
        least = min(uses)
        own = uses[hue] == least and (least or all(uses[first] for first in FIRST))
        order = (hue, *_ORDERS[hue % len(FIRST)]) if own else _ORDERS[hue % len(FIRST)]
        take(unit, min((one for one in order if uses[one] == least), key=others.count))
    _give_way(units, found)
    return found


def _give_way(units: Sequence[ColouredUnit], found: dict[str, Wish]) -> None:
    """Move units away from the hues of colours set by hand, as long as there are free ones; no other unit changes."""
    by_hand = [nearest_hue(unit.hand) for unit in units if unit.hand]
    if not by_hand:
        return
    used = {*by_hand, *(found[unit.key][0] for unit in units if not unit.hand)}
    for unit in units:
        hue = found[unit.key][0]
        if unit.hand or hue not in by_hand:
            continue
        free = next((one for one in _ORDERS[hue % len(FIRST)] if one not in used), None)
        if free is not None:
            found[unit.key] = free, 0
            used.add(free)


def painted(unit: ColouredUnit, wish: Wish, shown: Sequence[str]) -> dict[str, str]:
    """Return the colour of each member that is shown: shades from dark to light if there are several."""
    if len(shown) == 1:
        return {shown[0]: unit.hand or PALETTE[wish[0]][wish[1]]}
    base = unit.hand or PALETTE[wish[0]][0]
    return {member: shade(base, place, len(shown)) for place, member in enumerate(shown)}


class Colours:
    """The colours of the runs of a list, in which rows may be in any order; by_hand: key of a run, job or rank -> #rrggbb."""

    def __init__(self, rows: Sequence[RunRow], by_hand: Mapping[str, str] | None = None) -> None:
        self.by_hand = dict(by_hand or {})
        ordered = sorted(rows, key=lambda row: (row.started or 0.0, row.key))
        self.wishes = wishes(row.key for row in ordered)
        self.units = {
            row.key: ColouredUnit(row.key, row.members, self.wishes[row.key], self.by_hand.get(row.key, "")) for row in ordered
        }
        self.hues = {key: hue for key, (hue, _) in self.wishes.items()}
        self._places = {key: place for place, key in enumerate(self.units)}
        self._alone = self._of((unit, unit.wish, unit.members) for unit in self.units.values())
        self._show(shown_together(rows))

    def now(self, rows: Sequence[RunRow]) -> Colours:
        """Return the colours for another order of the same rows, newest first, or other data in them."""
        together = shown_together(rows)
        if together == self._together:
            return self
        other = copy.copy(self)
        other._show(together)
        return other

    def _show(self, together: tuple[tuple[str, ...], ...]) -> None:
        found: dict[str, Wish] = {}
        near: dict[str, set[str]] = {}
        for keys in together:
            for key in keys:
                near.setdefault(key, set()).update(keys)
        for keys in together:
            found |= spread([self.units[key] for key in sorted(keys, key=self._places.__getitem__)], found, near)
        shown = ((unit, found.get(unit.key, unit.wish), unit.members) for unit in map(self.units.__getitem__, found))
        self._together = together
        self.usual: Mapping[str, str] = {**self._alone, **self._of(shown)}
        self._known: dict[tuple[str, ...], Mapping[str, str]] = {}

    def of(self, chosen: Sequence[str]) -> Mapping[str, str]:
        """Return member run -> colour for all runs while a state names these; without any, the colours on all pages."""
        keys = tuple(chosen)
        if not keys:
            return self.usual
        if (known := self._known.get(keys)) is not None:
            return known
        wanted = set(keys)
        whole = EVERY_RUN in wanted
        shown = {
            unit.key: members for unit in self.units.values()
            if (members := unit.members if whole or unit.key in wanted else tuple(filter(wanted.__contains__, unit.members)))
        }
        wish = spread([self.units[key] for key in shown])
        found = {**self.usual, **self._of((self.units[key], wish.get(key, (0, 0)), members) for key, members in shown.items())}
        if len(self._known) >= _CACHED:
            self._known = {}
        self._known[keys] = found
        return found

    def _of(self, shown: Iterable[tuple[ColouredUnit, Wish, Sequence[str]]]) -> dict[str, str]:
        found: dict[str, str] = {}
        for unit, wish, members in shown:
            found |= painted(unit, wish, members)
            for member in members if self.by_hand else ():
                if member in self.by_hand:
                    found[member] = self.by_hand[member]
        return found


def shown_together(rows: Sequence[RunRow]) -> tuple[tuple[str, ...], ...]:
    """Return for each of TOGETHER the keys of the rows that a page shows if the state names none; none without its data."""
    found = []
    for kinds in TOGETHER:
        having = [row for row in rows if not kinds or row.state in UNREAD or any(map(row.tags.get, kinds))]
        usual = usual_runs(having).keys
        found.append(tuple(row.key for row in having if row.key in usual))
    return tuple(found)


def group_colours(labels: Iterable[str], shown: Iterable[str], by_hand: Mapping[str, str]) -> dict[str, str]:
    """Return label -> colour for all groups, oldest first; hues are spread over those shown. by_hand: label -> #rrggbb."""
    units = [ColouredUnit(label, (label,), wish, by_hand.get(label, "")) for label, wish in wishes(labels).items()]
    chosen = set(shown)
    wish = spread([unit for unit in units if unit.key in chosen])
    return {unit.key: painted(unit, wish.get(unit.key, unit.wish), (unit.key,))[unit.key] for unit in units}


def _free(number: int, recent: Sequence[Wish]) -> Wish:
    """Return the first free (hue, shade), starting from the hue of the hash."""
    near = {hue for hue, _ in list(recent)[-(HUES - 1) :]}
    hues = [hue for step in range(HUES) if (hue := (number + step) % HUES) not in near]
    taken = set(recent)
    return next((hue, one) for hue in hues for one in range(SHADES) if (hue, one) not in taken)
