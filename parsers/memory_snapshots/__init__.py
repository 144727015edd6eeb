"""Reads memory snapshots of torch and torch_npu (`torch.cuda.memory._dump_snapshot`): pickles of dicts, lists, texts, numbers.

Nothing is unpickled. The opcodes that such files hold are read one by one, and any other ends the reading: no name in a file
is ever looked up. Files are read in pieces; entries go into columns as they are read, and equal stacks are kept once.
"""

from __future__ import annotations

from parsers.memory_snapshots.reader import MemorySnapshot, is_memory_snapshot, read_memory_snapshot

__all__ = ["MemorySnapshot", "is_memory_snapshot", "read_memory_snapshot"]
