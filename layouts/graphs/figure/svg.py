"""SVG of a graph, for the minimap and for downloads. Every text from a file is escaped."""

from __future__ import annotations

from html import escape

from parsers.analysis.graphs import Visible

from layouts.graphs.figure.arrangement import Arrangement
from layouts.graphs.figure.boxes import Rect, small_label, title, whole_label
from layouts.graphs.figure.graph_style import DARK, LIGHT, GraphStyle, fill, smooth
from layouts.graphs.figure.scale import Paints

BAR_WIDTH, BAR_HEIGHT = 420, 60.0
"""Size in pixels of the bar of colours with its title, above a painted drawing."""
_STYLE = 'font-family="system-ui, sans-serif" text-anchor="middle" dominant-baseline="central"'


def minimap(visible: Visible, arrangement: Arrangement, *, dark: bool = False) -> str:
    """Return only the boxes, without texts, to keep the SVG small."""
    look = DARK if dark else LIGHT
    parts = [
        _rect(box, fill(look, item), look.frame_line if item.opened else "none", 2 if item.opened else 0)
        for item, box in zip(visible.items, arrangement.boxes, strict=True)
    ]
    return _document(arrangement, parts, look, 0)


def picture(visible: Visible, arrangement: Arrangement, *, dark: bool = False, paint: Paints | None = None) -> str:
    """Return the whole drawing with texts, on the background of a card; of a painted graph with its colours and their bar."""
    look = DARK if dark else LIGHT
    frames: list[str] = []
    boxes: list[str] = []
    for item, box, places in zip(visible.items, arrangement.boxes, arrangement.beside, strict=True):
        target = frames if item.opened else boxes
        value, colour, ink = _painted(paint, item.key, fill(look, item), look, plain=item.opened or not item.members)
        dash = "4 3" if item.kind in ("more", "earlier", "later") else ""
        target.append(_rect(box, colour, look.frame_line if item.opened else look.line(item.kind), 1, dash, 6))
        if item.kind == "stack" and not item.opened:
            behind = Rect(box.x + 4, box.y - 4, box.width, box.height)
            target.insert(len(target) - 1, _rect(behind, colour, look.line(item.kind), 1, "", 6))
        x, y = title(item, box) if item.opened else (box.x, box.y)
        label = f"{whole_label(item)} · {value}" if value and item.opened else whole_label(item)
        below = value if not item.opened else ""
        target.append(_label(x, y - 6 if below else y, label, 12, ink))
        if below:
            target.append(_label(x, y + 6, below, 10.5, ink))
        for place, (small, rect) in enumerate(zip(item.beside, places, strict=True)):
            key = f"{item.key}.{place}"
            _, colour, ink = _painted(paint, key, look.small[small.kind], look, plain=small.kind == "proxy")
            boxes.append(_rect(rect, colour, "none", 0, "", 7))
            boxes.append(_label(rect.x, rect.y, small_label(small), 9.5, ink if paint and key in paint.boxes else look.muted))
    links = []
    for link, bends in zip(visible.links, arrangement.bends, strict=True):
        path = smooth(arrangement.boxes[link.source], bends, arrangement.boxes[link.target])
        dash = ' stroke-dasharray="4 3"' if link.kind != "data" else ""
        width = look.width(link.count)
        links.append(
            f'<path d="{path}" stroke="{look.edge}" fill="none" stroke-width="{width:.1f}"{dash} marker-end="url(#a)"/>'
        )
    return _document(arrangement, [*frames, *links, *boxes], look, 24, paint)


def _painted(paint: Paints | None, key: str, usual: str, look: GraphStyle, *, plain: bool) -> tuple[str, str, str]:
    """Return (value, colour, colour of the text) of a box; plain: it keeps its colour."""
    if paint is None:
        return "", usual, look.text
    value, colour, ink = paint.boxes.get(key, ("", look.quiet, look.text))
    return (value, usual, look.text) if plain else (value, colour, ink)


def _bar(paint: Paints, look: GraphStyle, top: float) -> list[str]:
    """The bar of colours with its title and ticks, above the drawing."""
    last = len(paint.stops) - 1
    stops = "".join(f'<stop offset="{place / last:g}" stop-color="{one}"/>' for place, one in enumerate(paint.stops))
    ticks = [
        f'<text x="{share * BAR_WIDTH:.0f}" y="{top + 42:.0f}" font-size="10.5" fill="{look.text}" font-family="system-ui, '
        f'sans-serif" text-anchor="{"start" if share == 0 else "end" if share == 1 else "middle"}">{_text(said)}</text>'
        for share, said in paint.ticks
    ]
    head = f'<text x="0" y="{top + 10:.0f}" font-size="12" fill="{look.text}" font-family="system-ui, sans-serif">'
    return [
        f'<defs><linearGradient id="b">{stops}</linearGradient></defs>', f"{head}{_text(paint.title)}</text>",
        f'<rect x="0" y="{top + 17:.0f}" width="{BAR_WIDTH}" height="12" fill="url(#b)" stroke="{look.border}"/>', *ticks,
    ]  # fmt: skip


def _label(x: float, y: float, text: str, size: float, colour: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size:g}" fill="{colour}" {_STYLE}>{_text(text)}</text>'


def _document(
    arrangement: Arrangement, parts: list[str], look: GraphStyle, margin: int, paint: Paints | None = None
) -> str:
    width, height = arrangement.width + 2 * margin, arrangement.height + 2 * margin
    above = 0.0
    if paint is not None:
        above = BAR_HEIGHT
        width = max(width, BAR_WIDTH + 2 * margin)
        parts = [*_bar(paint, look, -above), *parts]
    height += above
    arrow = (
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="{look.edge}"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-margin} {-margin - above:.0f} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">{arrow if margin else ""}'
        f'<rect x="{-margin}" y="{-margin - above:.0f}" width="{width:.0f}" height="{height:.0f}" fill="{look.back}"/>'
        f"{''.join(parts)}</svg>"
    )


def _rect(box: Rect, colour: str, line: str, width: float, dash: str = "", radius: float = 0) -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{box.x - box.width / 2:.0f}" y="{box.y - box.height / 2:.0f}" width="{box.width:.0f}" '
        f'height="{box.height:.0f}" rx="{radius:g}" fill="{colour}" stroke="{line}" stroke-width="{width:g}"{dashes}/>'
    )


def _text(text: str) -> str:
    return escape(written(text))


def written(text: str) -> str:
    """Replace the characters that XML cannot represent."""
    return "".join(one if _written(one) else "\ufffd" for one in text)


def _written(one: str) -> bool:
    return one >= " " and not "\ud800" <= one <= "\udfff" and one not in "\ufffe\uffff"
