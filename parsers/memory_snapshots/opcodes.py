"""The opcodes of pickles: those that are read, with the length of their arguments, and the names of all others."""

from __future__ import annotations

READ = {
    0x80: ("PROTO", 1), 0x95: ("FRAME", 8), 0x28: ("MARK", 0), 0x2E: ("STOP", 0), 0x7D: ("EMPTY_DICT", 0),
    0x73: ("SETITEM", 0), 0x75: ("SETITEMS", 0), 0x5D: ("EMPTY_LIST", 0), 0x61: ("APPEND", 0), 0x65: ("APPENDS", 0),
    0x29: ("EMPTY_TUPLE", 0), 0x85: ("TUPLE1", 0), 0x86: ("TUPLE2", 0), 0x87: ("TUPLE3", 0), 0x74: ("TUPLE", 0),
    0x94: ("MEMOIZE", 0), 0x71: ("BINPUT", 1), 0x72: ("LONG_BINPUT", 4), 0x68: ("BINGET", 1),
    0x6A: ("LONG_BINGET", 4), 0x4A: ("BININT", 4), 0x4B: ("BININT1", 1), 0x4D: ("BININT2", 2), 0x8A: ("LONG1", 1),
    0x8B: ("LONG4", 4), 0x47: ("BINFLOAT", 8), 0x88: ("NEWTRUE", 0), 0x89: ("NEWFALSE", 0), 0x4E: ("NONE", 0),
    0x8C: ("SHORT_BINUNICODE", 1), 0x58: ("BINUNICODE", 4), 0x8D: ("BINUNICODE8", 8),
}  # fmt: skip
"""Opcode -> name, and bytes of the argument before the text or number whose length it is."""
_REFUSED = {
    0x49: "INT", 0x4C: "LONG", 0x46: "FLOAT", 0x53: "STRING", 0x54: "BINSTRING", 0x55: "SHORT_BINSTRING", 0x56: "UNICODE",
    0x42: "BINBYTES", 0x43: "SHORT_BINBYTES", 0x8E: "BINBYTES8", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER",
    0x98: "READONLY_BUFFER", 0x6C: "LIST", 0x64: "DICT", 0x8F: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x30: "POP",
    0x31: "POP_MARK", 0x32: "DUP", 0x67: "GET", 0x70: "PUT", 0x63: "GLOBAL", 0x93: "STACK_GLOBAL", 0x52: "REDUCE",
    0x62: "BUILD", 0x69: "INST", 0x6F: "OBJ", 0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4",
    0x50: "PERSID", 0x51: "BINPERSID",
}  # fmt: skip

ARGUMENTS = bytes(READ[code][1] if code in READ else 0 for code in range(256))
"""Opcode -> length of its argument."""


def name_of(code: int) -> str:
    """Return the name of an opcode as the standard library has it; of a byte that is none its value."""
    if code in READ:
        return READ[code][0]
    return _REFUSED.get(code, f"0x{code:02x}")
