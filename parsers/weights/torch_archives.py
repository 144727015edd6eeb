"""Reads where the tensors of a checkpoint of torch are: a zip archive of torch.save with dicts of tensors.

Its pickle is not unpickled: the opcodes are read one by one (`parsers.dumps.torch_files`), and build dicts, lists and records
of tensors. Whatever else a training saves (optimizers, options, classes of its own) becomes a placeholder; nothing is called.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from typing import Any

from parsers.archives import is_stored, member_begin, open_archive
from parsers.dumps.torch_files import (
    ITEMSIZE,
    PickledName,
    Storage,
    built,
    check_view,
    opcodes,
    storage_of,
)
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.weights.model import LONGEST_DIRECTORY, StoredBytes, WeightTensor, checked

LONGEST_PICKLE = 256 << 20
MOST_OPCODES = 20_000_000
MOST_CONTAINERS = 500_000
"""Lists and dicts of a description: an empty one is a byte there and 72 in memory."""
FEWEST_BYTES = 4
"""Bytes of a long description per tuple or call, and per value that is remembered, on average. One takes a byte there and up
to a hundred in memory; torch writes twenty bytes or more."""
NESTED = ("state_dict", "model_state_dict", "model", "module", "network", "net", "params")
"""Keys under which programs save the weights among other things, in the order in which they are looked for."""
DEEPEST = 4
"""Dicts within each other that are looked into."""
PREFIX = "module."
"""Before every name if the network was wrapped for several devices."""
_MARK = object()
_CONSTANTS = {"NEWTRUE": True, "NEWFALSE": False, "NONE": None, "EMPTY_TUPLE": ()}
_VALUES = frozenset((
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "UNICODE", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8", "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
))  # fmt: skip
_CONTAINERS = frozenset(("EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "LIST", "DICT"))
_CALLS = {"REDUCE": 2, "NEWOBJ": 2, "NEWOBJ_EX": 3}
_MADE = frozenset(("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", *_CALLS))


class _Opaque(dict[Any, Any]):
    """What a call stands for that builds no tensor: it takes items and a state, and is nothing."""


def tensors(file: RegularFile) -> Mapping[str, WeightTensor]:
    """Return the tensors of the weights in a file. Raises FormatError, also where nothing in it is a dict of tensors."""
    with open_archive(file, "a zip archive of torch.save", LONGEST_DIRECTORY) as archive:
        members = {one.filename: one for one in archive.infolist()}
        pickled = [one for name, one in members.items() if name.endswith("/data.pkl") or name == "data.pkl"]
        if len(pickled) != 1:
            raise FormatError(f"expected one data.pkl in the archive of torch.save, found {len(pickled)}")
        if not is_stored(pickled[0], LONGEST_PICKLE):
            raise FormatError(f"expected a description of at most {LONGEST_PICKLE:,} stored bytes")
        content = archive.read(pickled[0])
        stem = pickled[0].filename.removesuffix("data.pkl")
        order = members.get(f"{stem}byteorder")
        is_big = order is not None and is_stored(order, 15) and archive.read(order).strip() == b"big"
    records = _weights(_StateReading().run(content))
    if not records:
        raise FormatError("expected tensors by name, alone or under one of " + ", ".join(NESTED) + "; found none")
    return {name: _stored(file, name, one, members, stem, is_big) for name, one in _plain_names(records).items()}


def _stored(
    file: RegularFile, name: str, record: Any, members: Mapping[str, zipfile.ZipInfo], stem: str, is_big: bool
) -> WeightTensor:
    storage, first, shape, stride = record
    member = members.get(f"{stem}data/{storage.key}")
    if member is None or member.compress_type != zipfile.ZIP_STORED:
        raise FormatError(f"{name[:200]}: expected its values as a stored member of the archive, found none")
    if storage.count * ITEMSIZE[storage.dtype] != member.file_size:
        raise FormatError(f"{name[:200]}: expected {storage.count:,} values, found {member.file_size:,} bytes")
    check_view(shape, stride, first, storage.count)
    piece = StoredBytes(member_begin(file, member), member.file_size)
    view = None if first == 0 and _contiguous(shape, stride, storage.count) else stride
    return checked(name, WeightTensor(storage.dtype, shape, (piece,), big_endian=is_big, stride=view, first=first), file.size)


def _contiguous(shape: tuple[int, ...], stride: tuple[int, ...], count: int) -> bool:
    step = 1
    for size, apart in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and apart != step:
            return False
        step *= size
    return step == count


def _is_record(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 4 and isinstance(value[0], Storage)


def _weights(saved: Any, depth: int = 0) -> dict[str, Any]:
    """Return the records of tensors of the first dict that has any, by name."""
    if not isinstance(saved, dict) or depth > DEEPEST:
        return {}
    own = {key: value for key, value in saved.items() if isinstance(key, str) and _is_record(value)}
    if own:
        return own
    return next((found for key in NESTED if (found := _weights(saved.get(key), depth + 1))), {})


def _plain_names(records: Mapping[str, Any]) -> dict[str, Any]:
    wrapped = all(name.startswith(PREFIX) for name in records)
    return {name.removeprefix(PREFIX) if wrapped else name: one for name, one in records.items()}


class _StateReading:
    """The stack and memo of the opcodes of a checkpoint."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        try:
            containers = made = 0
            most = max(MOST_CONTAINERS, len(data) // FEWEST_BYTES)
            for number, (code, argument) in enumerate(opcodes(data)):
                containers += code in _CONTAINERS
                made += code in _MADE
                if made > most or len(self._memo) > most:
                    raise FormatError(f"expected at most {most:,} tuples, calls or remembered values, found more")
                if containers > MOST_CONTAINERS:
                    raise FormatError(f"expected at most {MOST_CONTAINERS:,} lists and dicts, found more")
                if number > MOST_OPCODES:
                    raise FormatError(f"expected at most {MOST_OPCODES:,} opcodes, found more")
                if code == "STOP":
                    return self._stack[-1]
                self._apply(code, argument)
        except (IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"expected the pickle of a checkpoint, found a damaged one ({error})") from error
        raise FormatError("truncated: the pickle of the checkpoint has no end")

    def _apply(self, code: str, argument: Any) -> None:
        stack, memo = self._stack, self._memo
        if code in ("PROTO", "FRAME"):
            return
        if code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code in _VALUES:
            stack.append(argument)
        elif code == "GLOBAL":
            stack.append(PickledName(*str(argument).split(" ", 1)))
        elif code == "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(PickledName(str(module), str(name)))
        elif code == "MARK":
            stack.append(_MARK)
        elif code == "POP":
            stack.pop()
        elif code == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif code in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[int(argument)] = stack[-1]
        elif code in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[int(argument)])
        elif code == "BINPERSID":
            stack.append(storage_of(stack.pop()))
        elif code in _CALLS:
            arguments = [stack.pop() for _ in range(_CALLS[code])][::-1]
            stack.append(_called(arguments[0], arguments[1]))
        elif code in _STEPS:
            _STEPS[code](stack)
        else:
            raise FormatError(f"expected the pickle of a checkpoint, found the opcode {code}; nothing in a file is run")


def _called(function: Any, arguments: Any) -> Any:
    """Return the record of a tensor that a call builds, else a placeholder. Nothing is called."""
    if function in _NAMES and isinstance(function, PickledName):
        if function.module == "collections":
            return _Opaque()
        return built(function, arguments)
    return _Opaque()


_NAMES = (
    PickledName("torch._utils", "_rebuild_tensor_v2"), PickledName("torch._utils", "_rebuild_parameter"),
    PickledName("collections", "OrderedDict"),
)  # fmt: skip


def _since_mark(stack: list[Any]) -> list[Any]:
    at = len(stack) - 1
    while stack[at] is not _MARK:
        at -= 1
        if at < 0:
            raise FormatError("expected the begin of a collection, found none")
    found = stack[at + 1 :]
    del stack[at:]
    return found


def _set_items(stack: list[Any]) -> None:
    items = _since_mark(stack)
    _put(stack[-1], dict(zip(items[::2], items[1::2], strict=True)))


def _set_item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    _put(stack[-1], {key: value})


def _put(target: Any, items: Mapping[Any, Any]) -> None:
    if isinstance(target, dict):
        target.update(items)


def _append(stack: list[Any]) -> None:
    value = stack.pop()
    if isinstance(stack[-1], list):
        stack[-1].append(value)


def _extend(stack: list[Any]) -> None:
    values = _since_mark(stack)
    if isinstance(stack[-1], list):
        stack[-1].extend(values)


def _tuple_of(count: int) -> Callable[[list[Any]], None]:
    def step(stack: list[Any]) -> None:
        if len(stack) < count:
            raise FormatError("expected the values of a tuple, found fewer")
        stack[-count:] = [tuple(stack[-count:])]

    return step


def _tuple(stack: list[Any]) -> None:
    stack.append(tuple(_since_mark(stack)))


def _list(stack: list[Any]) -> None:
    stack.append(list(_since_mark(stack)))


def _dict(stack: list[Any]) -> None:
    items = _since_mark(stack)
    stack.append(dict(zip(items[::2], items[1::2], strict=True)))


def _drop(stack: list[Any]) -> None:
    _since_mark(stack)


def _build(stack: list[Any]) -> None:
    stack.pop()


_STEPS: dict[str, Callable[[list[Any]], None]] = {
    "EMPTY_DICT": lambda stack: stack.append({}), "EMPTY_LIST": lambda stack: stack.append([]),
    "EMPTY_SET": lambda stack: stack.append([]), "ADDITEMS": _extend, "FROZENSET": _list,
    "SETITEM": _set_item, "SETITEMS": _set_items, "APPEND": _append, "APPENDS": _extend, "TUPLE": _tuple,
    "TUPLE1": _tuple_of(1), "TUPLE2": _tuple_of(2), "TUPLE3": _tuple_of(3), "LIST": _list, "DICT": _dict, "BUILD": _build,
    "POP_MARK": _drop,
}  # fmt: skip
