"""Short forms of names that are shown together: cut at separators, always with an ellipsis, and never alike.

A short form consists of tokens of the name, with "…" for those that were left out. Read as a pattern, with any text for each
"…", it fits no other of the names: no two short forms are equal, and none reads as another name. assets/kit/names.js is the
same with the width in pixels; both pass the cases of tests/layouts/kit/names.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

CUT = "…"
_MOST_WORDS = 100  # a text of more is no name, and is cut anywhere
Width = Callable[[str], float]
"""Width of a text, in the unit of the room."""
Tokens = tuple[tuple[str, ...], tuple[str, ...]]
"""Words of a name; separators before each and after the last, of which there is one more."""

# Points and signs within a number (0.003, 1e-3) separate nothing.
_SEPARATORS = re.compile(r"((?:[/\\_,:;=| \t\n]|(?<![0-9][eE])-|-(?![0-9])|(?<![0-9])\.|\.(?![0-9]))+)")
_WITHIN = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?<![0-9][eE])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])(?![eE]-?[0-9])"
    r"|(?<=[\u2e80-\u9fff\uf900-\ufaff])|(?=[\u2e80-\u9fff\uf900-\ufaff])"
)  # fmt: skip
_LETTER = re.compile(r".(?:[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]|\u200d.?)*", re.DOTALL)  # with its accents


class NameSet:
    """Names that are shown together."""

    def __init__(self, names: Iterable[str]) -> None:
        self.all = sorted(set(names))
        self._by_separators = _Split(self.all, by_separators, first=1)
        self._within_words = _Split(self.all, within_words, first=0)

    def short(self, name: str, room: float, width: Width = len) -> str:
        """Return a name if it fits the room, else its short form.

        All tokens that differ between the names are kept if there is room, then the first, the last and those between. With
        less room, words are cut at digits and capitals, then anywhere. A form that still fits another name, or none at all
        that fits the room, gives way to the narrowest form that tells the names apart, which is wider than the room.
        """
        if width(name) <= room:
            return name
        if name not in self.all:
            return NameSet((*self.all, name)).short(name, room, width)
        others = [other for other in self.all if other != name]
        forms: list[str] = []
        for split in (self._by_separators, self._within_words):
            form = split.form(name, others, room, width)
            if form and room <= 2 * width(form) <= 2 * room:  # half a room that is empty is worth a cut within a word
                return form
            forms += [form] if form else []
        fitting = [form for form in forms if width(form) <= room]
        if fitting:
            return max(fitting, key=width)
        form = _anywhere(name, others, room, width)
        if form or not others:
            return form or CUT
        return min(*forms, name, key=width)

    def telling(self, name: str) -> str:
        """Return the form that has all tokens that differ: what a list should have room for.

        Of names that have nothing in common it has only those that tell them apart.
        """
        others = [other for other in self.all if other != name]
        return self._by_separators.telling(name, others) or name


class _Split:
    """Names as tokens, and which of the names have each. Of paths the end says more (first=1), of words the beginning (0)."""

    def __init__(self, names: Sequence[str], split: Callable[[str], Tokens], *, first: int) -> None:
        self.names, self.split, self.first = names, split, first
        self._shared: tuple[str, ...] | None = None
        self._having: dict[str, int] = {}  # word -> the names that have it, a bit for each
        self._known: dict[str, set[int]] = {}

    def _common(self) -> tuple[str, ...]:
        """Return words that all names have in the same order; of a single name all."""
        if self._shared is None:
            every = [self.split(name)[0] for name in self.names]
            self._shared = every[0] if every else ()
            for bit, words in enumerate(every):
                self._shared = longest_common(self._shared, words)
                for word in words:
                    self._having[word] = self._having.get(word, 0) | 1 << bit
        return self._shared

    def _order(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return places of words that differ, the rarest first, and of those all names have, from the outside inwards."""
        common, differ, shared = self._common(), [], []
        at = 0
        for place, word in enumerate(words):
            if at < len(common) and common[at] == word:
                at += 1
                shared.append(place)
            else:
                differ.append(place)
        ends = (0, len(words) - 1)
        shared.sort(key=lambda place: (min(abs(place - end) for end in ends), abs(place - ends[self.first])))
        return sorted(differ, key=lambda place: (self._having[words[place]].bit_count(), place)), shared

    def _needed(self, name: str, others: Sequence[str], order: Sequence[int]) -> set[int]:
        """Return places of words without which the form would fit one of the other names."""
        kept = self._known.get(name)
        if kept is None:
            tokens = self.split(name)
            kept = set()
            own = 1 << self.names.index(name)
            rivals = ((1 << len(self.names)) - 1) & ~own
            for place in order:
                left = rivals & self._having[tokens[0][place]]
                if left != rivals:
                    kept.add(place)
                    rivals = left
            if others and (rivals or fits_any(written(tokens, kept), others)):
                kept = self._told_apart(tokens, others, order)
            self._known[name] = kept
        return set(kept)

    def _told_apart(self, tokens: Tokens, others: Sequence[str], order: Sequence[int]) -> set[int]:
        """Return the same for names of which the words alone do not tell: with the order and the letters around them."""
        kept: set[int] = set()
        rivals = list(others)
        for place in order:
            if not rivals:
                return kept
            form = written(tokens, kept | {place})
            left = [other for other in rivals if fits(form, other)]
            if len(left) < len(rivals):
                kept, rivals = kept | {place}, left
        while rivals:  # words that stand elsewhere in other names need those beside them
            kept = kept | {place for one in kept for place in (one - 1, one + 1) if place in order} if kept else set(order)
            form = written(tokens, kept)
            rivals = [other for other in rivals if fits(form, other)] if len(kept) < len(order) else []
        return kept

    def form(self, name: str, others: Sequence[str], room: float, width: Width) -> str:
        """Return the fullest form that has its room, or the narrowest that tells the names apart; "" if it had no word."""
        tokens = self.split(name)
        differ, shared = self._order(tokens[0])
        kept = self._needed(name, others, [*differ, *shared])
        if width(written(tokens, kept | set(differ))) <= room:
            kept |= set(differ)
        for place in (*differ, *shared):
            if width(written(tokens, kept | {place})) <= room:
                kept |= {place}
        return written(tokens, kept) if kept else ""

    def telling(self, name: str, others: Sequence[str]) -> str:
        tokens = self.split(name)
        differ, shared = self._order(tokens[0])
        kept = self._needed(name, others, [*differ, *shared]) | (set(differ) if shared else set())
        return written(tokens, kept) if kept else ""


@lru_cache(20_000)
def by_separators(name: str) -> Tokens:
    """Split a name at its separators."""
    pieces = _SEPARATORS.split(name)
    if len(pieces) > 2 * _MOST_WORDS:
        return (name,), ("", "")
    words = pieces[::2]
    separators = ["", *pieces[1::2], ""]
    if len(words) > 1 and not words[0]:
        words, separators = words[1:], separators[1:]
    if len(words) > 1 and not words[-1]:
        words, separators = words[:-1], separators[:-1]
    return tuple(words), tuple(separators)


@lru_cache(20_000)
def within_words(name: str) -> Tokens:
    """Split a name at its separators, its capitals and its digits."""
    words, separators = by_separators(name)
    parts = [[part for part in _WITHIN.split(word) if part] or [word] for word in words]
    if sum(map(len, parts)) > _MOST_WORDS:
        return words, separators
    between = [("" if at else separators[place]) for place, some in enumerate(parts) for at in range(len(some))]
    return tuple(part for some in parts for part in some), (*between, separators[-1])


def written(tokens: Tokens, kept: set[int]) -> str:
    """Return the words at these places, with their separators and an ellipsis for what is between; one that is no wider than an
    ellipsis is kept. Points beside an ellipsis, which would look like more of it, are left out."""
    words, separators = tokens
    text, gap = "", False
    for place, word in enumerate(words):
        narrow = len(word) == 1 and (place - 1 in kept or place == 0) and (place + 1 in kept or place == len(words) - 1)
        if place in kept or (kept and narrow):
            text += f"{CUT}{separators[place].lstrip('.')}{word}" if gap else f"{separators[place]}{word}"
            gap = False
        elif not gap:
            text += separators[place].rstrip(".") if place else ""
            gap = True
    return text + (CUT if gap else separators[-1])


def fits(form: str, name: str) -> bool:
    """Return whether a name could be meant by a form: whether it is that, with any text for each ellipsis."""
    first, *rest = form.split(CUT)
    if not rest:
        return form == name
    if not name.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])


def fits_any(form: str, names: Iterable[str]) -> bool:
    """Return whether one of these names could be meant by a form."""
    return any(fits(form, name) for name in names)


def longest_common(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Return the longest sequence of words that both have in this order; of several the first in `one`."""
    rest = iter(other)
    if all(word in rest for word in one):
        return tuple(one)
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            lengths[i][j] = 1 + lengths[i + 1][j + 1] if same else max(lengths[i + 1][j], lengths[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append(one[i])
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] > lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def _anywhere(name: str, others: Sequence[str], room: float, width: Width) -> str:
    """Return a name cut between any letters, as near its middle as tells it from the others; "" if that is impossible."""
    letters = _LETTER.findall(name)

    def cut(begin: int, end: int) -> str:
        return f"{''.join(letters[:begin]).rstrip('.')}{CUT}{''.join(letters[len(letters) - end :]).lstrip('.')}"

    low, high = 1, len(letters) - 1  # letters that are kept
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if width(cut(half - half // 2, half // 2)) <= room else (low, half - 1)
    for away in range(low):
        for begin in dict.fromkeys((low - low // 2 - away, low - low // 2 + away)):
            form = cut(begin, low - begin) if 0 < begin <= low else CUT
            if form != CUT and width(form) <= room and not fits_any(form, others):
                return form
    return ""


def shortened(name: str, names: Iterable[str], most: int) -> str:
    """Return a name of at most `most` characters, more if that is needed to tell it from the others."""
    return NameSet((*names, name)).short(name, most)


def middle(text: str, most: int) -> str:
    """Return a text of at most `most` characters that is shown alone, cut in its middle."""
    return NameSet([text]).short(text, most)
