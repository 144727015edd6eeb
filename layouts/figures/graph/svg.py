"""SVG of a graph, for the minimap and for downloads. Every text from a file is escaped."""

from __future__ import annotations

from html import escape

from parsers.analysis.graphs import Visible

from layouts.figures.graph.arrangement import Arrangement
from layouts.figures.graph.boxes import Rect, label, small_label, title
from layouts.figures.graph.look import DARK, LIGHT, Look, fill, smooth

_STYLE = 'font-family="system-ui, sans-serif" text-anchor="middle" dominant-baseline="central"'


def minimap(visible: Visible, arrangement: Arrangement, *, dark: bool = False) -> str:
    """Return only the boxes, without texts, to keep the SVG small."""
    look = DARK if dark else LIGHT
    parts = [
        _rect(box, fill(look, item), look.frame_line if item.opened else "none", 2 if item.opened else 0)
        for item, box in zip(visible.items, arrangement.boxes, strict=True)
    ]
    return _document(arrangement, parts, look, 0)


def picture(visible: Visible, arrangement: Arrangement, *, dark: bool = False) -> str:
    """Return the whole drawing with texts, on the background of a card."""
    look = DARK if dark else LIGHT
    frames: list[str] = []
    boxes: list[str] = []
    for item, box, places in zip(visible.items, arrangement.boxes, arrangement.beside, strict=True):
        target = frames if item.opened else boxes
        dash = "4 3" if item.kind in ("more", "earlier", "later") else ""
        target.append(_rect(box, fill(look, item), look.frame_line if item.opened else look.line(item.kind), 1, dash, 6))
        if item.kind == "stack" and not item.opened:
            behind = Rect(box.x + 4, box.y - 4, box.width, box.height)
            target.insert(len(target) - 1, _rect(behind, fill(look, item), look.line(item.kind), 1, "", 6))
        x, y = title(item, box) if item.opened else (box.x, box.y)
        target.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="12" fill="{look.text}" {_STYLE}>{_text(label(item))}</text>')
        for small, place in zip(item.beside, places, strict=True):
            boxes.append(_rect(place, look.small[small.kind], "none", 0, "", 7))
            boxes.append(
                f'<text x="{place.x:.0f}" y="{place.y:.0f}" font-size="9.5" fill="{look.muted}" {_STYLE}>'
                f"{_text(small_label(small))}</text>"
            )
    links = []
    for link, bends in zip(visible.links, arrangement.bends, strict=True):
        path = smooth(arrangement.boxes[link.source], bends, arrangement.boxes[link.target])
        dash = ' stroke-dasharray="4 3"' if link.kind != "data" else ""
        width = look.width(link.count)
        links.append(
            f'<path d="{path}" stroke="{look.edge}" fill="none" stroke-width="{width:.1f}"{dash} marker-end="url(#a)"/>'
        )
    return _document(arrangement, [*frames, *links, *boxes], look, 24)


def _document(arrangement: Arrangement, parts: list[str], look: Look, margin: int) -> str:
    width, height = arrangement.width + 2 * margin, arrangement.height + 2 * margin
    arrow = (
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path d="M0 0L8 4L0 8z" fill="{look.edge}"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-margin} {-margin} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">{arrow if margin else ""}'
        f'<rect x="{-margin}" y="{-margin}" width="{width:.0f}" height="{height:.0f}" fill="{look.back}"/>'
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
