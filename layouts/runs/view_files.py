"""View files: an address with patterns and comments, as TOML that people write and keep beside their code.

    page = "scalars"                # as in the address; "" or left out for the list of runs
    runs = ["lenet_.*"]             # regular expressions that are found in names of runs; left out: those the page shows itself
    newest = 10                     # of these the newest ones
    tagged = "baseline"             # of these those with a tag
    card = "loss"                   # tag or title of a card, which `mindscope save` saves alone

    [state]                         # what else the address has
    smooth = 0.6
    pin = ["loss", "accuracy"]

A file is text of anybody: unknown keys and values of other types are refused, patterns are matched within a time limit
(`layouts.kit.patterns`), and what it names is looked up among the runs, never opened.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote

from layouts import PAGES
from layouts.kit.user_input import LONGEST_PLACE, InvalidInput, readable, view_place
from layouts.runs.rows import EVERY_RUN, RunRow
from layouts.runs.state_keys import KEYS_OF_PAGE, STATE_KEYS
from layouts.sources import Sources

LONGEST_FILE = 200_000
"""Characters of a view file."""
MOST_PATTERNS = 10_000
MOST_SEARCHED = 20
"""Patterns that are more than the name of a run: each is matched by a process of its own, within a second."""
MOST_NEWEST = 100_000
LONGEST_VALUE = 4_096
SUFFIX = ".toml"
_KEYS = ("page", "runs", "newest", "tagged", "card", "state")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_ESCAPED = re.compile(r"\\([\\.^$*+?{}\[\]|()])")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_HEAD = "# A view of Mindscope: open it with Views > Open view file, or: mindscope save THIS_FILE --out page.png DIR\n"


@dataclass(frozen=True, slots=True)
class ViewFile:
    """A view file, parsed: None where it has no such key."""

    page: str = ""
    runs: tuple[str, ...] | None = None
    newest: int | None = None
    tagged: str | None = None
    card: str = ""
    state: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# Reading -------------------------------------------------------------------------------------------------------------


def read_view(text: str) -> ViewFile:
    """Parse a view file. Raises InvalidInput, whose text is one line: the key, what was expected and what was found."""
    if len(text) > LONGEST_FILE:
        raise InvalidInput(f"expected a view file of at most {LONGEST_FILE:,} characters, found {len(text):,}")
    try:
        loaded = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "too deep nesting" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise InvalidInput(f"expected a view file in TOML, found an error: {reason}") from None
    _refuse_unknown(loaded, _KEYS, "")
    state = loaded.get("state", {})
    if not isinstance(state, dict):
        raise _wrong("state", "a table", state)
    if "run" in state:
        raise InvalidInput("state.run: expected the runs as patterns in runs = [...], before [state]")
    page = _page(loaded.get("page", ""))
    _refuse_unknown(state, sorted(keys_of(page)), "state.")
    return ViewFile(
        page, _patterns(loaded), _newest(loaded), _tagged(loaded), _card(loaded),
        {key: _values(f"state.{key}", value) for key, value in state.items()},
    )  # fmt: skip


def keys_of(path: str) -> frozenset[str]:
    """Return the keys that the state of a page may have, by the path of the page."""
    return next((KEYS_OF_PAGE[page.name] for page in PAGES if page.path == path), frozenset())


def _refuse_unknown(found: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    for key in found:
        if key in known:
            continue
        other = prefix and key in STATE_KEYS  # of another page, which says more than a similar name
        near = [] if other else difflib.get_close_matches(key, known, 1)
        inside = not near and not prefix and key in STATE_KEYS
        hint = f"did you mean {prefix}{near[0]}?" if near else "it belongs into [state]" if inside else ""
        hint = hint or (f"one of {', '.join(known)}" if not prefix else _elsewhere(key))
        raise InvalidInput(f"expected a key of view files, found {prefix}{key[:80]!r} ({hint})")


def _elsewhere(key: str) -> str:
    """Say of a key that the page of a view has not which pages have it."""
    having = [page.path or "runs" for page in PAGES if key in KEYS_OF_PAGE[page.name]]
    if not having:
        return "no page of this version has it"
    return f"a key of {', '.join(having[:4])}{' and others' if having[4:] else ''}"


def _wrong(key: str, expected: str, found: Any) -> InvalidInput:
    return InvalidInput(f"{key}: expected {expected}, found {str(found)[:80]!r}")


def _page(found: Any) -> str:
    if not isinstance(found, str):
        raise _wrong("page", "the name of a page", found)
    known = {name: page.path for page in PAGES for name in (page.path, page.name, *page.formerly)}
    if found not in known:
        near = difflib.get_close_matches(found, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(filter(None, known))}"
        raise InvalidInput(f"page: expected the name of a page, found {found[:80]!r} ({hint})")
    return known[found]


def _patterns(loaded: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "runs" not in loaded:
        return None
    found = loaded["runs"]
    texts = [found] if isinstance(found, str) else found
    if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
        raise _wrong("runs", "a list of patterns", found)
    if not 0 < len(texts) <= MOST_PATTERNS:
        hint = "" if texts else "; leave runs out, and the page chooses its own"
        raise InvalidInput(f"runs: expected 1 to {MOST_PATTERNS:,} patterns, found {len(texts):,}{hint}")
    return tuple(texts)


def _newest(loaded: Mapping[str, Any]) -> int | None:
    found = loaded.get("newest")
    if found is not None and (type(found) is not int or not 0 < found <= MOST_NEWEST):
        raise _wrong("newest", f"a whole number from 1 to {MOST_NEWEST:,}", found)
    return found


def _tagged(loaded: Mapping[str, Any]) -> str | None:
    found = loaded.get("tagged")
    if found is not None and not (isinstance(found, str) and found):
        raise _wrong("tagged", "a tag", found)
    return found


def _card(loaded: Mapping[str, Any]) -> str:
    found = loaded.get("card", "")
    if not isinstance(found, str) or ("card" in loaded and not readable(found, LONGEST_VALUE)):
        raise _wrong("card", "the tag or title of a card", found)
    return found


def _values(key: str, value: Any) -> tuple[str, ...]:
    texts = tuple(_value(key, one) for one in (value if isinstance(value, list) else [value]))
    if any(text and not readable(text, LONGEST_VALUE) for text in texts):
        raise InvalidInput(f"{key}: expected texts of at most {LONGEST_VALUE:,} characters that can be seen")
    return texts


def _value(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    raise _wrong(key, "a text, a number, true or false, or a list of these", value)


# Resolving -----------------------------------------------------------------------------------------------------------


def place_of(view: ViewFile, source: Sources) -> str:
    """Return the address within the application that a view means now: its page with the runs that it names, and its state.

    Raises InvalidInput if it names runs and there is none, if a pattern is invalid or takes too long, or if the address is too
    long.
    """
    runs = _runs(view, source)
    pairs = [("run", run) for run in runs or ()]
    pairs += [(key, value) for key, values in view.state.items() for value in values]
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in pairs)
    place = f"{view.page}?{query}" if query else view.page
    if len(place) > LONGEST_PLACE:
        raise InvalidInput(
            f"expected a view of fewer runs: an address has at most {LONGEST_PLACE:,} characters, found {len(place):,}"
        )
    return view_place(place)


def _runs(view: ViewFile, source: Sources) -> list[str] | None:
    """Return the keys of the runs that a view names, newest first, [EVERY_RUN] for all; None if it names none."""
    if view.runs is None and view.newest is None and view.tagged is None:
        return None
    every = list(source.runs.rows())
    rows = _matching(view.runs, every, source) if view.runs is not None else every
    if view.tagged is not None:
        notes = source.notes.notebook().notes
        rows = [row for row in rows if row.key in notes and view.tagged in notes[row.key].tags]
    rows = rows[: view.newest]
    if not rows:
        raise InvalidInput(f"expected a view of runs, found none of {len(every):,} with {_said(view)}")
    return [EVERY_RUN] if len(rows) == len(every) > 1 and view.newest is None else [row.key for row in rows]


def _matching(patterns: Sequence[str], rows: Sequence[RunRow], source: Sources) -> list[RunRow]:
    names = [row.name for row in rows]
    found = {name for pattern in patterns if (name := _literal(pattern)) is not None}
    searched = [pattern for pattern in patterns if _literal(pattern) is None]
    if len(searched) > MOST_SEARCHED:
        expected = f"expected at most {MOST_SEARCHED} patterns that are not the whole name of a run (^name$)"
        raise InvalidInput(f"runs: {expected}, found {len(searched):,}")
    for pattern in searched:
        try:
            found.update(source.patterns.matching(pattern, names))
        except ValueError as error:
            raise InvalidInput(f"runs: {pattern[:80]!r}: {error}") from None
    return [row for row in rows if row.name in found]


def _literal(pattern: str) -> str | None:
    """Return the only name that a pattern matches whole, as `view_text` writes it; None for another pattern."""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return None
    name = _ESCAPED.sub(r"\1", pattern[1:-1])
    return name if f"^{_SPECIAL.sub(_escaped, name)}$" == pattern else None


def _said(view: ViewFile) -> str:
    runs = f"runs = {list(view.runs[:3])}" if view.runs is not None else ""
    tagged = f"tagged = {view.tagged!r}" if view.tagged is not None else ""
    return " and ".join(filter(None, (runs, tagged))) or f"newest = {view.newest}"


# Writing -------------------------------------------------------------------------------------------------------------


def view_text(place: str) -> str:
    """Return an address within the application as a view file, without keys that its page ignores.

    Raises InvalidInput for any other address.
    """
    page, _, query = view_place(place).partition("?")
    state: dict[str, list[str]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key == "run" or key in keys_of(_page(page)):
            state.setdefault(key, []).append(value)
    runs = [run for run in state.pop("run", []) if run]
    patterns = [".*"] if EVERY_RUN in runs else [f"^{_SPECIAL.sub(_escaped, run)}$" for run in runs]
    lines = [_HEAD, f"page = {_text(page)}\n"]
    if patterns:
        lines.append(f"runs = {_listed(patterns, _text)}\n")
    if state:
        lines.append("\n[state]\n")
    lines += [f"{_key(key)} = {_written(values)}\n" for key, values in state.items()]
    return "".join(lines)


def _escaped(found: re.Match[str]) -> str:
    return f"\\{found[0]}"


def _written(values: Sequence[str]) -> str:
    return _scalar(values[0]) if len(values) == 1 else _listed(values, _scalar)


def _listed(values: Sequence[str], write: Any) -> str:
    written = [write(value) for value in values]
    if sum(map(len, written)) < 90:
        return f"[{', '.join(written)}]"
    return "[\n" + "".join(f"    {one},\n" for one in written) + "]"


def _scalar(value: str) -> str:
    """Return a value as a number where it is read back as the same text, otherwise as text."""
    if _PLAIN_NUMBER.fullmatch(value) and str(float(value) if "." in value else int(value)) == value:
        return value
    return _text(value)


def _text(value: str) -> str:
    if "'" not in value and "\\" in value and value.isprintable():
        return f"'{value}'"
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in plain) + '"'


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)
