"""Which format a checkpoint has: by its first bytes, whatever its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from parsers.archives import open_archive
from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.packed_files import packed_as
from parsers.weights import mindspore, numpy_archives, safetensors, torch_archives
from parsers.weights.model import LONGEST_DIRECTORY, Weights, WeightTensor

READERS: Mapping[str, Callable[[RegularFile], Mapping[str, WeightTensor]]] = {
    "mindspore": mindspore.tensors, "safetensors": safetensors.tensors, "numpy": numpy_archives.tensors,
    "torch": torch_archives.tensors,
}  # fmt: skip
_HEAD = 16
_ENCRYPTED = tuple((0x7F3A5ED8 + mode).to_bytes(4, "little") for mode in range(3))
"""What a checkpoint begins with that MindSpore encrypted by AES-GCM, AES-CBC or SM4-CBC."""


def opened(path: str) -> Weights:
    """Open a checkpoint and find its tensors. Raises FormatError with file, place, expected and found, or OSError."""
    file = RegularFile(path)
    try:
        kind = kind_of(file)
        return Weights(file, kind, READERS[kind](file))
    except FormatError as error:
        file.__exit__(None, None, None)
        raise FormatError(f"{path}: {error}") from error
    except BaseException:
        file.__exit__(None, None, None)
        raise


def kind_of(file: RegularFile) -> str:
    """Return the key of READERS for a file. Raises FormatError."""
    head = file.read(0, _HEAD)
    if head[:4] == b"PK\x03\x04":
        with open_archive(file, "a whole zip archive", LONGEST_DIRECTORY) as archive:
            names = archive.namelist()
        return "torch" if any(name.endswith("data.pkl") for name in names) else "numpy"
    if safetensors.header_size(head, file.size):
        return "safetensors"
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        raise FormatError("expected a checkpoint that is no pickle, found one: save it again with torch.save of version 1.6 on")
    if head[:4] in _ENCRYPTED:
        raise FormatError(
            "byte 0: expected a checkpoint that can be read, found one that MindSpore encrypted: load it with its key, and "
            "save it again without enc_key"
        )
    if head[:1] == mindspore.VALUE:
        return "mindspore"
    found = packed_as(head) or "other bytes"
    raise FormatError(f"expected a checkpoint of MindSpore, torch, safetensors or numpy, found {found}")
