"""Into which shards the inputs of an operator are cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.deferred import pandas as pd


@dataclass(frozen=True, slots=True)
class Cut:
    """One input of an operator: name and shape of what it takes (None for unknown), and the shards of each dimension.

    uneven are the dimensions whose size its shards do not divide. fits is whether shards are given for each dimension.
    """

    name: str
    shape: tuple[int, ...] | None
    shards: tuple[int, ...]

    @property
    def fits(self) -> bool:
        """Whether there are shards for each dimension of the shape, or no shape is known."""
        return self.shape is None or not self.shards or len(self.shape) == len(self.shards)

    @property
    def uneven(self) -> tuple[int, ...]:
        """The dimensions, from 0, whose size the number of their shards does not divide; 0 shards divide nothing."""
        if self.shape is None or not self.fits:
            return ()
        pairs = enumerate(zip(self.shape, self.shards, strict=False))
        return tuple(place for place, (size, many) in pairs if size > 0 and (many == 0 or size % many))

    @property
    def shard_shape(self) -> tuple[int, ...] | None:
        """The shape of one shard; None where it is unknown or the shards do not divide it."""
        if self.shape is None or not self.fits or self.uneven:
            return None
        shards = self.shards or (1,) * len(self.shape)
        return tuple(size // many if size > 0 else size for size, many in zip(self.shape, shards, strict=True))


def shards_in(strategy: str) -> tuple[tuple[int, ...], ...]:
    """Parse a strategy such as 2,1,1,1;1,1 of the column `strategy`; () for none."""
    return tuple(tuple(map(int, one.split(","))) if one else () for one in strategy.split(";")) if strategy else ()


def shape_in(text: str) -> tuple[int, ...] | None:
    """Parse a shape such as 32x3x224x224, or [] of a scalar; None for unknown and for shapes of tuples."""
    if text == "[]":
        return ()
    parts = text.split("x")
    if not text or not all(part.removeprefix("-").isdecimal() and part.isascii() and len(part) < 18 for part in parts):
        return None
    return tuple(map(int, parts))


def inputs_in(text: str) -> list[tuple[int, bool]]:
    """Parse the column `inputs`: (number of the row or -1, whether it says only what comes first) of each input."""
    return [(int(part.removeprefix("^")), part.startswith("^")) for part in text.split(";")] if text else []


def cuts_of(strategy: str, inputs: str, names: Sequence[str], shapes: Sequence[str]) -> list[Cut]:
    """Return the inputs of an operator that its strategy is about, in order. names and shapes are those of all rows by number.

    Inputs that say only what comes first have no shards.
    """
    data = [number for number, ordering in inputs_in(inputs) if not ordering]
    found = []
    for place, shards in enumerate(shards_in(strategy)):
        number = data[place] if place < len(data) else -1
        known = 0 <= number < len(names)
        found.append(Cut(names[number] if known else "", shape_in(shapes[number]) if known else None, shards))
    return found


def uneven(frame: pd.DataFrame) -> list[int]:
    """Return the numbers of the operators with a dimension that its shards do not divide, or with shards for other dimensions.

    frame is of one file (schema STRATEGIES). Shapes are those in the file, which may be of the shards already.
    """
    names, shapes = frame["name"].astype("str").tolist(), frame["shape"].astype("str").tolist()
    inputs = frame["inputs"].array
    strategies = frame["strategy"].array
    chosen = (frame["strategy"] != "").to_numpy().nonzero()[0].tolist()
    known: dict[tuple[str, tuple[str, ...]], bool] = {}
    found = []
    for row in chosen:
        strategy, own = str(strategies[row]), str(inputs[row])
        taken = tuple(shapes[number] if 0 <= number < len(shapes) else "" for number, _ in inputs_in(own))
        wrong = known.get((strategy, taken))
        if wrong is None:
            wrong = any(cut.uneven or not cut.fits for cut in cuts_of(strategy, own, names, shapes))
            known[strategy, taken] = wrong
        if wrong:
            found.append(row)
    return found
