"""Turns damage into problems for users: adjacent damage of one kind becomes one Problem with a sentence.

A record that the file ends within becomes a Problem as well; whoever follows the file decides whether it may still grow.
"""

from __future__ import annotations

from collections.abc import Iterable

from parsers.events.records import FRAME, HEADER, Damage
from parsers.events.walk import EventMessage, MessageLayout, beginning
from parsers.files import RegularFile
from parsers.model import Problem

MOST = 1000
"""Damaged places that get a Problem each; the rest are reported together."""
BEGINNING = 1 << 16
"""Bytes of an incomplete record that are read to say what it holds."""
NAMED = 3
"""Values of an incomplete record that are named."""


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


def unfinished(file: RegularFile, offset: int, claim: int | None, form: MessageLayout) -> Problem | None:
    """Return the problem of the record at the end of a file that lacks bytes; None if the file ends between two records.

    claim is the length of its message in bytes, None if even the header is incomplete.
    """
    present = file.size - offset
    if not present:
        return None
    if claim is None:
        needed, content = FRAME, "What it holds is unknown"
    else:
        needed = FRAME + claim
        content = _content(beginning(file.read(offset + HEADER, min(claim, BEGINNING)), claim, form))
    text = (
        f"The file ends within a record: the record at byte {offset:,} needs {'at least ' if claim is None else ''}"
        f"{needed:,} bytes, only {present:,} are present. {content}; it is shown when the rest arrives."
    )
    return Problem(file.path, offset, present, "truncated", text)


def _content(event: EventMessage) -> str:
    """Say what a record holds of which only the beginning is known."""
    if event.version:
        return "It holds the version of the format"
    names = [f"{kind} {tag!r}" if tag not in ("", "graph_def", kind) else kind for kind, tag in _values(event)]
    if not names:
        return f"It holds values of step {event.step:,}" if event.step_at >= 0 else "What it holds is unknown"
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
    return f"It holds, of step {event.step:,}: {listed}" if event.step_at >= 0 else f"It holds: {listed}"


def _values(event: EventMessage) -> list[tuple[str, str]]:
    """Return kind and tag of the values of a record, first those recorded first."""
    found = [(scalar.at, "scalar", scalar.tag) for scalar in event.scalars]
    found += [(payload.start, payload.kind, payload.tag) for payload in event.payloads]
    return [(kind.replace("_", " "), tag) for _, kind, tag in sorted(found)]


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
