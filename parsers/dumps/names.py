"""Names in dumps: of files and operators of MindSpore's kernel dump, and of entries of msprobe.

A file of a tensor is `{type}.{operator}.{task}.{stream}.{time in us}.{input|output}.{slot}.{format}[.{dtype}].npy`. Up to 1.9
the operator is the last part of its name (`Conv2D-op13`), later its full name with `_` for `/`. Binary files of devices end
after the time, newer ones after four more numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

NPY = re.compile(r"(.+)\.(\d{1,18})\.((?:input|output)\.\d{1,9}\..+)", re.DOTALL)
"""Groups: what does not change between iterations before the time, the time, and the rest."""
_HEAD = re.compile(r"([^.]+)\.(.+)\.(\d{1,9})\.(\d{1,9})", re.DOTALL)
_DEVICE_HEAD = re.compile(r"([^.]+)\.(.+?)\.(\d{1,9})\.(\d{1,9})\.(\d{10,18})\.\d{1,9}\.\d{1,9}\.\d{1,9}", re.DOTALL)
_TAIL = re.compile(r"(input|output)\.(\d{1,9})((?:\.[^.]+){0,3})\.npy")
BINARY = re.compile(r"([^.]+)\.(.+?)\.(\d{1,9})\.(\d{1,9})\.(\d{10,18})(?:\.\d{1,9}\.\d{1,9}\.\d{1,9}\.\d{1,9})?", re.DOTALL)
OPDEBUG = re.compile(r"Opdebug\.Node_OpDebug\.(\d{1,9})\.(\d{1,9})\.(\d{1,18})(?:\.\d+)*(?P<json>\.output\.\d+\.json)?")
MAPPING = "mapping.csv"
STATISTIC = "statistic.csv"
_NUMBER = re.compile(r"-op\d+\Z")

DTYPES: Mapping[str, str] = {
    "float": "float32", "half": "float16", "bf16": "bfloat16", "double": "float64", "bool_": "bool", "bool8": "bool",
    "long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8",
}  # fmt: skip


def dtype_named(text: str) -> str:
    """Return the name of a dtype as numpy has it: Float32, torch.float32, FLOAT and float32 are all float32."""
    name = text.rpartition(".")[2].lower()
    return DTYPES.get(name, name)


class TensorFileName(NamedTuple):
    """The parts of the name of a file of a tensor that are the same in all iterations."""

    type: str
    operator: str
    task: int
    stream: int
    io: str
    slot: int
    format: str
    dtype: str


def tensor_name(head: str, tail: str) -> TensorFileName | None:
    """Parse what stands before and after the time in a file name (groups of NPY); None if it is no such name.

    After the slot stand format and dtype; in files that the vendor's tool converted shape, dtype and format.
    """
    first, last = _DEVICE_HEAD.fullmatch(head) or _HEAD.fullmatch(head), _TAIL.fullmatch(tail)
    if first is None or last is None:
        return None
    words = last[3].split(".")[1:]
    layout, dtype = (words[2], words[1]) if len(words) == 3 else ((*words, "", "")[:2])
    return TensorFileName(first[1], first[2], int(first[3]), int(first[4]), last[1], int(last[2]), layout, dtype_named(dtype))


def time_in(head: str, digits: str) -> int:
    """Return the time in us of a file name: its digits, or of files of newer devices those before four more numbers."""
    found = _DEVICE_HEAD.fullmatch(head) if len(digits) < 10 else None
    return int(found[5]) if found is not None else int(digits)


def without_number(name: str) -> str:
    """Return the name of an operator without its -op<n>."""
    return _NUMBER.sub("", name)


def _flat(name: str) -> str:
    """Return the name of an operator as it is in file names; characters that paths do not allow become _."""
    return re.sub(r"[./\\ ]", "_", name)


def number_of(name: str) -> int:
    """Return the <n> of -op<n>; -1 for none."""
    found = _NUMBER.search(name)
    return int(found[0][3:]) if found else -1


def joined_names(recorded: Iterable[str], full: Sequence[str]) -> dict[str, int]:
    """Return operator in file names -> its index in `full`, the operators of the graph.

    Names are equal but for `/`. Where operators of one name without -op<n> have other numbers in the files than in the graph,
    they are joined in the order of their numbers, if there are as many of both. Short names of old versions are the last
    part of a full name.
    """
    found: dict[str, int] = {}
    exact = {_flat(name): place for place, name in reversed(list(enumerate(full)))}
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(full):
        groups.setdefault(without_number(_flat(name)), []).append(place)
    left: dict[str, list[str]] = {}
    short: list[str] = []
    for name in dict.fromkeys(recorded):
        flat = _flat(name)
        base = without_number(flat)
        if base in groups:
            left.setdefault(base, []).append(name)
        elif flat in exact:
            found[name] = exact[flat]
        else:
            short.append(name)
    for base, names in left.items():
        places = groups[base]
        if len(names) == len(places) and any(_flat(name) not in exact for name in names):
            ordered = sorted(places, key=lambda place: number_of(full[place]))
            found |= zip(sorted(names, key=number_of), ordered, strict=True)
            continue
        free = [place for place in places if _flat(full[place]) not in set(map(_flat, names))]
        for name in sorted(names, key=number_of):
            if _flat(name) in exact:
                found[name] = exact[_flat(name)]
            elif free:
                found[name] = free.pop(0)
    if short:
        last: dict[str, int] = {}
        for place, name in enumerate(full):
            last.setdefault(_flat(name.rpartition("/")[2]), place)
        found |= {name: last[_flat(name)] for name in short if _flat(name) in last}
    return found


class EntryName(NamedTuple):
    """An entry of msprobe's dump.json: what made it, the path of its module, its class or function, direction and call."""

    prefix: str
    path: str
    type: str
    direction: str
    call: int


_CALL = re.compile(r"(?P<rest>.+)\.(?P<call>\d{1,9})\.(?P<direction>forward|backward)", re.DOTALL)
_MODULE = re.compile(r"(?P<rest>.+)\.(?P<direction>forward|backward|parameters_grad)\.(?P<call>\d{1,9})", re.DOTALL)
_DEBUG = re.compile(r"(?P<rest>.+)\.(?P<call>\d{1,9})\.(?P<direction>debug)", re.DOTALL)


def entry_name(name: str) -> EntryName:
    """Parse the name of an entry from the right: paths and functions may have dots and digits. Any name gives something."""
    for pattern in (_MODULE, _CALL, _DEBUG):
        match = pattern.fullmatch(name)
        if match is None:
            continue
        prefix, _, rest = match["rest"].partition(".")
        if pattern is _DEBUG:
            return EntryName("", match["rest"], "debug", "debug", int(match["call"]))
        path, _, kind = rest.rpartition(".")
        if pattern is _CALL and prefix != "Primitive":
            path, kind = "", rest
        return EntryName(prefix, path, kind or prefix, match["direction"], int(match["call"]))
    return EntryName("", name, name, "", 0)
