"""The memo of a pickle: what later parts of the file may refer to. Only what they do refer to is kept.

A place takes 2 bytes, or 4 once there are more than 65,536 objects, whatever was remembered there: files have two or three
places per entry. Rows of tables are not kept.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.memory_snapshots.objects import Ended, OpenDict, OpenList, StackNumber

MOST_PLACES = 1 << 26
MOST_TEXTS = 1 << 20
MOST_CHARACTERS = 1 << 26
_NOT_KEPT = 0
_SHORT = 0xFFFF


class Memo:
    """Objects by place. Equal texts, pairs of numbers and stacks take one object."""

    def __init__(self, keys: frozenset[str] = frozenset()) -> None:
        """keys are texts whose places are listed in `self.keys`, eight at most of each."""
        self.places = array("H")
        self._kept: list[Any] = [None]
        self._spare: list[int] = []
        self._codes: dict[Any, int] = {}
        self._characters = 0
        self.keys: dict[str, list[int]] = {key: [] for key in keys}

    def remember(self, value: Any, offset: int) -> None:
        """Remember an object at the next place."""
        index = len(self.places)
        if index >= MOST_PLACES:
            raise Ended(offset, "bad_message", f"expected at most {MOST_PLACES:,} remembered objects")
        kind = type(value)
        if kind is str:
            self.places.append(self.text_code(value, offset))
            found = self.keys.get(value)
            if found is not None and len(found) < 8:
                found.append(index)
        elif kind is OpenDict or kind is OpenList:
            value.place = index
            self.places.append(self._keep(value))
        else:
            self.places.append(self.shared_code(value))

    def text_code(self, text: str, offset: int) -> int:
        """Return the code of a text, which is kept once."""
        code = self._codes.get(text)
        if code is None:
            self._characters += len(text)
            if len(self._codes) >= MOST_TEXTS or self._characters > MOST_CHARACTERS:
                raise Ended(offset, "bad_message", f"expected at most {MOST_TEXTS:,} texts of {MOST_CHARACTERS:,} characters")
            code = self._codes[text] = self._keep(text)
        return code

    def shared_code(self, value: Any) -> int:
        """Return a code of an object that does not change; stacks and pairs of whole numbers are kept once."""
        pair = type(value) is tuple and len(value) == 2 and {type(one) for one in value} == {int}
        if not (pair or type(value) is StackNumber) or len(self._codes) >= MOST_TEXTS:
            return self._keep(value)
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = self._keep(value)
        return code

    def _keep(self, value: Any) -> int:
        if self._spare:
            code = self._spare.pop()
            self._kept[code] = value
            return code
        self._kept.append(value)
        code = len(self._kept) - 1
        if code > _SHORT and self.places.typecode == "H":
            self.places = array("i", self.places)
        return code

    def get(self, index: int, offset: int) -> Any:
        """Return the object at a place."""
        known = len(self.places)
        if index >= known:
            raise Ended(offset, "bad_message", f"expected one of {known:,} remembered objects, found number {index:,}")
        code = self.places[index]
        if code == _NOT_KEPT:
            raise Ended(offset, "bad_message", f"expected no second use of an entry, found remembered object {index:,}")
        return self._kept[code]

    def replace(self, old: OpenDict | OpenList, value: Any) -> None:
        """Remember something else in place of a dict or list; None: it is not kept any more."""
        code = self.places[old.place] if old.place >= 0 else _NOT_KEPT
        if code == _NOT_KEPT or self._kept[code] is not old:
            return
        self._kept[code] = None
        self._spare.append(code)
        self.places[old.place] = _NOT_KEPT if value is None else self.shared_code(value)

    def peek(self, index: int) -> Any:
        """Return the object at a place; None if there is none."""
        return self._kept[self.places[index]] if index < len(self.places) else None

    def take_places(self, codes: NDArray[np.int32], offset: int) -> None:
        """Take a place for each of these codes, 0 for objects that are not kept."""
        if len(self.places) + len(codes) > MOST_PLACES:
            raise Ended(offset, "bad_message", f"expected at most {MOST_PLACES:,} remembered objects")
        self.places.frombytes(codes.astype(self.places.typecode).tobytes())
