"""Units: the only place that writes a percentage, bytes, a duration, a rate or a count as text; raw numbers of curves, too.

assets/kit/units.js is its counterpart for scripts; tests/layouts/kit/units.json holds cases on which both agree. Three
significant digits, thousands separated, and the unit. Only 0 is written as 0. What rounds up to the next unit is written
in that unit. What is unknown, None or NaN, is a dash. The browser formats times of day, in its own zone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal

MINUS = "\u2212"
UNKNOWN = "–"

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_PREFIXES = ("", "k", "M", "G", "T", "P", "E")
_TIMES = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"))
_LONGEST = 1e15
"""Seconds, 32 million years; what is longer is no duration, and is not written as days."""
_THREE = Context(prec=3, rounding=ROUND_HALF_UP)
_OTHER = {"> ": "< ", "< ": "> "}


def number(value: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """Format a number to 4 significant digits, thousands separated: 0.01235, 1,235, 1.235e-07. Empty for None.

    signed is for differences, beside percentages: a plus before what is above 0, and a minus sign instead of the hyphen of
    raw numbers.
    """
    if value is None:
        return ""
    if signed and not math.isnan(value):
        return _with_sign(value, number(abs(value), digits).lstrip("+"), signed=True)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0"
    scientific = f"{value:.{digits - 1}e}"
    exponent = int(scientific.partition("e")[2])
    if not -4 <= exponent < 6:
        return scientific
    if exponent >= digits:
        return f"{value:,.0f}"
    fixed = f"{value:,.{digits - 1 - exponent}f}"
    return fixed.rstrip("0").rstrip(".") if "." in fixed and value == int(value) else fixed


def exact(value: float | None) -> str:
    """Format a number in full precision: the shortest text that parses to the same float64. Empty for None."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return number(value)
    return repr(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def exact_percent(share: float) -> str:
    """Format a share as percent to twelve digits, which does not show what the multiplication by 100 rounds."""
    return f"{100 * share:.12g} %"


def tick(value: float) -> str:
    """Format a tick label to at most 6 digits, without trailing zeros: 0.25, 60,000, 1e-05, 1e+12."""
    short = f"{value:.6g}"
    return f"{float(short):,.0f}" if "e" not in short and abs(value) >= 1e4 else short


def count(value: float | None, *, signed: bool = False) -> str:
    """Format a number of things: 1,234,567; one that is not whole, such as a mean, to three digits."""
    if value is None:
        return UNKNOWN
    if not math.isfinite(value):
        return _special(value)
    whole = value == int(value) and abs(value) < 2**63
    return _with_sign(value, f"{int(abs(value)):,}" if whole else _digits(float(abs(value))), signed=signed)


def percent(share: float | None, *, signed: bool = False) -> str:
    """Format a share of 1 in percent: 5.43 %, 0.00123 %, 99.96 %; signed puts a plus before what is above 0.

    Only 0 is 0 %, and only the whole is 100 %: what lies nearer to it than two decimals can show is > 99.99 % or < 100.01 %.
    """
    if share is None:
        return UNKNOWN
    if not math.isfinite(100 * share):
        return _special(share)
    size, bound = float(abs(share)), ""
    text = "100" if size == 1 else _digits(100 * size)
    if text == "100" and size != 1:
        text = next((one for one in (_fixed(100 * size, 1), _fixed(100 * size, 2)) if float(one) != 100), "")
        if not text:
            text, bound = ("99.99", "> ") if size < 1 else ("100.01", "< ")
            bound = bound if share > 0 else _OTHER[bound]
    return f"{bound}{_with_sign(share, text, signed=signed)} %"


def size(value: float | None, *, signed: bool = False) -> str:
    """Format bytes of files and memory in powers of 1,024: 512 B, 3.10 GiB, 1,023 MiB."""
    if value is None:
        return UNKNOWN
    if not math.isfinite(value):
        return _special(value)
    scaled, step = float(abs(value)), 0
    while scaled >= 1023.5 and step < len(_BYTES) - 1:
        scaled, step = scaled / 1024, step + 1
    text = f"{int(scaled):,}" if step == 0 and scaled == int(scaled) else _digits(scaled)
    return f"{_with_sign(value, text, signed=signed)} {_BYTES[step]}"


def prefixed(value: float | None, unit: str) -> str:
    """Format an amount in powers of 1,000, as makers of devices and links count: 1.05 MB, 312 TFLOP."""
    if value is None:
        return UNKNOWN
    if not math.isfinite(value):
        return _special(value)
    scaled, step = float(abs(value)), 0
    while scaled >= 999.5 and step < len(_PREFIXES) - 1:
        scaled, step = scaled / 1000, step + 1
    text = str(int(scaled)) if step == 0 and scaled == int(scaled) else _digits(scaled)
    return f"{_with_sign(value, text)} {_PREFIXES[step]}{unit}"


def size_unit(largest: float) -> tuple[float, str]:
    """Return (bytes of the unit, unit) for an axis up to this many bytes."""
    return _unit(largest, _BYTES, 1024.0)


def prefixed_unit(largest: float, unit: str) -> tuple[float, str]:
    """Return (value of the unit, unit with its prefix) for an axis up to this value, in powers of 1,000."""
    return _unit(largest, tuple(f"{prefix}{unit}" for prefix in _PREFIXES), 1000.0)


def _unit(largest: float, units: Sequence[str], base: float) -> tuple[float, str]:
    step = next((step for step in range(len(units) - 1, 0, -1) if largest >= base**step), 0)
    return base**step, units[step]


def rate(value: float | None, unit: str) -> str:
    """Format an amount per second: 23.4 GB/s, 312 TFLOP/s."""
    return prefixed(value, f"{unit}/s")


def duration(seconds: float | None, *, signed: bool = False) -> str:
    """Format a duration: 1.24 ms, 12.3 s, 4 m 05 s, 2 h 03 m, 3 d 04 h."""
    if seconds is None:
        return UNKNOWN
    if not math.isfinite(seconds):
        return _special(seconds)
    return _with_sign(seconds, _time(float(abs(seconds))), signed=signed)


def _time(seconds: float) -> str:
    if seconds == 0:
        return "0 s"
    if seconds < 59.95 or seconds >= _LONGEST:
        factor, unit = next((one for one in _TIMES if seconds * one[0] >= 0.9995), _TIMES[-1])
        return f"{_digits(seconds * factor)} {unit}"
    minutes, rest = divmod(math.floor(seconds + 0.5), 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    hours, minutes = divmod(math.floor(seconds / 60 + 0.5), 60)
    if hours < 24:
        return f"{hours} h {minutes:02d} m"
    days, hours = divmod(math.floor(seconds / 3600 + 0.5), 24)
    return f"{days:,} d {hours:02d} h"


def _digits(value: float) -> str:
    """Write a number from 0 on to three digits, whole above that: 0, 0.0123, 1.20, 123, 12,346, 1.23e-5."""
    if value == 0:
        return "0"
    if value < 1e-4 or value >= 1e15:
        return f"{_THREE.create_decimal_from_float(value):.2e}"
    if value >= 999.5:
        return _fixed(value, 0)
    short = _THREE.create_decimal_from_float(value)
    return f"{short:.{2 - short.adjusted()}f}"


def _fixed(value: float, places: int) -> str:
    """Write a number with `places` decimals; halves are rounded up, as toFixed of JavaScript does."""
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def _with_sign(value: float, text: str, *, signed: bool = False) -> str:
    return f"{MINUS}{text}" if value < 0 else f"+{text}" if signed and value > 0 else text


def _special(value: float) -> str:
    return UNKNOWN if math.isnan(value) else "+Inf" if value > 0 else f"{MINUS}Inf"


def moment(seconds: float | None) -> str:
    """Format a time in seconds since 1970 as ISO 8601 in UTC; empty for None and for times datetime cannot represent."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""
