"""Reads a pickle opcode by opcode, as `pickle.Unpickler` does for builtins: nothing is called, imported or built.

What a file can ask for is bounded: depth, items of a list or dict, remembered objects, texts. Dicts in lists are handed to
`SnapshotColumns`, which turns those of a snapshot into rows, so that a list holds ranges of rows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

from parsers.memory_snapshots.columns import ENTRY_KEYS, SnapshotColumns
from parsers.memory_snapshots.entries import EntryForm
from parsers.memory_snapshots.memo import Memo
from parsers.memory_snapshots.objects import Ended, OpenDict, OpenList, TakenRows
from parsers.memory_snapshots.opcodes import ARGUMENTS, READ, name_of
from parsers.memory_snapshots.window import Window

MOST_DEEP = 64
MOST_ITEMS = 1 << 12
"""Values after one MARK: the pickler of Python writes 1,000 items, or pairs, after each."""
MOST_KEYS = 1 << 10
MOST_HELD = 1 << 22
"""Items of all lists and dicts that are no rows of a table."""
LONGEST_TEXT = 1 << 24
LONGEST_NUMBER = 255
_OF_ROWS = {"action", "state", "filename"}
_FLOAT = struct.Struct(">d")
_LEARN = 20
"""Entries read one by one from which on their form is learned; each further time takes twice as many."""


class Machine:
    """One pass over a pickle. `run` returns its object, or what there is of it with the reason why reading ended."""

    def __init__(self, window: Window, columns: SnapshotColumns) -> None:
        self.window, self.columns, self.memo = window, columns, Memo(ENTRY_KEYS)
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.form: EntryForm | None = None
        self._held = 0
        self._frame_end = 0
        self._one_by_one, self._patience = 0, _LEARN
        self._stopped = False

    def run(self) -> tuple[Any, Ended | None]:
        """Read all opcodes; return the object, None for nothing, and why reading ended before STOP."""
        place, window = 0, self.window
        try:
            while not self._stopped:
                if place >= window.limit:
                    place = self._more(place)
                place = _HANDLERS[window.data[place]](self, place + 1)
            return self._result(place), None
        except Ended as ended:
            return self._rest(), ended

    def _more(self, place: int) -> int:
        window = self.window
        if not window.last:
            place = window.move(place)
        if window.last and place >= window.limit:
            left = len(window.data) - place
            if left < 1 or left < 1 + ARGUMENTS[window.data[place]]:
                raise Ended(window.base + place, "truncated", "expected the end of the pickle (STOP), the file ends here")
        return place

    def _offset(self, place: int) -> int:
        """Return where in the file the opcode before a place is."""
        return self.window.base + place - 1

    def _result(self, place: int) -> Any:
        if len(self.stack) != 1 or self.below:
            raise self._wrong(place, "one object at the end")
        return self.stack[0]

    def _bad(self, place: int, text: str) -> Ended:
        return Ended(self._offset(place), "bad_message", text)

    def _wrong(self, place: int, wanted: str) -> Ended:
        return self._bad(place, f"expected {wanted}, found {name_of(self.window.data[place - 1])} without")

    def _rest(self) -> Any:
        """Close what is open, from the innermost on, and return the outermost object: what was read before reading ended."""
        while self.below:
            items, self.stack = self.stack, self.below.pop()
            try:
                self._close(items)
            except Ended:
                continue  # what would not fit is left out; why reading ended is known already
        return self.stack[0] if self.stack else None

    def _close(self, items: list[Any]) -> None:
        """Give the items after a MARK to what stands before it. An entry, block or line that is not whole is left out."""
        holder = self.stack[-1] if self.stack else None
        if type(holder) is OpenList:
            self._extend(holder, items, 0)
        elif type(holder) is OpenDict:
            self._update(holder, items[: len(items) // 2 * 2], 0)
            if holder.keys() & _OF_ROWS:
                self.stack.pop()
            elif len(self.stack) > 1 and type(self.stack[-2]) is OpenList:  # a list of one: APPEND comes after its item
                self.stack.pop()
                self._extend(self.stack[-1], [holder], 0)

    # Values ------------------------------------------------------------------------------------------------------------------

    def _push(self, value: Any, place: int) -> None:
        self.stack.append(value)
        if len(self.stack) > MOST_ITEMS:
            raise self._bad(place, f"expected at most {MOST_ITEMS:,} values in a row")

    def _small(self, place: int) -> int:
        self._push(self.window.data[place], place)
        return place + 1

    def _short(self, place: int) -> int:
        data = self.window.data
        self._push(data[place] | data[place + 1] << 8, place)
        return place + 2

    def _int(self, place: int) -> int:
        self._push(int.from_bytes(self.window.data[place : place + 4], "little", signed=True), place)
        return place + 4

    def _float(self, place: int) -> int:
        self._push(_FLOAT.unpack_from(self.window.data, place)[0], place)
        return place + 8

    def _long(self, place: int) -> int:
        return self._whole(place + 1, self.window.data[place])

    def _longer(self, place: int) -> int:
        return self._whole(place + 4, self._length(place, 4))

    def _whole(self, place: int, length: int) -> int:
        place = self._there(place, length, LONGEST_NUMBER)
        self._push(int.from_bytes(self.window.data[place : place + length], "little", signed=True), place)
        return place + length

    def _text(self, place: int) -> int:
        return self._decoded(place + 1, self.window.data[place])

    def _long_text(self, place: int) -> int:
        return self._decoded(place + 4, self._length(place, 4))

    def _longest_text(self, place: int) -> int:
        return self._decoded(place + 8, self._length(place, 8))

    def _decoded(self, place: int, length: int) -> int:
        place = self._there(place, length, LONGEST_TEXT)
        self._push(str(self.window.data[place : place + length], "utf-8", "replace"), place)
        return place + length

    def _length(self, place: int, size: int) -> int:
        return int.from_bytes(self.window.data[place : place + size], "little")

    def _there(self, place: int, length: int, most: int) -> int:
        """Return the place once the next `length` bytes are in the window."""
        window = self.window
        left = window.size - window.base - place
        if length > left:
            text = f"expected at most {left:,} bytes to the end of the file, found a length of {length:,}"
            raise Ended(window.base + place, "bad_length", text)
        if length > most:
            text = f"expected at most {most:,} bytes, found a length of {length:,}"
            raise Ended(window.base + place, "bad_message", text)
        if place + length > len(window.data):
            place = window.move(place, length + 1)
            if len(window.data) < length:
                raise Ended(window.base, "truncated", "the file became shorter while it was read")
        return place

    # Lists, dicts, tuples ----------------------------------------------------------------------------------------------------

    def _mark(self, place: int) -> int:
        if len(self.below) >= MOST_DEEP:
            raise self._bad(place, f"expected at most {MOST_DEEP} lists and dicts within each other")
        self.below.append(self.stack)
        self.stack = []
        return place

    def _to_mark(self, place: int) -> list[Any]:
        if not self.below:
            raise self._wrong(place, "a MARK before")
        items, self.stack = self.stack, self.below.pop()
        return items

    def _empty_dict(self, place: int) -> int:
        if self.below and self.below[-1] and type(self.below[-1][-1]) is OpenList:
            if self.stack and type(self.stack[-1]) is OpenDict:  # rows have the order of the file
                self._add(self.stack, self.stack.pop(), place)
            if self.form is not None:
                after, taken = self.form.read(self.window, place - 1)
                if taken is not None:
                    self._join(self.stack, taken)
                    return after
        self._push(OpenDict(), place)
        return place

    def _empty_list(self, place: int) -> int:
        self._push(OpenList(), place)
        return place

    def _holder(self, kind: type, place: int) -> Any:
        holder = self.stack[-1] if self.stack else None
        if type(holder) is not kind:
            raise self._wrong(place, "a dict" if kind is OpenDict else "a list")
        return holder

    def _append(self, place: int) -> int:
        if not self.stack:
            raise self._wrong(place, "an item")
        item = self.stack.pop()
        self._extend(self._holder(OpenList, place), [item], place)
        return place

    def _appends(self, place: int) -> int:
        items = self._to_mark(place)
        self._extend(self._holder(OpenList, place), items, place)
        return place

    def _extend(self, holder: OpenList, items: list[Any], place: int) -> None:
        self._finish(items, place, holder)
        for item in items:
            self._add(holder, item, place)
            self._held += type(holder[-1]) is not TakenRows
        self._hold(0, place)

    def _add(self, holder: list[Any], item: Any, place: int) -> None:
        """Append an item of a list: what stands for it if it is a row of a table."""
        if type(item) is OpenDict:
            taken = self.columns.take(item, self._offset(place))
            if taken is not item:
                self._held -= len(item) + sum(len(value) for value in item.values() if type(value) is tuple)
                self.memo.replace(item, None if type(taken) is TakenRows else taken)
            if "action" in item:
                self._learn(item)
            item = taken
        self._join(holder, item)

    def _learn(self, entry: OpenDict) -> None:
        """Count an entry that had to be read one by one; take the form of entries from it if there were many."""
        self._one_by_one += 1
        if self._one_by_one >= self._patience:
            self.form = EntryForm.of(entry, self.memo, self.columns)
            self._one_by_one, self._patience = 0, 2 * self._patience

    def _finish(self, items: Iterable[Any], place: int, holder: OpenList | OpenDict | None = None) -> None:
        """Note that lists and dicts have been put into another one: they may not change any more, so none contains itself."""
        for item in items:
            if type(item) is OpenDict or type(item) is OpenList:
                item.whole = True
        if holder is not None and holder.whole:
            raise self._bad(place, "expected no list or dict within itself")

    @staticmethod
    def _join(holder: list[Any], item: Any) -> None:
        """Append an item, or make the range before it longer."""
        if type(item) is TakenRows and holder:
            before = holder[-1]
            if type(before) is TakenRows and before.kind == item.kind and before.end == item.begin:
                before.end = item.end
                return
        holder.append(item)

    def _hold(self, count: int, place: int) -> None:
        self._held += count
        if self._held > MOST_HELD:
            raise self._bad(place, f"expected at most {MOST_HELD:,} values besides entries and stacks")

    def _set_item(self, place: int) -> int:
        if len(self.stack) < 3:
            raise self._wrong(place, "a key and a value")
        items = self.stack[-2:]
        del self.stack[-2:]
        self._update(self._holder(OpenDict, place), items, place)
        return place

    def _set_items(self, place: int) -> int:
        items = self._to_mark(place)
        if len(items) % 2:
            raise self._wrong(place, "a value for each key")
        self._update(self._holder(OpenDict, place), items, place)
        return place

    def _update(self, holder: OpenDict, items: list[Any], place: int) -> None:
        keys, values = items[::2], items[1::2]
        if not all(type(key) is str for key in keys):
            raise self._bad(place, "expected texts as the keys of a dict")
        self._finish(values, place, holder)
        size = len(holder)
        for key, value in zip(keys, values, strict=True):
            if key == "frames" and type(value) is OpenList:
                stack = self.columns.stack_number(value, self._offset(place)) if not self._other(value) else value
                if stack is not value:
                    self._held -= len(value)
                    self.memo.replace(value, stack)
                holder[key] = stack
            else:
                holder[key] = value
        if len(holder) > MOST_KEYS:
            raise self._bad(place, f"expected at most {MOST_KEYS:,} keys of a dict")
        self._hold(len(holder) - size, place)

    @staticmethod
    def _other(value: OpenList) -> bool:
        """Return whether a list called frames holds something else."""
        return any(type(item) in (OpenDict, OpenList, TakenRows) for item in value)

    def _tuple(self, count: int, place: int) -> int:
        if len(self.stack) < count:
            raise self._wrong(place, f"{count} values")
        items = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        self._hold(len(items), place)
        self._finish(items, place)
        self._push(items, place)
        return place

    def _marked_tuple(self, place: int) -> int:
        items = tuple(self._to_mark(place))
        self._hold(len(items), place)
        self._finish(items, place)
        self._push(items, place)
        return place

    # The memo, and the ends --------------------------------------------------------------------------------------------------

    def _memoize(self, place: int) -> int:
        if not self.stack:
            raise self._wrong(place, "a value")
        self.memo.remember(self.stack[-1], self._offset(place))
        return place

    def _put(self, place: int) -> int:
        return self._put_at(self.window.data[place], place, 1)

    def _long_put(self, place: int) -> int:
        return self._put_at(self._length(place, 4), place, 4)

    def _put_at(self, index: int, place: int, size: int) -> int:
        known = len(self.memo.places)
        if index != known:
            raise self._bad(place, f"expected {known:,} as the number of the next object, found {index:,}")
        self._memoize(place)
        return place + size

    def _get(self, place: int) -> int:
        return self._get_at(self.window.data[place], place, 1)

    def _long_get(self, place: int) -> int:
        return self._get_at(self._length(place, 4), place, 4)

    def _get_at(self, index: int, place: int, size: int) -> int:
        value = self.memo.get(index, self._offset(place))
        self._push(value, place)
        return place + size

    def _protocol(self, place: int) -> int:
        version = self.window.data[place]
        if not 2 <= version <= 5:
            raise self._bad(place, f"expected protocol 2 to 5, found {version}")
        return place + 1

    def _frame(self, place: int) -> int:
        end = self.window.base + place + 8 + self._length(place, 8)
        self._frame_end = max(self._frame_end, end)
        return place + 8

    def _stop(self, place: int) -> int:
        self._stopped = True
        if self._frame_end > self.window.size:
            text = f"expected frames within the {self.window.size:,} bytes of the file, found one up to {self._frame_end:,}"
            raise Ended(self._offset(place), "bad_length", text)
        return place

    def _refuse(self, place: int) -> int:
        name = name_of(self.window.data[place - 1])
        raise self._bad(place, f"expected an opcode that a snapshot holds, found {name}; it was not executed")


Handler = Callable[[Machine, int], int]


def _constant(value: Any) -> Handler:
    def push(machine: Machine, place: int) -> int:
        machine._push(value, place)
        return place

    return push


def _tuple_of(count: int) -> Handler:
    return lambda machine, place: machine._tuple(count, place)


_BY_NAME: dict[str, Handler] = {
    "PROTO": Machine._protocol, "FRAME": Machine._frame, "MARK": Machine._mark, "STOP": Machine._stop,
    "EMPTY_DICT": Machine._empty_dict, "SETITEM": Machine._set_item, "SETITEMS": Machine._set_items,
    "EMPTY_LIST": Machine._empty_list, "APPEND": Machine._append, "APPENDS": Machine._appends, "EMPTY_TUPLE": _tuple_of(0),
    "TUPLE1": _tuple_of(1), "TUPLE2": _tuple_of(2), "TUPLE3": _tuple_of(3), "TUPLE": Machine._marked_tuple,
    "MEMOIZE": Machine._memoize, "BINPUT": Machine._put, "LONG_BINPUT": Machine._long_put, "BINGET": Machine._get,
    "LONG_BINGET": Machine._long_get, "BININT": Machine._int, "BININT1": Machine._small, "BININT2": Machine._short,
    "LONG1": Machine._long, "LONG4": Machine._longer, "BINFLOAT": Machine._float, "NEWTRUE": _constant(True),
    "NEWFALSE": _constant(False), "NONE": _constant(None), "SHORT_BINUNICODE": Machine._text,
    "BINUNICODE": Machine._long_text, "BINUNICODE8": Machine._longest_text,
}  # fmt: skip
_HANDLERS: list[Handler] = [_BY_NAME[READ[code][0]] if code in READ else Machine._refuse for code in range(256)]
