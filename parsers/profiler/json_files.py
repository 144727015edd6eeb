"""Reads JSON files of profilers, up to a maximum size."""

from __future__ import annotations

import json
from typing import Any

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.json_text import parse_json

LONGEST_JSON = 64 << 20


def read_json(path: str) -> Any:
    """Parse a JSON file; FormatError for invalid content, OSError if it cannot be read."""
    with RegularFile(path) as file:
        if file.size > LONGEST_JSON:
            raise FormatError(f"expected at most {LONGEST_JSON:,} bytes of JSON, found {file.size:,}")
        data = file.read(0, file.size)
    try:
        return parse_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FormatError(f"expected UTF-8, found byte {data[error.start]:02x} at {error.start:,}") from error
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}, column {error.colno}: expected JSON, found {error.msg.lower()}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected JSON, found {error}") from error
