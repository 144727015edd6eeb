"""Texts that users enter, checked and normalised before they are saved.

All of them are untrusted: they come from a browser, or from a file that anybody may have edited. What is not valid raises
`InvalidInput`.
"""

from __future__ import annotations

import hashlib
import re

LONGEST_NAME = 100
LONGEST_PLACE = 60_000

# Control characters except tab and line feed, lone surrogates, and characters that change the direction of the text.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PLACE = re.compile(r"[a-z][a-z0-9_-]{0,63}|")
_QUERY = re.compile(r"[!$-;=?-~]*")
_NOT_SAVED = ("embed", "token", "card")
"""Query keys that belong to a browser window, not to the view in it."""


class InvalidInput(ValueError):
    """A remark, tag, name or place that is not valid; the text says what was expected and what was found."""


def plain_text(what: str, text: str, longest: int) -> str:
    """Normalise a text: strip it, end lines with line feeds, replace invisible characters. InvalidInput if it is too long."""
    found = _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(found) > longest:
        raise InvalidInput(f"{what}: expected at most {longest:,} characters, found {len(found):,}")
    return found


def exact_text(what: str, text: str, longest: int) -> str:
    """Return a text that names something by all its characters; only lone surrogates, which no file has, are replaced.

    InvalidInput if it is too long.
    """
    if len(text) > longest:
        raise InvalidInput(f"{what}: expected at most {longest:,} characters, found {len(text):,}")
    return _SURROGATES.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Replace invisible characters of a text, and each run of white space by one space."""
    return " ".join(_UNSEEN.sub("\ufffd", text).split())


def view_name(text: str) -> str:
    """Normalise the name of a view to one line. InvalidInput if it is empty or too long."""
    name = one_line(text)
    if not name or len(name) > LONGEST_NAME:
        raise InvalidInput(f"name: expected 1 to {LONGEST_NAME} characters, found {len(name):,}")
    return name


def view_place(text: str) -> str:
    """Normalise an address within the application: the path of a page, "?" and a query. InvalidInput for any other address.

    Query keys that belong to the window or its visitor are dropped.
    """
    path, mark, query = text.partition("?")
    if not _PLACE.fullmatch(path) or not _QUERY.fullmatch(query) or len(text) > LONGEST_PLACE:
        raise InvalidInput(f"place: expected a page of this application with its state, found {text[:80]!r}")
    parts = [part for part in query.split("&") if part and part.partition("=")[0] not in _NOT_SAVED]
    return path + mark + "&".join(parts) if parts else path


def readable(text: str, longest: int) -> bool:
    """Return whether a text has 1 to `longest` characters, all of them visible."""
    return 0 < len(text) <= longest and not _UNSEEN.search(text)


def version_of(*parts: str) -> str:
    """Return a short hash of the texts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
