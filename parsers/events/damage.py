"""Turns damage into problems for users: adjacent damage of one kind becomes one Problem with a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from parsers.events.records import Damage
from parsers.model import Problem

MOST = 1000
"""Damaged places that get a Problem each; the rest are reported together."""


def describe(path: str, damage: Iterable[Damage]) -> list[Problem]:
    """Return one Problem per run of adjacent damage of one kind, in file order."""
    merged: list[list[Damage]] = []
    for piece in sorted(damage, key=lambda piece: (piece.offset, piece.kind)):
        last = merged[-1][-1] if merged else None
        if last and last.kind == piece.kind and piece.offset <= last.offset + last.length and piece.kind != "bad_value":
            merged[-1].append(piece)
        else:
            merged.append([piece])
    problems = [_problem(path, pieces) for pieces in merged[:MOST]]
    if rest := merged[MOST:]:
        begin, end = rest[0][0].offset, max(piece.offset + piece.length for pieces in rest for piece in pieces)
        text = f"There is further damage of this and other kinds at {len(rest):,} places. All intact records are shown."
        problems.append(Problem(path, begin, end - begin, rest[0][0].kind, text))
    return problems


def _problem(path: str, pieces: list[Damage]) -> Problem:
    first = pieces[0]
    end = max(piece.offset + piece.length for piece in pieces)
    return Problem(path, first.offset, end - first.offset, first.kind, _text(pieces, end))


def _text(pieces: list[Damage], end: int) -> str:
    count, first = len(pieces), pieces[0]
    records = "1 record" if count == 1 else f"{count:,} records"
    if first.kind == "bad_data":
        held = "does not match its CRC. What it held" if count == 1 else "do not match their CRC. What they held"
        return f"The data of {records} {held} is lost; all intact records are shown."
    if first.kind == "bad_message":
        return f"{records} with a correct CRC held no message of this format ({first.detail}). All other records are shown."
    if first.kind == "bad_value":
        return f"A value cannot be shown: {first.detail}. All other values are shown."
    if "that of its data does" in first.detail and count == 1:
        return f"A record is damaged in its header: {first.detail}. Nothing is lost."
    return f"No record can be read here: {first.detail}. {end - first.offset:,} bytes are lost; reading continues after them."
