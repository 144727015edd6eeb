"""Reads .npy files without trusting them: numpy's own reader evaluates the header and unpickles objects.

The header is a Python dict with the keys descr, fortran_order and shape. It is matched, not evaluated; MindSpore pads shapes as
`(8,4,)`. Values that numpy can only unpickle, structures and shapes that do not match the size of the file are refused.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from parsers.errors import FormatError
from parsers.files import RegularFile

MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 1 << 16
_MOST_DIMENSIONS = 64
_FIELD = re.compile(
    r"\s*'(?P<key>descr|fortran_order|shape)'\s*:\s*"
    r"(?:'(?P<text>[^'\\]*)'|(?P<flag>True|False)|\((?P<shape>[\d\sL,]*)\)|(?P<other>\[[^\]]*\]))\s*(?:,|\Z)"
)
_PLAIN = re.compile(r"[<>|=]?(?:[biufc]\d{1,2}|b1|\?|[SU]\d{1,9})")


@dataclass(frozen=True, slots=True)
class Header:
    """What an .npy file says of its values, and where these begin: offset in bytes."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    fortran_order: bool
    offset: int

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)


def read_header(file: RegularFile) -> Header:
    """Parse the header; FormatError unless it is one and the file has exactly the bytes it promises."""
    head = file.read(0, 12)
    if not file.size:
        raise FormatError("expected an npy file, found an empty one")
    if head[:6] != MAGIC[: len(head)] or len(head) < 10:
        raise FormatError(f"expected an npy file, found bytes that begin with {head[:8]!r}")
    version = head[6]
    if version not in (1, 2, 3):
        raise FormatError(f"expected version 1 to 3 of the npy format, found {version}")
    begin = 10 if version == 1 else 12
    length = int.from_bytes(head[8:begin], "little")
    if length > _LONGEST_HEADER:
        raise FormatError(f"expected a header of at most {_LONGEST_HEADER:,} bytes, found {length:,}")
    raw = file.read(begin, length)
    if len(raw) < length:
        raise FormatError(f"truncated: expected a header of {length:,} bytes, found {len(raw):,}")
    header = parse_header(raw.decode("utf-8" if version == 3 else "latin-1", "backslashreplace"), begin + length)
    wanted, found = header.size * header.dtype.itemsize, file.size - header.offset
    if found < wanted:
        raise FormatError(f"truncated: the shape needs {wanted:,} bytes, found {found:,}; the file may still be written")
    if found > wanted:
        raise FormatError(f"the shape does not match the bytes: expected {wanted:,}, found {found:,}")
    return header


@lru_cache(maxsize=4096)  # tensors of one shape have equal headers
def parse_header(text: str, offset: int) -> Header:
    """Parse the dict in a header; FormatError for anything else, and for types that are no plain values."""
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")):
        raise FormatError(f"wrong header: expected a dict of descr, fortran_order and shape, found {body[:60]!r}")
    inner = body[1:-1].strip()
    found: dict[str, re.Match[str]] = {}
    at = 0
    while at < len(inner):
        match = _FIELD.match(inner, at)
        if match is None or match["key"] in found:
            raise FormatError(f"wrong header: expected descr, fortran_order and shape, found {inner[at : at + 60]!r}")
        if match["other"] is not None:
            raise FormatError("expected plain values, found a structure of several fields")
        found[match["key"]] = match
        at = match.end()
    if found.keys() != {"descr", "fortran_order", "shape"}:
        raise FormatError(f"wrong header: expected descr, fortran_order and shape, found {', '.join(found) or 'nothing'}")
    descr, order, shape = (found[key] for key in ("descr", "fortran_order", "shape"))
    if descr["text"] is None or order["flag"] is None or shape["shape"] is None:
        raise FormatError(f"wrong header: expected a type, a flag and a shape, found {body[:80]!r}")
    return Header(_dtype(descr["text"]), _dimensions(shape["shape"]), order["flag"] == "True", offset)


def _dtype(text: str) -> np.dtype[np.generic]:
    if text.lstrip("<>|=").startswith("O"):
        raise FormatError("expected plain values, found Python objects; they are never unpickled")
    if not _PLAIN.fullmatch(text):
        raise FormatError(f"expected a type of numbers, found {text!r}")
    try:
        found = np.dtype(text)
    except (TypeError, ValueError) as error:
        raise FormatError(f"expected a type of numbers, found {text!r}") from error
    if not found.itemsize:
        raise FormatError(f"expected a type of numbers, found {text!r}")
    return found


def _dimensions(text: str) -> tuple[int, ...]:
    parts = [part.strip().rstrip("L") for part in text.split(",")]
    numbers = [part for part in parts if part]
    if len(numbers) > _MOST_DIMENSIONS or any(not part.isdecimal() or len(part) > 18 for part in numbers):
        raise FormatError(f"wrong header: expected up to {_MOST_DIMENSIONS} dimensions, found ({text[:60]})")
    return tuple(map(int, numbers))
