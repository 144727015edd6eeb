"""Draws samples over time as an SVG for the documentation: one small chart below the other, each with its own scale."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT, LEFT, GAP = 760, 110, 70, 26
UNITS = {"memory": "MB", "workspace": "MB"}


def drawn(samples: Sequence[dict[str, float]], kinds: Sequence[str]) -> str:
    """Return the picture of some kinds; the line at a quarter of the time is where they should have become flat."""
    total = len(kinds) * (HEIGHT + GAP) + 20
    end = samples[-1]["seconds"] or 1.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{total}" fill="white"/>',
    ]
    for number, kind in enumerate(kinds):
        top = number * (HEIGHT + GAP) + GAP
        parts += _chart(samples, kind, top, end)
    parts.append(f'<text x="{LEFT}" y="{total - 6}">0</text>')
    parts.append(f'<text x="{WIDTH - 10}" y="{total - 6}" text-anchor="end">{end / 60:.0f} min</text></svg>')
    return "\n".join(parts)


def _chart(samples: Sequence[dict[str, float]], kind: str, top: float, end: float) -> list[str]:
    highest = max(max(one[kind] for one in samples) * 1.1, 1.0)
    across = (WIDTH - LEFT - 10) / end
    points = " ".join(
        f"{LEFT + one['seconds'] * across:.1f},{top + HEIGHT - HEIGHT * one[kind] / highest:.1f}" for one in samples
    )
    quarter = LEFT + end / 4 * across
    return [
        f'<text x="{LEFT}" y="{top - 6}" font-weight="bold">{kind}{f" ({UNITS[kind]})" if kind in UNITS else ""}</text>',
        f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{highest:.0f}</text>',
        f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>',
        f'<path d="M{LEFT} {top}V{top + HEIGHT}H{WIDTH - 10}" fill="none" stroke="#999"/>',
        f'<path d="M{quarter:.1f} {top}v{HEIGHT}" stroke="#999" stroke-dasharray="4 3"/>',
        f'<polyline points="{points}" fill="none" stroke="#1565c0" stroke-width="1.5"/>',
    ]
