"""Reads one tensor from a .pt file of torch.save, without torch.

The file is a zip archive: `{stem}/data.pkl`, a pickle that describes the tensor, and `{stem}/data/{key}`, its storage as raw
bytes. The pickle is not unpickled: its opcodes are read one by one, and only those that build a tensor record are accepted:
`torch._utils._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks)`, also within `_rebuild_parameter`. Any
other name or opcode is refused, so nothing in a file is ever called.
"""

from __future__ import annotations

import math
import pickletools
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from parsers.archives import is_stored, member_begin, open_archive
from parsers.errors import FormatError
from parsers.files import RegularFile

_LONGEST = 1 << 20
"""Bytes of the description of a tensor, and of the directory of its archive."""
_MOST_OPCODES = 100_000
_LARGEST = 2**63 - 1
"""Python writes no numbers of thousands of digits, which a pickle may have."""
STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8", "ByteStorage": "uint8",
    "BoolStorage": "bool", "ComplexFloatStorage": "complex64", "ComplexDoubleStorage": "complex128",
}  # fmt: skip
ITEMSIZE = {
    "float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1,
    "bool": 1, "complex64": 8, "complex128": 16,
}  # fmt: skip
_MARK = object()


@dataclass(frozen=True, slots=True)
class PickledName:
    """A name in the pickle, never imported."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Storage:
    """The values of a tensor: their type, the name of their member of the archive, and their number."""

    dtype: str
    key: str
    count: int


@dataclass(frozen=True, slots=True)
class TorchTensor:
    """A tensor in a .pt file: dtype, shape, strides and offset in values, and where its storage is in the file, in bytes."""

    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    first: int
    offset: int
    size_bytes: int
    big_endian: bool

    @property
    def contiguous(self) -> bool:
        """Return whether the values follow each other in the order of the shape."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size != 1 and stride != step:
                return False
            step *= size
        return True


def read_record(file: RegularFile) -> TorchTensor:
    """Return the tensor that a .pt file holds; FormatError for anything but one tensor in its documented form."""
    with open_archive(file, "a zip archive of torch.save", _LONGEST) as archive:
        members = archive.infolist()
        pickled = _member(members, "/data.pkl")
        if not is_stored(pickled, _LONGEST):
            raise FormatError(f"expected a description of at most {_LONGEST:,} stored bytes, found {pickled.file_size:,}")
        record = _tensor(archive.read(pickled))
        stem = pickled.filename.removesuffix("data.pkl")
        order = next((archive.read(one) for one in members if one.filename == f"{stem}byteorder" and is_stored(one, 15)), b"")
        storage, first, shape, stride = record
        place = _member(members, f"{stem}data/{storage.key}", whole=True)
    if place.compress_type != zipfile.ZIP_STORED or place.file_size != place.compress_size:
        raise FormatError("expected a storage without compression, found a compressed one")
    item = ITEMSIZE[storage.dtype]
    if storage.count * item != place.file_size:
        raise FormatError(
            f"the shape does not match the bytes: expected {storage.count:,} values of {item} bytes, found {place.file_size:,}"
        )
    check_view(shape, stride, first, storage.count)
    begin = member_begin(file, place)
    if begin + place.file_size > file.size:
        raise FormatError(f"truncated: expected {place.file_size:,} bytes of values, found {max(file.size - begin, 0):,}")
    return TorchTensor(storage.dtype, shape, stride, first, begin, place.file_size, order.strip() == b"big")


def _member(members: list[zipfile.ZipInfo], name: str, *, whole: bool = False) -> zipfile.ZipInfo:
    found = [one for one in members if (one.filename == name if whole else one.filename.endswith(name))]
    if len(found) != 1:
        raise FormatError(f"expected one {name.lstrip('/')} in the archive, found {len(found)}")
    return found[0]


def check_view(shape: tuple[int, ...], stride: tuple[int, ...], first: int, count: int) -> None:
    """Raise FormatError for a view of values that are not there, or of far more than there are."""
    if len(shape) != len(stride) or len(shape) > 64 or min((*shape, *stride, first), default=0) < 0:
        raise FormatError(f"expected sizes and strides from 0, found {shape[:8]} and {stride[:8]}")
    if not math.prod(shape):
        return
    last = first + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    if last >= count:
        raise FormatError(f"the shape does not match the bytes: expected at least {last + 1:,} values, found {count:,}")
    if math.prod(shape) > 64 * max(count, 1):
        raise FormatError(f"expected at most 64 times the stored values, found a view of {math.prod(shape):,} of {count:,}")


def _tensor(data: bytes) -> tuple[Storage, int, tuple[int, ...], tuple[int, ...]]:
    """Return storage, first value, shape and strides from the pickle."""
    try:
        found = _TorchReading().run(data)
    except (IndexError, KeyError, TypeError, RecursionError, UnicodeDecodeError) as error:
        raise FormatError(f"expected the record of a tensor, found a damaged pickle ({error})") from error
    if not (isinstance(found, tuple) and len(found) == 4 and isinstance(found[0], Storage)):
        raise FormatError("expected the record of one tensor, found something else")
    return found


class _TorchReading:
    """The stack and memo of the opcodes of one record."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        for number, (code, argument) in enumerate(opcodes(data)):
            if number > _MOST_OPCODES:
                raise FormatError(f"expected at most {_MOST_OPCODES:,} opcodes, found more")
            if code == "STOP":
                if len(self._stack) != 1:
                    raise FormatError("expected the record of one tensor, found several values")
                return self._stack[0]
            self._apply(code, argument)
        raise FormatError("truncated: the record of the tensor has no end")

    def _apply(self, code: str, argument: Any) -> None:
        stack, memo = self._stack, self._memo
        if code in ("PROTO", "FRAME"):
            return
        if code in _CONSTANTS:
            stack.append(_CONSTANTS[code])
        elif code in _VALUES:
            stack.append(argument)
        elif code == "GLOBAL":
            stack.append(_named(*str(argument).split(" ", 1)))
        elif code == "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(_named(str(module), str(name)))
        elif code in ("EMPTY_DICT", "EMPTY_TUPLE"):
            stack.append(())
        elif code == "MARK":
            stack.append(_MARK)
        elif code == "TUPLE":
            at = len(stack) - 1 - stack[::-1].index(_MARK) if _MARK in stack else -1
            if at < 0:
                raise FormatError("expected the begin of a tuple, found none")
            stack[at:] = [tuple(stack[at + 1 :])]
        elif code in _TUPLES:
            count = _TUPLES[code]
            if len(stack) < count:
                raise FormatError("expected the values of a tuple, found fewer")
            stack[-count:] = [tuple(stack[-count:])]
        elif code == "MEMOIZE":
            memo[len(memo)] = stack[-1]
        elif code in ("BINPUT", "LONG_BINPUT"):
            memo[int(argument)] = stack[-1]
        elif code in ("BINGET", "LONG_BINGET"):
            stack.append(memo[int(argument)])
        elif code == "BINPERSID":
            stack.append(storage_of(stack.pop()))
        elif code == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(built(function, arguments))
        else:
            raise FormatError(f"expected the record of a tensor, found the opcode {code}; nothing in a file is run")


_CONSTANTS = {"NEWTRUE": True, "NEWFALSE": False, "NONE": None}
_VALUES = frozenset(("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE", "SHORT_BINUNICODE"))
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def opcodes(data: bytes) -> Iterator[tuple[str, Any]]:
    """Yield name and argument of each opcode of a pickle; FormatError for bytes that are none."""
    try:
        for code, argument, _ in pickletools.genops(data):
            yield code.name, argument
    except ValueError as error:
        raise FormatError(f"expected the record of a tensor, found a damaged pickle ({error})") from error


def _named(module: str, name: str) -> PickledName:
    known = PickledName(module, name)
    if known in (_TENSOR, _PARAMETER, _ORDERED) or (module == "torch" and name in STORAGES):
        return known
    raise FormatError(f"expected the record of a tensor, found the name {module}.{name}; nothing in a file is run")


_TENSOR = PickledName("torch._utils", "_rebuild_tensor_v2")
_PARAMETER = PickledName("torch._utils", "_rebuild_parameter")
_ORDERED = PickledName("collections", "OrderedDict")


def storage_of(persistent: Any) -> Storage:
    """Return the storage that a persistent id names."""
    if not (isinstance(persistent, tuple) and len(persistent) == 5 and persistent[0] == "storage"):
        raise FormatError("expected the place of a storage, found something else")
    kind, key, count = persistent[1], persistent[2], persistent[4]
    if not (
        isinstance(kind, PickledName)
        and kind.name in STORAGES
        and isinstance(key, str)
        and isinstance(count, int)
        and 0 <= count <= _LARGEST
    ):
        raise FormatError("expected type, key and size of a storage, found something else")
    return Storage(STORAGES[kind.name], key, count)


def _is_number(value: Any) -> bool:
    return type(value) is int and abs(value) <= _LARGEST


def built(function: Any, arguments: Any) -> Any:
    """Return what a call in the record stands for, without calling anything."""
    if function == _ORDERED and arguments == ():
        return ()
    if function == _PARAMETER and isinstance(arguments, tuple) and arguments:
        return arguments[0]
    if function == _TENSOR and isinstance(arguments, tuple) and len(arguments) >= 4:
        storage, first, shape, stride = arguments[:4]
        numbers = isinstance(shape, tuple) and isinstance(stride, tuple) and all(map(_is_number, (first, *shape, *stride)))
        if isinstance(storage, Storage) and numbers:
            return storage, first, shape, stride
    raise FormatError("expected the arguments of a tensor, found others")
