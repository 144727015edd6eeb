"""Declare what a browser or a plain route may ask for: each parameter once, as a field of a `Request`.

    @dataclass(frozen=True, slots=True)
    class QueueRequest(Request):
        choice: ProfileChoice = asked.subject(read_choice, named=("run", "session", "rank"))
        unit: str = asked.one_of("unit", ("time", "share"))
        step: int | None = asked.whole("step")
        zoom: tuple[int, int] | None = asked.window("from", "to")
        dark: bool = asked.dark()

`QueueRequest.read(data)` parses a request, which has the form of a state (`layouts.kit.page.State`): {"unit": ["share"], ...}.
Every value in it is untrusted; one that is not valid raises `BadInput`, which the application answers with 400. The keys of the
page's address and of its CSV routes are `QueueRequest.keys()`: those of all fields except of what belongs to a browser window
(its theme, language, width) and not to the view in it. What a request is about has other names in an address than in a request
and a plain route: `QueueRequest.route_keys()` has these too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from layouts.kit.i18n import LANGUAGES
from layouts.kit.state import BadInput, flag, number, text, texts

_WHOLE_NUMBERS = 2.0**53
_COLUMNS = (50, 8_000)
_DAY_MINUTES = 24 * 60
THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Parameter:
    """How a field of a request is read.

    keys are those of the address, named those of plain routes alone, beside what a browser window adds to a request; read
    takes the whole request. choices are all texts that are valid under the keys, () if others are, too. A request without its
    subject is no request.
    """

    keys: tuple[str, ...]
    read: Callable[[Any], Any]
    named: tuple[str, ...] = ()
    is_subject: bool = False
    choices: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


def _parameter(keys: tuple[str, ...], read: Callable[[Any], Any], default: Any, choices: Sequence[str] = ()) -> Any:
    return field(default=default, metadata={"parameter": Parameter(keys, read, choices=tuple(choices))})


def _of_window(key: str, read: Callable[[Any], Any], default: Any, choices: Sequence[str] = ()) -> Any:
    return field(default=default, metadata={"parameter": Parameter((), read, choices=tuple(choices), beside=(key,))})


class Request:
    """A request whose fields are parameters. Subclasses are dataclasses."""

    __slots__ = ()

    @classmethod
    def read(cls, data: Any) -> Self:
        """Parse a request. Raises BadInput if a value is not valid, or if the subject is missing."""
        found = cls.read_any(data)
        if found is None:
            raise BadInput(f"ask: expected what it is about, found {', '.join(data or ())[:80] or 'nothing'}")
        return found

    @classmethod
    def read_any(cls, data: Any) -> Self | None:
        """Parse a request; None if it does not say what it is about. Raises BadInput if a value is not valid."""
        if data is not None and not isinstance(data, dict):
            raise BadInput(f"ask: expected an object; found {type(data).__name__}")
        values = {}
        for name, parameter in parameters(cls):
            value = values[name] = parameter.read(data)
            if parameter.is_subject and value is None:
                return None
        return cls(**values)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """The keys of the address."""
        return tuple(dict.fromkeys(key for _, parameter in parameters(cls) for key in parameter.keys))

    @classmethod
    def route_keys(cls) -> tuple[str, ...]:
        """The parameters of a plain route."""
        return tuple(dict.fromkeys(key for _, one in parameters(cls) for key in (*one.named, *one.keys)))


def parameters(cls: type[Request]) -> list[tuple[str, Parameter]]:
    """Return the name of each field that is a parameter, and the parameter."""
    return [(one.name, one.metadata["parameter"]) for one in fields(cls) if "parameter" in one.metadata]  # type: ignore[arg-type]  # a dataclass


def subject(read: Callable[[Any], Any], *, named: Sequence[str] = ()) -> Any:
    """What the request is about, under the names of plain routes; read returns None if there is nothing under them."""
    return field(metadata={"parameter": Parameter((), read, tuple(named), is_subject=True)})


def part(read: Callable[[Any], Any], *keys: str, named: Sequence[str] = (), default: Any = None) -> Any:
    """A value that a function reads from the request, of which it uses these keys."""
    return field(default=default, metadata={"parameter": Parameter(keys, read, tuple(named))})


def parsed(key: str, parse: Callable[[str], Any], *, default: Any = None, limit: int = 4096) -> Any:
    """A value parsed from a text of at most `limit` characters, "" if there is none."""
    return _parameter((key,), lambda data: parse(text(data, key, limit=limit)), default)


def one_of(key: str, choices: Sequence[str], default: str | None = None) -> Any:
    """One of some texts, by default the first one."""
    usual = choices[0] if default is None else default
    return _parameter((key,), lambda data: text(data, key, usual, choices), usual, choices)


def word(key: str, *, default: str = "", limit: int = 4096) -> Any:
    """A text of at most `limit` characters."""
    return _parameter((key,), lambda data: text(data, key, default, limit=limit), default)


def words(key: str, *, most: int | None = None, limit: int | None = None) -> Any:
    """Texts without duplicates in their order, at most `most` of at most `limit` characters."""
    return _parameter((key,), lambda data: read_words(data, key, most, limit), ())


def read_words(data: Any, key: str, most: int | None = None, limit: int | None = None) -> tuple[str, ...]:
    """Return the texts under a key. Raises BadInput if they are too many or one is too long."""
    found = tuple(texts(data, key))
    if most is not None and len(found) > most:
        raise BadInput(f"{key}: expected at most {most:,}, found {len(found):,}")
    longest = max(map(len, found), default=0)
    if limit is not None and longest > limit:
        raise BadInput(f"{key}: expected at most {limit:,} characters, found {longest:,}")
    return found


def some_of(key: str, choices: Sequence[str]) -> Any:
    """Some of a few texts."""

    def read(data: Any) -> tuple[str, ...]:
        found = tuple(texts(data, key))
        wrong = next((one for one in found if one not in choices), None)
        if wrong is not None:
            raise BadInput(f"{key}: expected some of {', '.join(choices)}; found {wrong[:80]!r}")
        return found

    return _parameter((key,), read, (), choices)


def whole(key: str, *, low: float = 0.0, high: float = _WHOLE_NUMBERS) -> Any:
    """A whole number from low to high, None for none."""
    return _parameter((key,), lambda data: read_whole(data, key, low, high), None)


def read_whole(data: Any, key: str, low: float = 0.0, high: float = _WHOLE_NUMBERS) -> int | None:
    """Return the whole number under a key, None if there is none."""
    return int(number(data, key, 0.0, low, high)) if text(data, key) else None


def count(key: str, default: int, low: float, high: float) -> Any:
    """A whole number from low to high with a default."""
    return _parameter((key,), lambda data: int(number(data, key, default, low, high)), default)


def real(key: str, default: float, low: float, high: float, unit: float = 1.0) -> Any:
    """A number from low to high in a unit, which is the size of the unit in that of the field."""
    return _parameter((key,), lambda data: number(data, key, default, low, high) * unit, default * unit)


def order(columns: Sequence[str], default: str = "", *, key: str = "by") -> Any:
    """The column that rows are sorted by, and whether they fall: "size" is (size, False), "-size" (size, True)."""

    def parse(by: str) -> tuple[str, bool]:
        column = by.removeprefix("-")
        if column not in columns:
            raise BadInput(f"{key}: expected one of {', '.join(columns)}; found {column[:80]!r}")
        return column, by.startswith("-")

    usual = default.removeprefix("-"), default.startswith("-")
    return _parameter((key,), lambda data: parse(found) if (found := text(data, key, limit=80)) else usual, usual)


def switch(key: str, *, default: bool = False) -> Any:
    """Yes ("1") or no ("0")."""
    return _parameter((key,), lambda data: flag(data, key, default), default, ("0", "1"))


def window(first: str = "from", last: str = "to", high: float = 2.0**31) -> Any:
    """Two whole numbers, None unless both are there."""

    def read(data: Any) -> tuple[int, int] | None:
        begin, end = read_whole(data, first, high=high), read_whole(data, last, high=high)
        return None if begin is None or end is None else (begin, end)

    return _parameter((first, last), read, None)


# What belongs to a browser window -------------------------------------------------------------------------------------


def language() -> Any:
    """The language of the reader."""
    return _of_window("lang", lambda data: text(data, "lang", LANGUAGES[0], LANGUAGES), LANGUAGES[0], LANGUAGES)


def dark() -> Any:
    """Whether the theme is dark."""
    return _of_window("theme", lambda data: text(data, "theme", THEMES[0], THEMES) == "dark", False, THEMES)


def columns(default: int = 1_000) -> Any:
    """The width of a plot in pixels."""
    return _of_window("columns", lambda data: int(number(data, "columns", default, *_COLUMNS)), default)


def zone() -> Any:
    """The browser's offset from UTC, which it sends in minutes, in seconds."""
    return _of_window("zone", lambda data: number(data, "zone", 0.0, -_DAY_MINUTES, _DAY_MINUTES) * 60.0, 0.0)


# What cards are about -------------------------------------------------------------------------------------------------


def read_one_tag(data: Any) -> str:
    """Return the tag of a request that has one."""
    tags = texts(data, "tag")
    if len(tags) != 1:
        raise BadInput(f"tag: expected one; found {len(tags)}")
    return tags[0]


def read_runs(data: Any) -> dict[str, list[str]]:
    """Return the part of the state that names the chosen runs."""
    runs = texts(data, "run")
    return {"run": runs} if runs else {}
