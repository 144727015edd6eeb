r"""Finds the events in a Chrome trace: an array of objects, alone or as `traceEvents` of an object, in pieces of bounded size.

A piece of a file is cut where an event ends and decoded as a whole. That it decodes is the proof of a right cut: within a text
or within nested arguments it would leave brackets open. A piece that does not decode is read event by event, which takes
twenty times as long: NaN, line breaks in texts, lone surrogates and other encodings than UTF-8 are accepted then. An event
that cannot be read even so is dropped and reported, and reading continues at the next one.

The place of an event is one number: the byte offset of its piece, times 2**20, plus the event's number within the piece.
Pieces are a function of their offset alone, so that an event is found again without an index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from parsers.json_text import encodable, parse_json
from parsers.packed_files import packed_as
from parsers.profiler.json_entries import Scan
from parsers.profiler.trace.bytes import TraceBytes

PIECE = 1 << 20
"""Bytes decoded at a time."""
LONGEST_EVENT = 16 << 20
"""Maximum bytes of one event that is read; a longer one is skipped and reported. Reading it takes up to three times that."""
LONGEST_MENDED = 1 << 20
"""Maximum bytes of one event that is read although it is not valid JSON, which takes up to 60 times that."""
_LONGEST_SKIPPED = 256 << 20
"""Bytes in which the end of an event longer than LONGEST_EVENT is sought once one was found that has none; in a longer one, the
next event is sought. Before, all of the file is searched, which is no more than reading it once."""
LONGEST_VALUE = 4 << 20
"""Maximum bytes of a value beside the events that is kept."""
WITHIN = 20
"""Bits of a place that hold the number of an event within its piece."""
_MOST_SEARCHED = 2 << 20
"""Bytes searched for the next event after damage in one piece, beside eight times its bytes."""
_MOST_CUTS = 2
_MOST_TRIES = 4096
_LONGEST_SCALAR = 64
_SHORT = 1 << 16
"""Bytes in which the end of a value is sought bracket by bracket: half a second per million brackets."""
_SCANNED = 1 << 18
_SPACE = b" \t\r\n"
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# The next bracket outside of texts, a quote that nothing closes, or the end. Texts on the way are taken in the same match.
_TOKEN = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+([\[\]{}"]|\Z)', re.DOTALL)
_WITHIN_TEXT = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_GAP = re.compile(rb"[\s,]*")
_BLANK = re.compile(rb"\s*")
_AFTER = re.compile(rb"\s*[,\]]")
_SCALAR = re.compile(rb'[^\s,:\[\]{}"]+')
_BEGIN = re.compile(rb'\{\s*"')
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*:', re.DOTALL)

Scalar = str | int | float | bool | None


class TraceEvent(msgspec.Struct, gc=False):
    """One event, as it is in the file. Times, id and arguments are the bytes of their JSON."""

    ph: str = ""
    name: Scalar = None
    pid: Scalar = None
    tid: Scalar = None
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()
    cat: Scalar = None
    id: msgspec.Raw = msgspec.Raw()
    id2: msgspec.Raw = msgspec.Raw()
    bp: Scalar = None
    args: msgspec.Raw = msgspec.Raw()


_MANY = msgspec.json.Decoder(list[TraceEvent])
_ONE = msgspec.json.Decoder(TraceEvent)


@dataclass(slots=True)
class EventPiece:
    """Some events of a file: those between two byte offsets."""

    offset: int
    end: int
    events: Sequence[TraceEvent]
    last: bool = False
    """The array ends with this piece."""
    starts: Sequence[int] = ()
    """Byte offset of each event, if they were read one by one."""


Drop = Callable[[int, int, str], None]
"""Called with offset and length of bytes that are no event, and what was found there."""


@dataclass(slots=True)
class TraceEventReader:
    """Reads the events of one file."""

    source: TraceBytes
    drop: Drop
    mended: Drop
    """Called for an event that was read although it is not valid JSON."""
    about: dict[str, str] = field(default_factory=dict)
    """Short values beside the events in the object form."""
    wanted: frozenset[str] = frozenset()
    """Names of values beside the events that are kept whole."""
    values: dict[str, bytes] = field(default_factory=dict)
    """The JSON of those, at most LONGEST_VALUE bytes of each."""
    complete: bool = False
    """The file ends where its JSON does."""
    documents: int = 0
    """Arrays and objects with traceEvents found; more than one if traces were concatenated."""
    _spent: int = 0
    _endless: bool = False
    """A long event was found that has no end."""

    def pieces(self) -> Iterator[EventPiece]:
        """Yield all events in order."""
        at = 3 if self.source.read(0, 3) == b"\xef\xbb\xbf" else 0
        while (at := self._skip(at, _BLANK)) >= 0:
            self.complete = False
            head = self.source.read(at, 1)
            if head == b"[":
                self.documents += 1
                at = yield from self._array(at + 1)
                self.complete = at >= 0
            elif head == b"{":
                at = yield from self._object(at + 1)
                self.complete = at >= 0
            else:
                found = self.source.read(at, 40)
                if self.documents and not found.strip(b"\x00,;]} \t\r\n"):
                    return
                self.drop(at, 0, f"expected [ or {{, found {packed_as(found) or _shown(found)}")
                return
            if at < 0:
                return

    def _array(self, at: int) -> Generator[EventPiece, None, int]:
        """Yield the events of an array; return the offset after its end, -1 if the file ends before."""
        while True:
            at = self._skip(at, _GAP)
            if at < 0:
                return -1
            piece = self.piece(at)
            yield piece
            if piece.last:
                return piece.end
            if piece.end <= at:
                return -1
            at = self.source.next_data(piece.end)
            if at > piece.end:
                hole = at - piece.end
                self.drop(piece.end, hole, f"expected an event, found {hole:,} bytes that were never written")

    def _object(self, at: int) -> Generator[EventPiece, None, int]:
        """Yield the events in an object; return the offset after its end, -1 if the file ends before."""
        while (at := self._skip(at, _GAP)) >= 0:
            size = PIECE >> 4
            match = None
            while match is None:
                data = self.source.read(at, size)
                if data[:1] == b"}":
                    return at + 1
                match = _KEY.match(data)
                if match is None and (data[:1] != b'"' or len(data) < size or size > PIECE):
                    if len(data) == size:
                        self.drop(at, 0, f"expected a name in quotes, found {_shown(data[:40])}")
                    return -1
                size *= 4
            name = match[1].decode("utf-8", "replace")
            at = self._skip(at + match.end(), _BLANK)
            if at < 0:
                return -1
            if name == "traceEvents" and self.source.read(at, 1) == b"[":
                self.documents += 1
                at = yield from self._array(at + 1)
            else:
                begin, at = at, self._value(at, name)
                if name in self.wanted and name not in self.values and 0 <= at - begin <= LONGEST_VALUE:
                    self.values[name] = self.source.read(begin, at - begin)
            if at < 0:
                return -1
        return -1

    def _value(self, at: int, name: str) -> int:
        """Skip a value beside the events; return the offset after it, -1 if the file ends before."""
        head = self.source.read(at, _LONGEST_SCALAR)
        scalar = _SCALAR.match(head)
        if scalar is not None:
            self.about[name] = scalar[0].decode("utf-8", "replace")
            return at + scalar.end()
        depth = 0
        while data := self.source.read(at := self.source.next_data(at), PIECE):
            text = _STRING.match(data) if depth == 0 else None
            if text is not None:
                self.about[name] = data[: min(text.end(), _LONGEST_SCALAR)].decode("utf-8", "replace").strip('"')
                return at + text.end()
            stop = -1
            for token in _TOKEN.finditer(data):
                bracket = token[1]
                if bracket == b'"':
                    stop = token.start(1)  # a text that this piece does not end
                    break
                if bracket:
                    depth += 1 if bracket in b"[{" else -1
                    if depth <= 0:
                        return at + token.end()
            if stop:
                at += stop if stop > 0 else len(data)
                continue
            at = self._end_of_text(at)
            if at < 0:
                return -1
            if depth == 0:
                self.about[name] = data[:_LONGEST_SCALAR].decode("utf-8", "replace").strip('"')
                return at
        return -1

    def _end_of_text(self, at: int) -> int:
        """Return the offset after a text of any length that begins at an offset, -1 if the file ends before."""
        at += 1
        while data := self.source.read(at := self.source.next_data(at), PIECE):
            match = _WITHIN_TEXT.match(data)
            length = match.end() if match is not None else 0
            at += length
            if data[length : length + 1] == b'"':
                return at + 1
            if not length:
                return -1
        return -1

    def _skip(self, at: int, what: re.Pattern[bytes]) -> int:
        """Return the offset of the first byte that is not skipped, -1 at the end of the file."""
        while data := self.source.read(at, 256):
            match = what.match(data)
            length = match.end() if match is not None else 0
            at += length
            if length < len(data):
                return at
        return -1

    def piece(self, offset: int) -> EventPiece:
        """Return the events from an offset on at which one begins, or the array ends."""
        data = self.source.read(offset, PIECE)
        final = len(data) < PIECE
        if data[:1] == b"{":
            if final:
                for rest in _endings(data):
                    events = _decoded(data[: rest + 1], b"")
                    if events is not None:
                        return EventPiece(offset, offset + rest + 1, events, last=True)
            for cut in _cuts(data):
                events = _decoded(data[:cut], b"]")
                if events is not None:
                    return EventPiece(offset, offset + cut, events)
        return self._each(offset, data, final)

    def _each(self, offset: int, data: bytes, final: bool) -> EventPiece:
        """Return the events from an offset on, read one by one: the same ones each time, whatever was read before."""
        self._spent = 0
        events: list[TraceEvent] = []
        starts: list[int] = []
        at = 0
        while True:
            gap = _GAP.match(data, at)
            at = gap.end() if gap is not None else at
            if at >= len(data):
                return EventPiece(offset, offset + len(data), events, starts=starts)
            if data[at] == 0x5D:
                return EventPiece(offset, offset + at + 1, events, last=True, starts=starts)
            end = self._end_of(data, at) if data[at] in b'{["' else -2
            if end == -1 and not final and (events or at or len(data) < LONGEST_EVENT):
                if events or at:
                    return EventPiece(offset, offset + at, events, starts=starts)
                size = min(4 * len(data), LONGEST_EVENT)
                data = b""  # or it would be held beside the longer one
                data = self.source.read(offset, size)
                final = len(data) < size
                continue
            event = _lenient(data[at:end]) if end > 0 and data[at] == 0x7B else None
            if event is None:
                after = self._next_event(offset, data, at, end)
                if after > len(data):
                    return EventPiece(offset, offset + after, events, starts=starts)
                at = after
                continue
            if not event[1]:
                self.mended(offset + at, end - at, event[2])
            events.append(event[0])
            starts.append(offset + at)
            at = end
            if len(data) > PIECE and at > PIECE:
                return EventPiece(offset, offset + at, events, starts=starts)  # a piece of usual size follows the long event

    def _next_event(self, offset: int, data: bytes, at: int, end: int) -> int:
        """Report what begins at a position and is no event; return the position of the next event, or of the end.

        The position lies after the data if it is the end of an event longer than LONGEST_EVENT.
        """
        stop = end if end > 0 else len(data)
        if end == -1 and data[at] == 0x7B and stop - at >= LONGEST_EVENT:
            length = self._length_of_longest(offset + at)
            if length > 0:
                found = f"expected an event of at most {LONGEST_EVENT >> 20} MB, found one of {length:,} bytes"
                self.drop(offset + at, length, found)
                return at + length
        if end > 0 and data[at] != 0x7B:
            self.drop(offset + at, end - at, f"expected an object, found {_shown(data[at : at + 60])}")
            return end
        if end == -2:
            scalar = _SCALAR.match(data, at)
            if scalar is not None and data[scalar.end() : scalar.end() + 1] in (b",", b"]", b"") and scalar.end() < len(data):
                self.drop(offset + at, scalar.end() - at, f"expected an object, found {_shown(scalar[0][:60])}")
                return scalar.end()
        for begin in _BEGIN.finditer(data, at + 1, stop):
            if self._spent > 8 * len(data) + _MOST_SEARCHED:
                break
            close = self._end_of(data, begin.start())
            if close > 0:
                self._spent += close - begin.start()
                event = _lenient(data[begin.start() : close])
                if event is not None and event[0].ph:
                    stop = begin.start()
                    break
        what = "an event that the file ends within" if end == -1 and stop == len(data) else _shown(data[at : at + 60])
        self.drop(offset + at, stop - at, f"expected an event, found {what}")
        return stop

    def _end_of(self, data: bytes, at: int) -> int:
        """Return the position after a value that begins with a bracket or a quote; -1 if it does not end."""
        if data[at] == 0x22:
            text = _STRING.match(data, at)
            return -1 if text is None else text.end()
        depth = 0
        for token in _TOKEN.finditer(data, at, at + _SHORT):
            bracket = token[1]
            if bracket == b'"' or not bracket:
                break
            depth += 1 if bracket in b"[{" else -1
            if depth <= 0:
                return token.end()
        end = _end_of_long(data, at) if at + _SHORT < len(data) else -1
        if end > 0:
            return end
        self._spent += len(data) - at
        return -1

    def _length_of_longest(self, offset: int) -> int:
        """Return the length of an object that is not kept in memory, -1 if it does not end as an event of an array does.

        The bracket of the array closes an object whose own is missing: what is between may be intact events.
        """
        scan = Scan(arrays=True)
        begin = offset
        while (begin - offset < _LONGEST_SKIPPED or not self._endless) and self.source.next_data(begin) == begin:
            data = self.source.read(begin, _SCANNED)
            places, _ = scan.shallow(data, 0)
            if len(places):
                end = begin + int(places[0]) + 1
                closed = self.source.read(end - 1, _LONGEST_SCALAR)
                if closed[:1] == b"}" and _AFTER.match(closed, 1):
                    return end - offset
                break
            if len(data) < _SCANNED:
                break
            begin += _SCANNED
        self._endless = True
        return -1

    def event(self, place: int) -> dict[str, Any]:
        """Return an event by its place, with all its keys; LookupError if it is not there any more."""
        offset, number = place >> WITHIN, place & ((1 << WITHIN) - 1)
        piece = self.piece(offset)
        if number >= len(piece.events):
            raise LookupError(f"expected event {number} after byte {offset:,}, found {len(piece.events)} events")
        data = self.source.read(offset, piece.end - offset).rstrip(b" \t\r\n,")
        if not piece.last:
            data += b"]"
        try:
            whole = msgspec.json.decode(b"[" + data, type=list[msgspec.Raw])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            whole = []
        found = _parsed(bytes(whole[number])) if len(whole) == len(piece.events) else None
        event = piece.events[number]
        # What the event was read as, not the same bytes read again: one damaged text changes how the others are decoded.
        values = {name: getattr(event, name) for name in event.__struct_fields__}
        known = {name: _parsed(bytes(one)) if isinstance(one, msgspec.Raw) else one for name, one in values.items()}
        return (found if isinstance(found, dict) else {}) | {name: value for name, value in known.items() if value is not None}

    def offset_of(self, piece: EventPiece, number: int) -> int:
        """Return the byte offset of an event of a piece."""
        if piece.starts:
            return piece.starts[number] if number < len(piece.starts) else piece.offset  # the file has changed since
        data = self.source.read(piece.offset, piece.end - piece.offset)
        at = 0
        for _ in range(number):
            gap = _GAP.match(data, self._end_of(data, at))
            at = gap.end() if gap is not None else at
        return piece.offset + at


def _end_of_long(data: bytes, at: int) -> int:
    """Return the position after a value that begins with a bracket, -1 if it does not end, in some ns per byte of anything."""
    scan = Scan(arrays=True)
    for begin in range(at, len(data), _SCANNED):
        places, _ = scan.shallow(data[begin : begin + _SCANNED], 0)
        if len(places):
            return begin + int(places[0]) + 1
    return -1


def _decoded(events: bytes, end: bytes) -> list[TraceEvent] | None:
    try:
        return _MANY.decode(b"[" + events + end)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _cuts(data: bytes) -> Iterator[int]:
    """Yield the last positions after which an event seems to end: `}` that a comma and `{` follow."""
    end = len(data)
    found = 0
    for _ in range(_MOST_TRIES):
        begin = data.rfind(b"{", 1, end)
        if begin < 0:
            return
        end = begin
        before = begin - 1
        while before > 0 and data[before] in _SPACE:
            before -= 1
        if data[before] != 0x2C:
            continue
        before -= 1
        while before > 0 and data[before] in _SPACE:
            before -= 1
        if data[before] == 0x7D:
            yield before + 1
            found += 1
            if found == _MOST_CUTS:
                return


def _endings(data: bytes) -> Iterator[int]:
    """Yield the positions at which the array of events may end if little or nothing follows it."""
    last = data.rfind(b"]")
    if last > 0 and len(data) - last < 4096:
        yield last


def _lenient(text: bytes) -> tuple[TraceEvent, bool, str] | None:
    """Return an event, whether it is valid JSON, and what is wrong otherwise; None if there is no event in the text."""
    try:
        return _ONE.decode(text), True, ""
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if len(text) > LONGEST_MENDED:
            return None
    decoded, how = _text_of(text)
    try:
        found = json.loads(decoded, strict=False)
        digits = json.loads(decoded, strict=False, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    values: dict[str, Any] = {}
    for name in ("ph", "name", "pid", "tid", "cat", "bp"):
        value = found.get(name)
        if name in found:
            values[name] = encodable(value) if isinstance(value, str) else value
            if isinstance(value, list | dict):
                values[name] = encodable(json.dumps(value))
    values["ph"] = values["ph"] if isinstance(values.get("ph"), str) else ""
    for name in ("ts", "dur", "id", "id2"):
        if name in found:
            values[name] = msgspec.Raw(json.dumps(digits[name]).encode())
    if "args" in found:
        values["args"] = msgspec.Raw(_finite(found["args"]))
    return TraceEvent(**values), False, how


def _text_of(text: bytes) -> tuple[str, str]:
    """Return a text in UTF-8 or, if it is not that, in GB18030, the encoding of Chinese systems; and what was done."""
    try:
        return text.decode(), "expected JSON, found NaN, Infinity, a line break in a text, or a lone surrogate"
    except UnicodeDecodeError as error:
        found = f"expected UTF-8, found byte {text[error.start]:02x}"
    try:
        return text.decode("gb18030"), f"{found}; it was read as GB18030"
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace"), f"{found}; it was replaced"


def _finite(value: Any) -> bytes:
    """Return arguments as JSON, in which NaN and Infinity are texts."""
    try:
        return json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_named(value), allow_nan=False).encode()


def _named(value: Any) -> Any:
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)
    if isinstance(value, list):
        return [_named(one) for one in value]
    if isinstance(value, dict):
        return {name: _named(one) for name, one in value.items()}
    return value


def _parsed(text: bytes) -> Any:
    try:
        return parse_json(_text_of(text)[0])
    except (ValueError, RecursionError):
        return None


def _shown(found: bytes) -> str:
    return repr(encodable(found.decode("utf-8", "replace")))
