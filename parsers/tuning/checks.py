"""Reads one parameter of a configuration, with the checks of MindInsight's mindoptimizer and those of what is new."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from parsers.tuning.description import SYSTEM_PARAMETERS, TunedParameter, label
from parsers.tuning.mapping import Section, plain, shown

_KEYS = ("bounds", "choice", "type", "source", "decimal", "log", "step", "when")
MOST_CHOICES = 10_000
MOST_DECIMALS = 15
LARGEST = 1 << 53
"""Integers beyond this one have no exact float, which is how Optuna stores them."""


def parameter_of(name: str, section: Section) -> TunedParameter | None:
    """Return the parameter that a mapping describes; None after noting a mistake."""
    section.only(_KEYS)
    kind = section.choice("type", ("int", "float"))
    user_defined = _user_defined(name, section)
    when = _when(section)
    has = [key for key in ("bounds", "choice") if key in section.fields]
    if len(has) != 1:
        section.mistakes.add(section.line, section.name, "one of bounds and choice", "both" if has else "neither")
        return None
    if has == ["choice"]:
        choices = _choices(section, kind)
        return TunedParameter(name, "choice", choices=choices, user_defined=user_defined, when=when) if choices else None
    if not kind:
        if "type" not in section.fields:
            section.wrong("type", "int or float beside bounds", "none")
        return None
    pair = _bounds(section)
    if pair is None:
        return None
    found = _whole(section, *pair) if kind == "int" else _real(section, *pair)
    if found is None:
        return None
    low, high, step = found
    log = section.switch("log")
    if log and (step is not None or "decimal" in section.fields):
        section.wrong("log", "a log scale without step and decimal", "both")
    if log and low <= 0:
        section.wrong("bounds", "bounds above 0 for a log scale", shown(section.get("bounds")))
    return TunedParameter(name, kind, low, high, log, step, (), user_defined, when)  # type: ignore[arg-type]


def _user_defined(name: str, section: Section) -> bool:
    source = section.choice("source", ("system_defined", "user_defined"))
    if source == "system_defined" and name not in SYSTEM_PARAMETERS:
        section.wrong("source", f"user_defined (only {', '.join(SYSTEM_PARAMETERS)} are system_defined)", source)
    return source == "user_defined" if source else name not in SYSTEM_PARAMETERS


def _when(section: Section) -> Mapping[str, tuple[Any, ...]]:
    given = section.section("when", None)
    found = {key: plain(one.value) for key, one in given.fields.items()}
    return {key: tuple(value) if isinstance(value, list) else (value,) for key, value in found.items()}


def _choices(section: Section, kind: str) -> tuple[Any, ...]:
    value = plain(section.get("choice"))
    if not isinstance(value, list) or not value:
        section.wrong("choice", "a list of at least one value", "an empty list" if value == [] else shown(value))
        return ()
    if len(value) > MOST_CHOICES:
        section.wrong("choice", f"at most {MOST_CHOICES:,} values", f"{len(value):,}")
        return ()
    for key in ("log", "step", "decimal"):
        if key in section.fields:
            section.wrong(key, "it beside bounds only", "it beside choice")
    wrong = [one for one in value if not _is_a(one, kind)]
    if wrong:
        section.wrong("choice", f"numbers of type {kind}", shown(wrong[0]))
        return ()
    numbers = [one for one in value if isinstance(one, float) and not math.isfinite(one)]
    if numbers:
        section.wrong("choice", "finite numbers", shown(numbers[0]))
        return ()
    twice = [one for one, count in Counter(label(one) for one in value).items() if count > 1]  # 1, 1.0 and true are equal
    if twice:
        section.wrong("choice", "each value once (true is 1, and 1.0 is 1)", f"{twice[0]!r} twice")
        return ()
    if kind == "float":
        return tuple(float(one) for one in value)
    return tuple(value)


def _is_a(value: Any, kind: str) -> bool:
    if not kind:
        return True
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if kind == "int" else isinstance(value, int | float)


def _bounds(section: Section) -> tuple[float, float] | None:
    value = section.get("bounds")
    if not isinstance(value, list) or len(value) != 2:
        section.wrong("bounds", "a list of a lower and an upper bound", "an empty list" if value == [] else shown(value))
        return None
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and abs(one) < math.inf for one in value):
        section.wrong("bounds", "two finite numbers", shown(value))
        return None
    low, high = value
    if not low < high:
        section.wrong("bounds", "an upper bound above the lower one", shown(value))
        return None
    return low, high


def _whole(section: Section, low: float, high: float) -> tuple[float, float, float | None] | None:
    """Return the first and the last integer, and the step. The upper bound itself is excluded, as in mindoptimizer."""
    if "decimal" in section.fields:
        section.wrong("decimal", "it for type float only", "it for int")
    first, last = math.ceil(low), math.ceil(high) - 1
    if first > last:
        section.wrong("bounds", "an integer from the lower bound to below the upper one", shown(section.get("bounds")))
        return None
    if max(abs(first), abs(last)) > LARGEST:
        section.wrong("bounds", f"integers of at most {LARGEST:,}", shown(section.get("bounds")))
        return None
    step = section.whole("step", low=1)
    return first, last - (last - first) % step if step else last, step


def _real(section: Section, low: float, high: float) -> tuple[float, float, float | None] | None:
    """Return bounds and step. With `decimal` bounds and steps have that number of decimal places."""
    step = section.number("step", above=0.0)
    decimals = section.whole("decimal", low=0)
    if decimals is not None:
        if decimals > MOST_DECIMALS or step is not None:
            section.wrong("decimal", f"at most {MOST_DECIMALS} decimal places, and no step", str(decimals))
            return None
        unit = Decimal(1).scaleb(-decimals)
        first, last = math.ceil(Decimal(str(low)) / unit) * unit, math.floor(Decimal(str(high)) / unit) * unit
        if first > last:
            section.wrong("bounds", f"a number with {decimals} decimal places between them", shown(section.get("bounds")))
            return None
        return float(first), float(last), float(unit)
    if step is not None:
        width = Decimal(str(high)) - Decimal(str(low))
        high = float(Decimal(str(low)) + width // Decimal(str(step)) * Decimal(str(step)))
    return float(low), float(high), step


def check_system(parameter: TunedParameter, section: Section) -> None:
    """Check what MindSpore records by itself: rates in (0, 1], batch sizes and epochs above 0."""
    if parameter.user_defined or parameter.name not in SYSTEM_PARAMETERS:
        return
    rate = parameter.name == "learning_rate"
    kind = section.get("type")
    if kind is not None and kind != ("float" if rate else "int"):
        section.wrong("type", "float" if rate else "int", shown(kind))
        return
    if parameter.kind == "choice":
        wanted = float if rate else int
        wrong = [one for one in parameter.choices if isinstance(one, bool) or not isinstance(one, wanted)]
        wrong += [one for one in parameter.choices if one not in wrong and (one <= 0 or (rate and one >= 1))]
        if wrong:
            section.wrong("choice", "numbers above 0 and below 1" if rate else "whole numbers above 0", shown(wrong[0]))
        return
    low, high = section.get("bounds")
    if low <= 0:
        section.wrong("bounds", "bounds above 0", shown(section.get("bounds")))
    if rate and high > 1:
        section.wrong("bounds", "an upper bound of at most 1", shown(section.get("bounds")))
