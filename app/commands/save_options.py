"""The options of the command `save`, which are known before anything is imported that saves."""

from __future__ import annotations

import argparse

from app.saving.output import KINDS, LANGUAGES, PATIENCE, THEMES


def add_save_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    page = "what to save: a page with its state (scalars?run=a), its whole address on a running server, or a view file (.toml)"
    parser.add_argument("page", metavar="ADDRESS_OR_VIEW", help=page)
    where = "directory of the runs, or address of a running server (default: . or the server of ADDRESS)"
    parser.add_argument("directory", metavar="DIR", nargs="?", default="", help=where)
    kinds = ", ".join(f".{kind}" for kind in KINDS)
    parser.add_argument("--out", metavar="FILE", required=True, help=f"file to write, by its name one of {kinds}")
    card = "tag or title of a card, to save it alone (default: that of the view file)"
    parser.add_argument("--card", metavar="NAME", default="", help=card)
    parser.add_argument("--width", metavar="PX", default="1400", help="width of the page (default: 1400)")
    height = "height of the window, or of a card (default: 900, of a card 9/16 of its width); pages are saved whole"
    parser.add_argument("--height", metavar="PX", default="0", help=height)
    parser.add_argument("--theme", metavar="NAME", default="light", help=f"{' or '.join(THEMES)} (default: light)")
    parser.add_argument("--lang", metavar="LANG", default="en", help=f"{' or '.join(LANGUAGES)} (default: en)")
    parser.add_argument("--force", action="store_true", help="replace a file that exists")
    chromium = "program of a Chromium (default: $MINDSCOPE_CHROMIUM, one on the PATH, or one of Playwright's)"
    parser.add_argument("--chromium", metavar="PATH", default="", help=chromium)
    patience = f"seconds that the browser and the page may take (default: {PATIENCE:g})"
    parser.add_argument("--patience", metavar="SECONDS", default=f"{PATIENCE:g}", help=patience)
