"""Makes app/web/callbacks.json: what browsers are told of the callbacks of every page. `--check` only compares.

    python -m tests.app.web.callback_table
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import dash

from app.web.callbacks import TABLE, encoded, registered
from app.web.private_dash import apart_from_other_apps
from layouts import PAGES
from layouts.shell import shell
from tests.sources import MemorySource


def table() -> str:
    """Return the text of the table for the pages as they are."""
    source, found = MemorySource({}), {}
    with apart_from_other_apps():
        app: Any = dash.Dash("table", add_log_handler=False)
        for page in PAGES:
            found[page.name] = registered(app, functools.partial(shell.register_page, app, source, page, "/"))
    return encoded(found)


def main() -> int:
    """Write the table if it differs; with --check report that it does."""
    found, path = table(), Path(TABLE)
    if path.is_file() and path.read_text(encoding="utf-8") == found:
        return 0
    if "--check" in sys.argv:
        print(f"{path.name} is not what the pages register: run 'make types'")
        return 1
    path.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
