"""Format numbers, sizes and durations as text; nothing else does. The browser formats times of day, in its own zone."""

from __future__ import annotations

import math
from datetime import UTC, datetime

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def number(value: float | None, digits: int = 4) -> str:
    """Format a number to 4 significant digits, thousands separated: 0.01235, 1,235, 1.235e-07. Empty for None."""
    if value is None:
        return ""
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


def tick(value: float) -> str:
    """Format a tick label to at most 6 digits, without trailing zeros: 0.25, 60,000, 1e-05, 1e+12."""
    short = f"{value:.6g}"
    return f"{float(short):,.0f}" if "e" not in short and abs(value) >= 1e4 else short


def count(value: int) -> str:
    """Format a whole number, thousands separated."""
    return f"{value:,}"


def size(value: float) -> str:
    """Format a number of bytes in powers of 1,024: 512 B, 3.1 GiB."""
    if value < 1024:
        return f"{value:,.0f} B"
    step = min(int(math.log2(value) // 10), len(_BYTES) - 1)
    scaled = value / 1024**step
    if scaled >= 1023.5 and step < len(_BYTES) - 1:
        scaled, step = scaled / 1024, step + 1
    return f"{scaled:,.1f} {_BYTES[step]}" if scaled < 99.95 else f"{scaled:,.0f} {_BYTES[step]}"


def megabytes(size: float) -> str:
    """Write bytes in units of 1,000, as files of communication count them: 1.05 MB."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= scale:
            return f"{size / scale:,.0f} {unit}" if size >= 100 * scale else f"{size / scale:.3g} {unit}"
    return f"{size:,.0f} B"


def duration(seconds: float) -> str:
    """Format a duration: 1.24 ms, 12.3 s, 4 m 05 s, 2 h 03 m, 3 d 04 h."""
    if not math.isfinite(seconds):
        return number(seconds)
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds == 0:
        return "0 s"
    if seconds < 59.95:
        scale, unit = next((pair for pair in _TIMES if seconds >= pair[0] * 0.9995), _TIMES[-1])
        return f"{seconds / scale:.3g} {unit}"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours < 24:
        return f"{hours} h {minutes:02d} m"
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days} d {hours:02d} h"


def moment(seconds: float | None) -> str:
    """Format a time in seconds since 1970 as ISO 8601 in UTC; empty for None and for times datetime cannot represent."""
    if seconds is None or not math.isfinite(seconds):
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""
