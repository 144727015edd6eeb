"""Fields of a configuration that know their line, and the mistakes found in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_MISTAKES = 20


class Mistakes:
    """The mistakes in one file, as lines of text in the order they were found."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[str] = []

    def add(self, line: int, name: str, expected: str, found: str) -> None:
        """Add one; of more than MOST_MISTAKES the others are left out."""
        if len(self.lines) < MOST_MISTAKES:
            place = f"{name}: " if name else ""
            short = found if len(found) <= 200 else found[:200] + "..."
            text = f"{self.path}, line {line}: {place}expected {expected}, found {short}"
            if text not in self.lines:
                self.lines.append(text)


@dataclass(frozen=True, slots=True)
class SettingField:
    """A value, its full name and the line of its key. The value is a Section, a list, or a single value."""

    name: str
    line: int
    value: Any


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping. Its methods return a field if it is right; otherwise they note a mistake and return None or ""."""

    name: str
    line: int
    fields: Mapping[str, SettingField]
    mistakes: Mistakes = field(repr=False)

    def wrong(self, key: str, expected: str, found: str) -> None:
        """Note a mistake in a field."""
        known = self.fields.get(key)
        name = f"{self.name}.{key}" if self.name else key
        self.mistakes.add(known.line if known else self.line, name, expected, found)

    def only(self, keys: Sequence[str]) -> None:
        """Note every field that is not among these."""
        for key in self.fields:
            if key not in keys:
                self.wrong(key, f"one of {', '.join(keys)}", "an unknown key")

    def section(self, key: str, keys: Sequence[str] | None, *, required: str = "") -> Section:
        """Return a mapping, empty if there is none; keys are those it may have, None for any."""
        known = self.fields.get(key)
        name = f"{self.name}.{key}" if self.name else key
        if known is None or known.value is None:
            if required:
                self.wrong(key, required, "none")
            return Section(name, known.line if known else self.line, {}, self.mistakes)
        if not isinstance(known.value, Section):
            self.wrong(key, "a mapping", shown(known.value))
            return Section(name, known.line, {}, self.mistakes)
        if keys is not None:
            known.value.only(keys)
        return known.value

    def get(self, key: str) -> Any:
        """Return the value, None if it is missing."""
        known = self.fields.get(key)
        return None if known is None else known.value

    def text(self, key: str, *, required: str = "") -> str:
        """Return a text."""
        value = self.get(key)
        if value is None or value == "":
            if required:
                self.wrong(key, required, "none")
            return ""
        if not isinstance(value, str) or "\0" in value:
            self.wrong(key, "a text", shown(value))
            return ""
        return value

    def choice(self, key: str, choices: Sequence[str], *, required: bool = False) -> str:
        """Return one of several words."""
        value = self.get(key)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or value not in choices:
            self.wrong(key, f"one of {', '.join(choices)}", "none" if value is None else shown(value))
            return ""
        return value

    def number(
        self, key: str, *, above: float | None = None, least: float | None = None, most: float | None = None
    ) -> float | None:
        """Return a finite number."""
        value = self.get(key)
        if value is None:
            return None
        limits = [f"above {above:g}"] if above is not None else [f"of at least {least:g}"] if least is not None else []
        limits += [f"of at most {most:g}"] if most is not None else []
        number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if (
            not number
            or (above is not None and value <= above)
            or (least is not None and value < least)
            or (most is not None and value > most)
        ):
            self.wrong(key, " ".join(["a number", *limits]), shown(value))
            return None
        return float(value)

    def whole(self, key: str, *, low: int) -> int | None:
        """Return a whole number from low to 2 ** 31."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= 1 << 31:
            self.wrong(key, f"a whole number of at least {low}", shown(value))
            return None
        return value

    def switch(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(key, "true or false", shown(value))
            return default
        return value


def shown(value: Any) -> str:
    """Return a value for a message."""
    if isinstance(value, Section):
        return "a mapping"
    return "nothing" if value is None else repr(value)


def plain(value: Any) -> Any:
    """Return a value with sections as dicts."""
    if isinstance(value, Section):
        return {key: plain(one.value) for key, one in value.fields.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value
