"""Reads JSON lines of metrics: one object per line, of which every number is a scalar; nested ones have names joined by "/".

result.json is written by Ray and RLlib, scalars.json by MMEngine, metrics.jsonl and log.jsonl by many scripts. The settings
that Ray repeats in each line, `config`, are ignored: they are in params.json. `parsers.tables.rows` says what a step is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from parsers.file_reading import read_growing
from parsers.json_text import parse_json, require_few_values
from parsers.model import Batch, Cursor, Reader, ScalarBlock
from parsers.tables.lines import read_lines, split
from parsers.tables.rows import MetricRows

_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JsonLinesReader(Reader):
    """Reads JSON lines."""

    def read(self, path: str, cursor: Cursor | None = None, limit: int | None = None) -> Batch:
        """Read the lines after the cursor; an unfinished last line waits for its end."""
        return read_growing(path, cursor, lambda file, resumed: read_lines(file, resumed, limit, _add))


JSON_LINES = JsonLinesReader(
    name="json_lines", pattern=re.compile(r"\A(?:result\.json|scalars\.json|metrics\.jsonl|log\.jsonl)\Z"), appendable=True
)


def _add(rows: MetricRows, data: bytes, begin: int) -> tuple[list[ScalarBlock], int]:
    for at, line in split(data):
        if not line.strip():
            continue
        try:
            found = _parsed(line)
        except (ValueError, RecursionError) as error:
            expected = f"Expected a JSON object, found {line[:60]!r} ({error})"
            rows.complain(begin + at, len(line) + 1, f"{expected}; the line was skipped.")
            continue
        if isinstance(found.get("config"), dict):
            del found["config"]
        rows.add(found, begin + at)
    return [], len(data)


def _parsed(line: bytes) -> dict[str, Any]:
    require_few_values(line)
    try:
        found = _decode(line)
    except (msgspec.DecodeError, RecursionError):
        found = parse_json(line.decode("utf-8-sig"))  # NaN, which Python writes
    if not isinstance(found, dict):
        raise ValueError("it is a value of another type")
    return found
