"""Reads where the arrays of an .npz file are (numpy.lib.format): a zip archive of .npy files. Nothing is unpickled."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping

import numpy as np

from parsers.archives import member_begin, open_archive
from parsers.dumps.npy import parse_header
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.weights.model import LONGEST_DIRECTORY, MOST_TENSORS, StoredBytes, WeightTensor, checked

_HEAD = 1 << 16


def tensors(file: RegularFile) -> Mapping[str, WeightTensor]:
    """Return the arrays of a file by name. Raises FormatError; compressed members and arrays of objects are refused."""
    with open_archive(file, "a zip archive of arrays", LONGEST_DIRECTORY) as archive:
        members = [one for one in archive.infolist() if one.filename.endswith(".npy")]
    if len(members) > MOST_TENSORS:
        raise FormatError(f"expected up to {MOST_TENSORS:,} arrays, found {len(members):,}")
    return {one.filename.removesuffix(".npy"): _tensor(file, one) for one in members}


def _tensor(file: RegularFile, member: zipfile.ZipInfo) -> WeightTensor:
    name = member.filename.removesuffix(".npy")
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
        raise FormatError(f"{name[:200]}: expected an array without compression (numpy.savez), found a compressed one")
    begin = member_begin(file, member)
    head = file.read(begin, min(_HEAD, member.file_size))
    if head[:6] != b"\x93NUMPY" or len(head) < 12 or head[6] not in (1, 2, 3):
        raise FormatError(f"{name[:200]}: expected an array of numpy, found other bytes")
    start = 10 if head[6] == 1 else 12
    (length,) = struct.unpack_from("<H" if head[6] == 1 else "<I", head, 8)
    if start + length > len(head):
        raise FormatError(f"{name[:200]}: expected a header of at most {_HEAD:,} bytes, found {length:,}")
    header = parse_header(head[start : start + length].decode("latin-1"), start + length)
    if header.dtype.kind not in "fiub":
        raise FormatError(f"{name[:200]}: expected numbers, found {header.dtype}")
    kind = np.dtype(header.dtype)
    piece = StoredBytes(begin + start + length, member.file_size - start - length)
    found = WeightTensor(kind.name, header.shape, (piece,), big_endian=kind.byteorder == ">", fortran=header.fortran_order)
    return checked(name, found, file.size)
