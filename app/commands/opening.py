"""Open a browser at an address with a token, which must not be in the browser's command line, since all users can read it.

The browser is given a file of this user alone that redirects to the address. It is removed after KEPT_SECONDS and when the
server ends; one that a killed server left is overwritten by the next server at its port, and removed with it.
"""

from __future__ import annotations

import contextlib
import html
import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path

KEPT_SECONDS = 60.0
"""Seconds that a browser has to start and to load the file."""
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Mindscope</title>
<meta http-equiv="refresh" content="0;url={url}"></head><body><a href="{url}">Mindscope</a></body></html>
"""


@contextlib.contextmanager
def opened(url: str, *, token: str, directory: str, name: str) -> Iterator[None]:
    """Open a browser at a URL while the body runs; with a token ("": none) by a file of this name in the directory of this user
    ("": a temporary file)."""
    if not token:
        _open(url)
        yield
        return
    path = redirecting_file(f"{url}?token={token}", directory, name)
    removal = threading.Timer(KEPT_SECONDS, _remove, (path,))
    removal.name, removal.daemon = "mindscope-open-end", True
    removal.start()
    _open(Path(path).as_uri())
    try:
        yield
    finally:
        removal.cancel()
        _remove(path)


def redirecting_file(url: str, directory: str, name: str) -> str:
    """Write a page that redirects to a URL, readable by this user only, and return its absolute path."""
    if directory:
        path = os.path.join(os.path.abspath(directory), f"{name}.html")
        _remove(path)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    else:
        handle, path = tempfile.mkstemp(prefix="mindscope-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as stream:
        stream.write(_PAGE.format(url=html.escape(url)))
    return path


def _open(address: str) -> None:
    threading.Thread(target=webbrowser.open, args=(address,), name="mindscope-open", daemon=True).start()


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
