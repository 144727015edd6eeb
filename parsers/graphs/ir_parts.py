"""Parses parts of MindSpore's IR text: argument lists, attribute groups, types and shapes."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"[^"]*"|->|[()\[\]{}<>,]')
_OPENING, _CLOSING = "([{<", ")]}>"
_DIMENSIONS = re.compile(r"\(([-\d, ]*)\)")
_CONSTANT = re.compile(r"(Bool|I|U|F|BF)(\d*)\(|(UMonad|IOMonad)\[|(Tensor)\(|(\")|(None)$")
DEEPEST_SHAPE = 8
"""Maximum tuples within each other of which the shapes are written; inner ones are "?"."""
_NUMBERS = {"I": "Int", "U": "UInt", "F": "Float", "BF": "BFloat", "Bool": "Bool"}


def split(text: str, pos: int) -> tuple[list[str], int]:
    """Return the parts between commas from pos to the closing bracket, and the position after it.

    Commas in brackets and quotes do not separate. A cut text yields what is there.
    """
    parts: list[str] = []
    begin, depth = pos, 0
    for token in _TOKEN.finditer(text, pos):
        mark = token[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            if depth < 0:
                last = text[begin : token.start()].strip()
                return ([*parts, last] if last or parts else parts), token.end()
        elif mark == "," and not depth:
            parts.append(text[begin : token.start()].strip())
            begin = token.end()
    last = text[begin:].strip()
    return ([*parts, last] if last or parts else parts), len(text)


def arguments(text: str) -> tuple[list[str], str]:
    """Return the arguments of `Name(a, b) rest` and the rest; other brackets may come before the arguments."""
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == "(" and not depth:
            parts, end = split(text, token.end())
            return parts, text[end:]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth = max(depth - 1, 0)
    return [], ""


def value_type(text: str) -> tuple[str, str]:
    """Return type and shape of `<Tensor[Float32], (8, 10), ref_key=...>`: ("Tensor[Float32]", "8x10"); "" if unknown."""
    if not text.startswith("<"):
        return "", ""
    parts, _ = split(text, 1)
    name = "" if not parts or parts[0] == "null" else parts[0]
    return name, _shape(parts[1]) if len(parts) > 1 else ""


def _shape(text: str, around: int = 0) -> str:
    if text.startswith("TupleShape("):
        if around == DEEPEST_SHAPE:
            return ""
        parts, _ = split(text, len("TupleShape("))
        return f"({', '.join(_shape(part, around + 1) or '?' for part in parts)})"
    found = _DIMENSIONS.fullmatch(text)
    return "x".join(size.strip() for size in found[1].split(",")) or "[]" if found else ""


def result_type(text: str) -> tuple[str, str]:
    """Return type and shape of a node's outputs, from `(<in>, <in>) -> (<out>)`."""
    at = text.rfind(") -> (")
    if at < 0:
        return "", ""
    parts, _ = split(text, at + len(") -> ("))
    found = [value_type(part) for part in parts]
    if len(found) == 1:
        return found[0]
    return (f"Tuple[{', '.join(name for name, _ in found)}]", "") if any(name for name, _ in found) else ("", "")


def constant_type(text: str) -> str:
    """Return the type of a constant from its notation: `I64(3)`, `Bool(1)`, `"NCHW"`, `UMonad[U]`; "" for others."""
    found = _CONSTANT.match(text)
    if found is None:
        return ""
    number, bits, monad, tensor, quote, nothing = found.groups()
    if number:
        return _NUMBERS[number] + bits
    return monad or tensor or ("String" if quote else "") or nothing or ""
