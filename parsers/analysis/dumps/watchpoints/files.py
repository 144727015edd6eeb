"""Watchpoints in a TOML file, for `mindscope check-dump` and notebooks.

::

    recommended = true             # the recommended watchpoints, too

    [[watchpoint]]
    condition = "gradient_vanishing"
    abs_mean_lt = 1e-9             # parameters of the condition; several of them are alternatives

    [[watchpoint]]
    condition = "tensor_too_large"
    max_gt = 1e4
    pattern = "MatMul|Conv"        # only operators whose type or name matches the regular expression
    nodes = ["Default/fc1/MatMul"] # only operators with these names
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from parsers.analysis.dumps.watchpoints.conditions import CONDITIONS, Watchpoint
from parsers.analysis.dumps.watchpoints.recommended import recommended
from parsers.errors import FormatError, SourceError
from parsers.files import RegularFile

LARGEST = 1 << 20
"""Bytes of a file of watchpoints: one that is larger is another file."""
_TOP = ("recommended", "watchpoint")
_OWN = ("condition", "pattern", "nodes")
_HEADER = re.compile(r"\s*\[\[\s*[\"']?watchpoint[\"']?\s*\]\]")
_KEY = re.compile(r"\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*=")


def read_watchpoints(path: str | os.PathLike[str]) -> tuple[Watchpoint, ...]:
    """Read a file of watchpoints.

    SourceError if it cannot be read; FormatError, which names the line or the key, what was expected and what was found.
    """
    name = os.fspath(path)
    try:
        with RegularFile(name) as file:
            data = file.read(0, LARGEST + 1)
    except OSError as error:
        raise SourceError(f"{name}: expected a readable TOML file, found none: {error.strerror or error}") from error
    if len(data) > LARGEST:
        raise FormatError(f"{name}: expected a TOML file of at most {LARGEST:,} bytes, found more")
    try:
        text = data.decode()
        loaded = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
        reason = "too deep nesting" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise FormatError(f"{name}: expected valid TOML, found an error: {reason}") from error
    return watchpoints_of(loaded, name, text)


def watchpoints_of(loaded: Mapping[str, Any], name: str, text: str = "") -> tuple[Watchpoint, ...]:
    """Return the watchpoints of a parsed file; name and text (the file) are for messages. FormatError as `read_watchpoints`."""
    _refuse_unknown(loaded, _TOP, name)
    also = loaded.get("recommended", False)
    if not isinstance(also, bool):
        raise FormatError(f"{name}: recommended: expected true or false, found {also!r}")
    tables = loaded.get("watchpoint", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise FormatError(f"{name}: watchpoint: expected tables that begin with [[watchpoint]], found {_short(tables)}")
    lines = _lines(text)
    found = []
    for place, table in enumerate(tables):
        known = lines[place] if len(lines) == len(tables) else {}
        found.append(_watchpoint(table, name, place + 1, known))
    chosen = (*(recommended() if also else ()), *found)
    if not chosen:
        raise FormatError(f"{name}: expected at least one [[watchpoint]], or recommended = true, found none")
    return chosen


def _watchpoint(table: Mapping[str, Any], name: str, place: int, lines: Mapping[str, int]) -> Watchpoint:
    def where(key: str = "") -> str:
        line = lines.get(key, lines.get("", 0))
        return f"{name}, line {line}: watchpoint {place}" if line else f"{name}: watchpoint {place}"

    condition = str(table.get("condition", ""))
    if condition not in CONDITIONS:
        near = get_close_matches(condition, CONDITIONS, 1)
        hint = f" (did you mean {near[0]}?)" if near else f" (one of {', '.join(CONDITIONS)})"
        found = _short(table["condition"]) if "condition" in table else "none"
        raise FormatError(f"{where('condition')}: condition: expected the name of a condition{hint}, found {found}")
    limits = [limit.name for limit in CONDITIONS[condition].limits]
    for key in table:
        _refuse_unknown({key: 0}, (*_OWN, *limits), where(key))
    given = {key: table[key] for key in limits if key in table}
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise FormatError(f"{where(key)}: {key}: expected a number, found {_short(value)}")
    pattern, nodes = table.get("pattern", ""), table.get("nodes")
    if not isinstance(pattern, str):
        raise FormatError(f"{where('pattern')}: pattern: expected a text, found {_short(pattern)}")
    if nodes is not None and not (isinstance(nodes, list) and nodes and all(isinstance(one, str) for one in nodes)):
        raise FormatError(f"{where('nodes')}: nodes: expected a list of names, found {_short(nodes)}")
    try:
        numbers = {key: float(value) for key, value in given.items()}
        return Watchpoint(condition, numbers, None if nodes is None else frozenset(nodes), pattern)
    except (FormatError, OverflowError) as error:
        key = next((key for key in table if str(error).startswith(f"{key}:")), "pattern" if pattern else "")
        raise FormatError(f"{where(key)}: {error}") from error


def _refuse_unknown(keys: Iterable[str], known: tuple[str, ...], where: str) -> None:
    for key in keys:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}"
            raise FormatError(f"{where}: expected a known key ({hint}), found {_short(key)}")


def _lines(text: str) -> list[dict[str, int]]:
    """Return the lines of the keys of each [[watchpoint]], and under "" that of its header, by the look of the lines."""
    found: list[dict[str, int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if _HEADER.match(line):
            found.append({"": number})
        elif found and (key := _KEY.match(line)):
            found[-1].setdefault(key[1], number)
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
