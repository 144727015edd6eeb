"""Mutations of bytes, of texts and of the cells of tables."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random

MOST = 128 << 10
"""Maximum bytes of a case."""
Corpus = Sequence[bytes]
Mutation = Callable[[bytes, Corpus, Random], bytes]

_WORDS = (
    b"\x00", b"\xff", b"\x00" * 16, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x80\x00\x00\x00",
    b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\x80" * 10, b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x00\x00\xc0\x7f",
    b"\x00\x00\x80\x7f", b"\x00\x00\x00\x00\x00\x00\xf8\x7f", b"\x00\x00\x00\x00\x00\x00\xf0\xff", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"\x93NUMPY\x01\x00",
    b"SQLite format 3\x00", b"MindSpore.Event:1", b"brain.Event:2", b"MSIX\0\0\0", b"MSPF\0\0\0", b"PK\x03\x04",
    b"\x1f\x8b\x08", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xf0\x9f\x92\xa9",
)  # fmt: skip
_TOKENS = (
    b"0", b"-1", b"--5", b"+", b"1e309", b"-1e-400", b"nan", b"NaN", b"Infinity", b"-inf", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"18446744073709551616", b"4294967296", b"0x1F", b"1_000", b"1e18",
    b"0.1.2", b"9" * 40, b"1" * 5000, b".", b",", b";", b":", b"=", b"\t", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b'"', b'""',
    b"'", b"`", b"\\", b"\\u0000", b"\\ud800", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">", b"[[[[", b"{" * 300,
    b"(" * 300, b"[" * 2000, b"#", b"%", b"&a [*a]", b"*a", b"!!python/object:os.system ", b"!!int ", b"<<: *a", b"- ", b"? ",
    b"|", b"null", b"true", b"None", b"--", b"-> ", b"%0", b"@1_main", b"step", b"\x00", b"\xff", b"\xc3", "训练".encode(),
    "\u202e".encode(), "\U0001f4a9".encode(), b"NULL", b"1970-01-01", b"/", b"../", b"$", b"subgraph", b"digraph",
)  # fmt: skip
NUMBERS: tuple[int | float, ...] = (
    0, 1, -1, 2, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 2**63,
    2**64, 10**30, 0.1, -0.5, 1e18, 1e300, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def plain(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of bytes."""
    return _several(data, corpus, random, _BYTES)


def text(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of bytes, tokens and lines."""
    return _several(data, corpus, random, _TEXTS)


def _several(data: bytes, corpus: Corpus, random: Random, kinds: Sequence[Mutation]) -> bytes:
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(kinds)(data, corpus, random)[:MOST]
    return data


# Bytes ---------------------------------------------------------------------------------------------------------------------


def _flip(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if made else 0):
        at = random.randrange(len(made))
        old = made[at]
        made[at] = random.choice((old ^ 1 << random.randrange(8), random.randrange(256), old ^ 0xFF, (old + 1) % 256))
    return bytes(made)


def _cut(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] if random.random() < 0.8 else data[at:]


def _delete(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    return data[:begin] + data[end:]


def _repeat(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    return data[:begin] + data[begin:end] * repetitions(end - begin, random.choice((2, 2, 3, 10, 300))) + data[end:]


def _insert(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(_WORDS) + data[at:]


def _overwrite(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at, word = random.randint(0, len(data)), random.choice(_WORDS)
    return data[:at] + word + data[at + len(word) :]


def _integer(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    width = random.choice((2, 4, 8))
    if len(data) < width:
        return data
    at = random.randrange(len(data) - width + 1)
    order = random.choice(("<", ">"))
    number = int(random.choice([one for one in NUMBERS if isinstance(one, int)]))
    near = random.choice((number, number + random.randint(-8, 8), len(data), len(data) - at)) % (1 << 8 * width)
    return data[:at] + struct.pack(f"{order}Q", near)[8 - width if order == ">" else 0 :][:width] + data[at + width :]


def _splice(data: bytes, corpus: Corpus, random: Random) -> bytes:
    other = random.choice(corpus) if corpus else data
    begin, end = _range(data, random)
    from_, to = _range(other, random)
    return data[:begin] + other[from_:to] + data[random.choice((begin, end)) :]


def _swap(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    begin, end = _range(data, random)
    to = random.randint(end, len(data))
    return data[:begin] + data[end:to] + data[begin:end] + data[to:]


def _range(data: bytes, random: Random) -> tuple[int, int]:
    begin = random.randint(0, len(data))
    longest = len(data) - begin
    return begin, begin + min(longest, random.choice((1, 2, 4, 8, 16, 64, random.randint(0, longest))))


def repetitions(size: int, wanted: int) -> int:
    """Return how often something of a size is repeated: as wanted, if a case holds that."""
    return min(wanted, 1 + MOST // max(size, 1))


_BYTES: tuple[Mutation, ...] = (_flip, _flip, _cut, _delete, _repeat, _insert, _overwrite, _integer, _splice, _swap)


# Texts ---------------------------------------------------------------------------------------------------------------------


def _token(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(_TOKENS) + data[at:]


def _number(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    """Replace the number around a random place, else what separates the texts there."""
    at = random.randint(0, len(data))
    begin, end = at, at
    while begin > 0 and data[begin - 1 : begin] in _DIGITS and at - begin < 40:
        begin -= 1
    while end < len(data) and data[end : end + 1] in _DIGITS and end - at < 40:
        end += 1
    return data[:begin] + random.choice(_TOKENS) + data[end:]


_DIGITS = frozenset(bytes((one,)) for one in b"0123456789.-+e")


def lines_changed(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Move, repeat, delete or take over lines."""
    lines = data.split(b"\n")
    other = random.choice(corpus).split(b"\n") if corpus else lines
    at, to = random.randrange(len(lines)), random.randrange(len(lines))
    act = random.randrange(5)
    if act == 0:
        del lines[at : at + random.choice((1, 1, 3))]
    elif act == 1:
        lines[at:at] = [lines[to]] * random.choice((1, 2, 50))
    elif act == 2:
        lines[at], lines[to] = lines[to], lines[at]
    elif act == 3:
        lines[at:to] = [random.choice(other)]
    else:
        lines.insert(at, random.choice(other))
    return b"\n".join(lines)


def _cells(data: bytes, _corpus: Corpus, random: Random) -> bytes:
    """Change one cell of a table, or a column of the whole of it."""
    lines = data.split(b"\n")
    mark = max((b",", b";", b" ", b"|"), key=data.count)
    row = random.randrange(len(lines))
    rows = range(len(lines)) if random.random() < 0.3 else (row,)
    column = random.randrange(lines[row].count(mark) + 1)
    act, word, times = random.randrange(5), random.choice(_TOKENS), random.choice((2, 3, 40))
    for at in rows:
        cells = lines[at].split(mark)
        if column >= len(cells):
            continue
        if act == 0:
            cells[column] = word
        elif act == 1:
            del cells[column]
        elif act == 2:
            cells[column] = b""
        elif act == 3:
            cells[column:column] = [cells[column]] * times
        else:
            cells[column] = b'"' + cells[column] + random.choice((b'"', b"", b'""'))
        lines[at] = mark.join(cells)
    return b"\n".join(lines)


_TEXTS: tuple[Mutation, ...] = (*_BYTES, _token, _token, _token, _number, _number, _number, lines_changed, lines_changed)
_TABLES: tuple[Mutation, ...] = (*_TEXTS, _cells, _cells, _cells, _cells)


def table(data: bytes, corpus: Corpus, random: Random) -> bytes:
    """Apply one to four mutations of cells, lines, tokens and bytes."""
    return _several(data, corpus, random, _TABLES)
