"""Names the compression of a file that is read only without it, by its first bytes, so that a message can say what to do."""

from __future__ import annotations

_MAGIC = (
    (b"\x28\xb5\x2f\xfd", "zstd"), (b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\x00", "xz"), (b"BZh", "bzip2"),
    (b"\x04\x22\x4d\x18", "lz4"),
)  # fmt: skip


def packed_as(head: bytes) -> str:
    """Return what a file with this beginning is, with what to do; "" if it is not compressed by a program that we know."""
    name = next((name for magic, name in _MAGIC if head.startswith(magic)), "")
    return f"a file compressed by {name}, which has to be unpacked first" if name else ""
