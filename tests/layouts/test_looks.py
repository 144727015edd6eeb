"""What css promises: readable text in both themes, an icon for every name, a colour for every variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.web.modules import Assets, folder_of

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets"
STYLES = {path.relative_to(ASSETS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(ASSETS.rglob("*.css"))}
SOURCES = [
    path for path in [*ASSETS.rglob("*.js"), *(ROOT / "layouts").rglob("*.py")]
    if not path.name.endswith("texts.py") and path.parent.name != "vendor"
]  # fmt: skip
CODE = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
VARIABLE = re.compile(r"(--ms-[a-z-]+):\s*([^;]+);")
LIGHT, DARK = (
    dict(VARIABLE.findall(STYLES["kit/kit.css"].partition(start)[2].partition("}")[0]))
    for start in (":root {", 'html[data-mantine-color-scheme="dark"] {')
)
# Text and what it stands on: WCAG AA asks for 4.5:1.
PAIRS = [
    (text, back)
    for text in ("--ms-text", "--ms-muted", "--ms-faint", "--ms-accent", "--ms-wrong", "--ms-live")
    for back in ("--ms-card", "--ms-back", "--ms-raised")
] + [
    ("--ms-text", "--ms-hover"), ("--ms-muted", "--ms-hover"), ("--ms-wrong", "--ms-wrong-back"),
    ("--ms-accent", "--ms-accent-back"), ("--ms-on-accent", "--ms-accent"),
]  # fmt: skip


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "back"), PAIRS)
def test_text_is_readable(theme: str, text: str, back: str) -> None:
    colours = LIGHT if theme == "light" else {**LIGHT, **DARK}
    dark, light = sorted((luminance(colours[text]), luminance(colours[back])))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("name", STYLES)
def test_every_variable_is_defined(name: str) -> None:
    defined = {variable for style in STYLES.values() for variable, _ in VARIABLE.findall(style)}
    defined |= set(re.findall(r"""setProperty\(["'](--ms-[a-z-]+)""", CODE)) | set(re.findall(r'"(--ms-[a-z-]+)":', CODE))
    assert set(re.findall(r"var\((--ms-[a-z-]+)\)", STYLES[name] + CODE)) <= defined


def test_every_icon_named_is_drawn_and_every_icon_drawn_is_named() -> None:
    drawn = set(re.findall(r"\.ms-icon-([a-z_]+)(?=[ ,][^}]*--ms-icon-at)", STYLES["kit/icons.css"]))
    named = set(re.findall(r"ms-icon-([a-z]+)", CODE)) | set(re.findall(r'icon(?:_button|Button)?\("([a-z]+)"', CODE))
    named |= set(re.findall(r'icon(?:_name)?="([a-z]+)"', CODE))
    assert named <= drawn
    assert {icon for icon in drawn if f'"{icon}"' not in CODE and icon not in named} == set()


def test_the_number_of_an_icon_is_its_place_in_the_drawing() -> None:
    style = STYLES["kit/icons.css"]
    drawn = re.findall(r"%3Cg id='([a-z_]+)' transform='translate\(0 (\d+)\)'", style)
    named = re.findall(r"^\.ms-icon-([a-z_]+)[^{]*\{ --ms-icon-at: (\d+); \}", style, re.MULTILINE)
    assert [("sheet", "0"), *named] == [(name, str(at)) for at, (name, _) in enumerate(drawn)]
    assert [int(top) for _, top in drawn] == [16 + 48 * at for at in range(len(drawn))]
    assert f"height='{48 * len(drawn)}' viewBox='0 0 16 {48 * len(drawn)}'" in style
    assert f"--ms-icon-middle: {(len(drawn) - 1) / 2:g};" in style


@pytest.mark.parametrize("name", sorted(name for name, style in STYLES.items() if ":has(" in style))
def test_no_style_asks_what_is_anywhere_in_the_document(name: str) -> None:
    """With `:has()` at what holds the whole page, a browser searches all of it whenever an element is added somewhere."""
    on_screen = STYLES[name].partition("@media print")[0]
    whole = r"(?:(?<![\w.-])(?:html|body)|:root|\.ms-shell|\.ms-main|\.ms-frame)"
    assert re.findall(whole + r"[^\s,>~+{]*:has\([^)]*\)", on_screen) == []


def test_styles_and_scripts_ask_for_nothing_elsewhere() -> None:
    addresses = re.findall(r"""(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}""", "\n".join(STYLES.values()) + CODE)
    assert [address for address in addresses if "www.w3.org" not in address] == []
    assert "innerHTML" not in CODE
    assert "eval(" not in CODE


@pytest.mark.parametrize("folder", ["base", "shell", "cards", "profiling", "lineage"])
def test_what_a_shared_script_makes_is_styled_wherever_it_runs(folder: str) -> None:
    """A style is there where its folder is needed, so a shared script must not depend on the styles of others."""
    assets = Assets(str(ASSETS))
    entries = [name for name in assets.imports if folder_of(name) == folder]
    there = {part for sheet in assets.styles(assets.modules(entries)) for part in assets.sheets[sheet]}
    scripts = "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in entries)
    # Names that a page's own style hides or colours only are no reason: a rule for the name alone says what it looks like.
    alone = re.compile(r"(?:^|[},]\s*)\.(ms-[a-z0-9-]+)\s*[{,]", re.MULTILINE)
    elsewhere = {name for style, text in STYLES.items() if style not in there for name in alone.findall(text)}
    styled = {name for style in there for name in re.findall(r"\.(ms-[a-z0-9-]+)", STYLES[style])}
    boards = {"ms-board-content", "ms-board-frame", "ms-board-grid"}
    looked_for = {"ms-shell", "ms-main", "ms-mark", "ms-graph-jump", *boards}  # not made
    made = set(re.findall(r"(?<!-)\bms-[a-z0-9-]+", scripts)) - looked_for
    assert sorted((elsewhere - styled) & made) == []


def test_what_scripts_look_for_is_made_by_somebody() -> None:
    """A class in a selector of a script is one that a layout or a script gives to an element."""
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in ASSETS.rglob("*.js"))
    sought = set(re.findall(r"\.(ms-[a-z0-9-]+)", scripts))
    made = set(re.findall(r"(?<![.\w-])(ms-[a-z0-9-]+)", CODE))
    families = tuple(re.findall(r"(?<![.\w-])(ms-[a-z0-9-]+-)(?:\$\{|\{)", CODE))
    assert sorted(name for name in sought - made if not name.startswith(families)) == []
