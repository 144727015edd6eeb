"""Reads JSON files of profilers, up to a maximum size."""

from __future__ import annotations

import json
from typing import Any

from parsers.errors import FormatError
from parsers.files import RegularFile
from parsers.json_text import parse_json
from parsers.profiler.lines import Complaints

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


def read_object(path: str) -> tuple[Complaints, dict[str, Any]]:
    """Parse a JSON file that holds an object; where it does not, the object is empty and the reason is among the complaints."""
    complaints = Complaints(path)
    try:
        found = read_json(path)
    except OSError as error:
        complaints.add(f"The file cannot be read ({error.strerror or error}).", "unreadable")
        return complaints, {}
    except FormatError as error:
        complaints.add(f"Nothing is taken from the file: {error}.")
        return complaints, {}
    if not isinstance(found, dict):
        complaints.add(f"Nothing is taken from the file: expected a JSON object, found {type(found).__name__}.")
        return complaints, {}
    return complaints, found
