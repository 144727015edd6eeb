"""Files that are compressed in a way that is not read: one message that names it, and nothing is unpacked, also of a bomb."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest

from parsers.errors import FormatError
from parsers.profiler.trace import chrome
from parsers.weights import opened

BLOCK = 128 << 10


def zstd_bomb(blocks: int = 100_000) -> bytes:
    """A frame of zstd (RFC 8878, 3.1.1) whose blocks are one byte, each repeated 131,072 times: 13 GB in 400 kB."""
    head = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", blocks * BLOCK)
    block = struct.pack("<I", 1 << 1 | BLOCK << 3)[:3] + b"x"
    last = struct.pack("<I", 1 | 1 << 1 | BLOCK << 3)[:3] + b"x"
    return head + block * (blocks - 1) + last


@pytest.mark.parametrize("data", [zstd_bomb(), zstd_bomb()[:1000], zstd_bomb()[:4]], ids=["bomb", "cut", "magic"])
@pytest.mark.parametrize("name", ["trace_view.json", "trace_view.json.gz"])
def test_a_trace_of_zstd_is_named_and_not_unpacked(data: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    tracemalloc.start()
    try:
        trace = chrome.read(str(tmp_path / name), None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(trace.slices) == 0
    assert [problem.text for problem in trace.problems if "compressed by zstd" in problem.text]
    assert peak < 16 << 20


@pytest.mark.parametrize(
    ("head", "found"), [(zstd_bomb(), "zstd"), (b"\x1f\x8b\x08", "gzip"), (b"\xfd7zXZ\x00\x00", "xz"), (b"BZh9", "bzip2")]
)
def test_a_checkpoint_that_is_compressed_is_named(head: bytes, found: str, tmp_path: Path) -> None:
    (tmp_path / "net.ckpt").write_bytes(head)
    with pytest.raises(FormatError, match=f"found a file compressed by {found}, which has to be unpacked first"):
        opened(str(tmp_path / "net.ckpt"))
