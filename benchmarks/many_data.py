"""Many small runs: `make(folder, runs, tags, steps, layout)` writes them, layout "ms" or "tb".

A run is a copy of one of VARIANTS contents, each with its own values; that is what a sweep of hyper-parameters leaves.
"""

from __future__ import annotations

import os
from pathlib import Path
from struct import Struct

import google_crc32c
import numpy as np

from parsers.recording.wire import mask

VARIANTS = 50
BEGUN = 1_700_000_000
LONG_AGO = 1_600_000_000.0
NAMES = {"ms": "events.out.events.summary.{}.0.bench_MS", "tb": "events.out.tfevents.{}.bench.1.0"}
VERSIONS = {"ms": b"MindSpore.Event:1", "tb": b"brain.Event:2"}
_double, _float, _length, _crc = Struct("<d").pack, Struct("<f").pack, Struct("<Q").pack, Struct("<I").pack


def make(folder: Path, runs: int, tags: int, steps: int, layout: str, missing: float = 0.0) -> None:
    """Write `runs` runs of `tags` tags x `steps` steps below a folder. Their directories are long settled.

    missing is the share of values that are left out at random.
    """
    variants = [_content(seed, tags, steps, layout, missing) for seed in range(min(VARIANTS, runs))]
    for number in range(runs):
        run = folder / f"sweep{number % 20:02}" / f"run{number:05}"
        run.mkdir(parents=True)
        file = run / NAMES[layout].format(BEGUN + number)
        file.write_bytes(variants[number % len(variants)])
        os.utime(file, (LONG_AGO + number, LONG_AGO + number))
        os.utime(run, (LONG_AGO, LONG_AGO))
    for path in (*folder.iterdir(), folder):
        os.utime(path, (LONG_AGO, LONG_AGO))


def _content(seed: int, tags: int, steps: int, layout: str, missing: float) -> bytes:
    """Return the bytes of one event file: with MindSpore a record per step, with TensorBoard one per step and tag."""
    values = np.random.default_rng(seed).uniform(0.1, 4, (steps, tags)) * np.exp(-np.arange(steps) / steps)[:, None]
    kept = np.random.default_rng(seed + 1).random((steps, tags)) >= missing
    names = [b"loss", *(b"metric/%02d" % number for number in range(1, tags))]
    number = b"\x1d" if layout == "ms" else b"\x15"  # scalar_value is field 3, simple_value field 2
    parts = [_record(b"\x09" + _double(BEGUN) + _delimited(3, VERSIONS[layout]))]
    for step, row in enumerate(values, 1):
        head = b"\x09" + _double(BEGUN + step * 0.25) + b"\x10" + _varint(step)
        given = [(name, value) for name, value, there in zip(names, row, kept[step - 1], strict=True) if there]
        cells = [_delimited(1, _delimited(1, name) + number + _float(value)) for name, value in given]
        parts += [_record(head + _delimited(5, group)) for group in ([b"".join(cells)] if layout == "ms" else cells)]
    return b"".join(parts)


def _record(data: bytes) -> bytes:
    length = _length(len(data))
    crcs = (_crc(mask(google_crc32c.value(part))) for part in (length, data))
    return length + next(crcs) + data + next(crcs)


def _delimited(field: int, content: bytes) -> bytes:
    return bytes((field << 3 | 2,)) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes((*groups, number))
