"""Chromium without a debugger, as users have it: it is asked over a pipe, in the DevTools protocol, and no domain is enabled.

Playwright enables `Runtime`, for which V8 keeps the place of every exception: at each of plotly's first three, which plotly
catches itself, it reads 1.5 MB of script again, 0.18 s of a visit that no user has.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--mute-audio",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--disable-sync", "--password-store=basic", "--use-mock-keychain", "--remote-debugging-pipe",
)  # fmt: skip
_SECONDS = 60.0


class BareBrowser:
    """A running Chromium with one empty page."""

    def __init__(self, process: subprocess.Popen[bytes], asks: int, answers: int) -> None:
        self.pid = process.pid
        self._asks, self._answers = asks, answers
        self._rest = b""
        self._number = 0
        self._session = ""
        pages = [one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        attached = self._call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)
        self._session = attached["sessionId"]

    def open(self, url: str) -> None:
        """Begin to load a page."""
        self._call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """Return what an expression is in the page."""
        told = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return told["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Ask every 100 ms until an expression holds; RuntimeError after a minute."""
        end = time.monotonic() + _SECONDS
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"did not hold after {_SECONDS:.0f} s: {expression[:200]}")
            time.sleep(0.1)

    def close(self) -> None:
        """Have Chromium end, so that it writes what it keeps. It may end before it answers."""
        self._session = ""
        self._ask("Browser.close")

    def _ask(self, method: str, **given: Any) -> None:
        self._number += 1
        of_page = {"sessionId": self._session} if self._session else {}
        asked = {"id": self._number, "method": method, "params": given, **of_page}
        os.write(self._asks, json.dumps(asked).encode() + b"\0")

    def _call(self, method: str, **given: Any) -> dict[str, Any]:
        self._ask(method, **given)
        while (answer := self._message()).get("id") != self._number:
            pass  # an event
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        found: dict[str, Any] = answer["result"]
        return found

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._answers, 1 << 16)
            if not read:
                raise RuntimeError("Chromium has ended")
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def bare_browser(path: str, profile: str, size: tuple[int, int]) -> Iterator[BareBrowser]:
    """A new Chromium of this path that keeps its files in a directory, with a window of this size."""
    (theirs, asks), (answers, told) = os.pipe(), os.pipe()
    options = [f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", "about:blank"]
    # Chromium reads from descriptor 3 and writes to 4; a shell gives them these numbers.
    line = f'exec "$@" 3<&{theirs} 4>&{told}'
    process = subprocess.Popen(
        ["sh", "-c", line, "sh", path, *QUIET, *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(theirs, told),
    )  # fmt: skip
    os.close(theirs)
    os.close(told)
    try:
        browser = BareBrowser(process, asks, answers)
        yield browser
        browser.close()
        process.wait(20)
    finally:
        process.kill()
        process.wait(20)
        os.close(asks)
        os.close(answers)
