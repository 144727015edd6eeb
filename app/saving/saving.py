"""Save a page as a file without anybody at a browser: `mindscope save`, and `from app import save`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from app.saving.output import LANGUAGES, PATIENCE, PICTURES, THEMES, SaveError, is_url, kind_of, refuse_existing, write_file
from app.saving.page import DrawnPage, PageLook
from layouts.runs.view_files import LONGEST_FILE, MOST_SEARCHED, SUFFIX

if TYPE_CHECKING:
    from app.web.server import Places

WIDTHS = (300, 8_000)
"""The least and the most px of width."""
_HEALTH_SECONDS = 10.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Without a proxy: servers are on this machine or in its network, and the token is for them alone."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that was written: its path and size in bytes. warnings are lines about what is missing in it."""

    path: str
    size_bytes: int
    warnings: tuple[str, ...] = ()


def save(
    sources: Places, page: str, out: str | os.PathLike[str], *, width: int = 1400, height: int = 0, theme: str = "light",
    lang: str = "en", card: str = "", force: bool = False, workspace: str | os.PathLike[str] | None = None, chromium: str = "",
    token: str = "", patience: float = PATIENCE,
) -> Saved:  # fmt: skip
    """Save a page as a file: .html (as by the button of the page), .png, .pdf, or a drawing as .svg.

    sources are those of `create_app`, or the address of a running server ("http://127.0.0.1:8080/"), to which token may be
    given. page is a page with its state, as in an address after the server's name ("scalars?run=a"), a whole address, or the
    path of a view file (`layouts.runs.view_files`). width is in px; height, in px, is that of the window or card (0: by the
    width), and pages are saved whole. card is the tag or title of a card, to save it alone; "" for that of the view file, if
    any. chromium is the path of the program, "" for one that is installed. patience is in seconds: within these the browser
    must answer, and the page be drawn.

    Raises ValueError for options that make no sense, FileExistsError if the file exists, unless force is set, LookupError for
    a card that is not there, and SaveError if there is no Chromium, or the page cannot be opened, drawn or written.
    """
    path = os.fspath(out)
    kind = kind_of(path, PICTURES)
    look = _look(width, height, theme, lang)
    refuse_existing(path, force=force)
    if os.name != "posix":
        raise SaveError(f"expected Linux or macOS, found {sys.platform}: pages are saved there by their button")
    from app.saving.chromium import find_chromium

    program = find_chromium(chromium)
    with contextlib.ExitStack() as stack:
        if is_url(sources):
            server, headers = _running(str(sources), token, patience), _bearer(token)
        else:
            server, headers = stack.enter_context(served(sources, workspace, patience))
        if is_view_file(page):
            page, named = _asked_view(server, page, headers)
            card = card or named
        address = page_address(server, page)
        tab = stack.enter_context(DrawnPage(program, look, patience=patience, headers=headers))
        taken = tab.take(address, kind, card, "" if is_url(sources) else page.lstrip("/"))
    write_file(path, taken.data, force=force)
    warnings = [f"the page was not complete after {patience:g} s: {taken.unfinished}"] if taken.unfinished else []
    warnings += [f"the picture has {taken.cut} px of the page's height"] if taken.cut else []
    return Saved(path, len(taken.data), tuple(warnings))


def _look(width: int, height: int, theme: str, lang: str) -> PageLook:
    if not WIDTHS[0] <= width <= WIDTHS[1]:
        raise ValueError(f"width: expected {WIDTHS[0]} to {WIDTHS[1]} px, found {width}")
    if height and not WIDTHS[0] <= height <= WIDTHS[1]:
        raise ValueError(f"height: expected {WIDTHS[0]} to {WIDTHS[1]} px, found {height}")
    if theme not in THEMES:
        raise ValueError(f"theme: expected {' or '.join(THEMES)}, found {theme!r}")
    if lang not in LANGUAGES:
        raise ValueError(f"lang: expected {' or '.join(LANGUAGES)}, found {lang!r}")
    return PageLook(width, theme, lang, height)


def is_view_file(page: str) -> bool:
    """Return whether what is to be saved is named by a view file."""
    return page.lower().endswith(SUFFIX) and not is_url(page)


def read_view_file(path: str) -> str:
    """Return the text of a view file. Raises ValueError if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read(LONGEST_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise ValueError(f"expected a readable view file, found {path!r}: {reason}") from None


def _asked_view(server: str, path: str, headers: dict[str, str]) -> tuple[str, str]:
    """Return the address that a view file means for the runs of a server, and the card that it names.

    Raises ValueError for a file that it refuses.
    """
    data = json.dumps({"text": read_view_file(path)}).encode()
    sent = {"Content-Type": "application/json", **headers}
    asked = urllib.request.Request(f"{server}api/view-file", data=data, headers=sent)  # noqa: S310 - is_url
    try:
        with _OPENER.open(asked, timeout=_HEALTH_SECONDS + MOST_SEARCHED) as answer:
            found = json.load(answer)
            return str(found["place"]), str(found.get("card", ""))
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(10_000).decode(errors="replace")
        try:
            reason = json.loads(said)["error"]
        except (ValueError, KeyError, TypeError):
            raise SaveError(f"{server} cannot read view files: it answers {error.code}") from None
        raise ValueError(f"{path}: {reason}") from None
    except OSError as error:
        raise SaveError(f"{server} did not answer: {getattr(error, 'reason', error)}") from None


def page_address(server: str, page: str) -> str:
    """Return the address of a page of a server, whose address ends in a slash. Raises ValueError for one of another server."""
    if not is_url(page):
        return server + page.lstrip("/")
    if not page.startswith(server):
        raise ValueError(f"expected a page of {server}, found {page!r}")
    return page


def server_of(address: str) -> str:
    """Return the address of the server of a page's address: all but the name of the page and its state."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rpartition("/")[0] + "/", "", ""))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def _running(address: str, token: str, patience: float) -> str:
    """Return the address of a running server with a slash at its end. Raises SaveError if no Mindscope answers there."""
    server = address if address.endswith("/") else f"{address}/"
    asked = urllib.request.Request(f"{server}api/health", headers=_bearer(token))  # noqa: S310 - is_url
    try:
        with _OPENER.open(asked, timeout=min(patience, _HEALTH_SECONDS)):
            return server
    except urllib.error.HTTPError as error:
        error.close()
        reason = "it needs a token" if error.code == 401 else f"it answers {error.code}"
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "reason", error))
    raise SaveError(f"expected a server of Mindscope at {server}: {reason}")


@contextlib.contextmanager
def served(sources: Places, workspace: str | os.PathLike[str] | None, patience: float) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve sources on a free port of this machine until the body ends; give the address, and the headers with its token."""
    from waitress.server import create_server

    from app.web import security
    from app.web.server import create_app, frame_source

    source: Any = frame_source(sources, workspace)
    ours = source is not sources
    token = security.new_token()
    try:
        if hasattr(source, "wait"):
            source.wait(patience)
        app = create_app(source, token=token)
        listener: Any = create_server(app.server, host="127.0.0.1", port=0, threads=8)
        thread = threading.Thread(target=listener.run, name=f"mindscope-save-{listener.effective_port}", daemon=True)
        thread.start()
        try:
            # Neither side has to compress what goes through this machine's memory alone.
            yield f"http://127.0.0.1:{listener.effective_port}/", {**_bearer(token), "Accept-Encoding": "identity"}
        finally:
            listener.close()
            listener.task_dispatcher.shutdown(cancel_pending=True, timeout=1)
    finally:
        if ours:
            source.stop()
