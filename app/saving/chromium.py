"""A Chromium without a window, spoken to over a pipe: JSON messages of its DevTools protocol, each followed by a zero byte.

`--remote-debugging-pipe` reads commands from file descriptor 3 and writes answers and events to 4, so no port is open that
another user could speak to. The browser ends when the pipe is closed, also if this process is killed.

Protocol: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from app.saving.output import SaveError

VARIABLE = "MINDSCOPE_CHROMIUM"
NAMES = (
    "chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome",
    "chrome", "microsoft-edge",
)  # fmt: skip
"""Names of the program on the PATH, those that start fastest first."""
_PLACES = (
    "/usr/lib/chromium/chromium", "/opt/google/chrome/chrome", "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)  # fmt: skip
_CACHES = ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright")
_CACHED = ("chromium_headless_shell-*/*/*headless?shell", "chromium-*/*/chrome", "chromium-*/*/*.app/Contents/MacOS/*")
_FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-sync", "--disable-breakpad", "--disable-dev-shm-usage", "--mute-audio",
    # A mouse, as on a desk: where there is none, cards show all their tools, and less of their titles.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4",
    "--force-color-profile=srgb", "--disable-features=Translate,MediaRouter,OptimizationHints",
)  # fmt: skip
_LOWEST_DESCRIPTOR = 10
"""Our ends of the pipes are above 3 and 4, which the browser's are moved to."""
_READ_BYTES = 1 << 20
_CLOSE_SECONDS = 5.0
_LOG_BYTES = 4096
HOW_TO_GET_ONE = (
    "no Chromium was found: install one (apt install chromium, or python -m playwright install chromium), "
    f"or name one with --chromium or {VARIABLE}"
)

Parameters = Mapping[str, Any]


class ChromiumEnded(SaveError):
    """The browser ended while an answer was waited for."""


def find_chromium(named: str = "") -> str:
    """Return the path of a Chromium: the one named, that of the environment, one on the PATH, one in Playwright's cache.

    Raises SaveError if there is none, or if the one that was named is no program.
    """
    named = named or os.environ.get(VARIABLE, "")
    if named:
        found = shutil.which(os.path.expanduser(named))
        if found is None:
            raise SaveError(f"expected the program of a Chromium, found {named!r}")
        return found
    installed = next((path for name in NAMES if (path := shutil.which(name))), None)
    installed = installed or next((path for path in _PLACES if os.access(path, os.X_OK)), None) or _of_playwright()
    if installed is None:
        raise SaveError(HOW_TO_GET_ONE)
    return installed


def _of_playwright() -> str | None:
    """Return the newest Chromium that Playwright has downloaded for this user."""
    caches = [os.environ.get("PLAYWRIGHT_BROWSERS_PATH", ""), *map(os.path.expanduser, _CACHES)]
    for pattern in _CACHED:
        found = [path for cache in caches if cache for path in glob.glob(os.path.join(glob.escape(cache), pattern))]
        programs = [path for path in found if os.path.isfile(path) and os.access(path, os.X_OK)]
        if programs:
            return max(programs, key=os.path.getmtime)
    return None


class Chromium:
    """A running browser; a context manager. patience: seconds within which it must answer whatever it is asked."""

    def __init__(self, path: str, *, patience: float = 60.0, heard: Callable[[str, Any], None] | None = None) -> None:
        if not hasattr(os, "posix_spawn"):
            raise SaveError(f"expected Linux or macOS, found {sys.platform}: pages are saved there by their button")
        self.patience = patience
        self._path = path
        self._heard = heard or (lambda _method, _parameters: None)
        self._number = 0
        self._buffer = bytearray()
        self._ended = False

    def __enter__(self) -> Chromium:
        with contextlib.ExitStack() as undone:
            self._profile = undone.enter_context(tempfile.TemporaryDirectory(prefix="mindscope-", ignore_cleanup_errors=True))
            self._log = undone.enter_context(open(os.path.join(self._profile, "log"), "w+b"))
            self._pid, self._write, self._read = _started(self._path, self._profile, self._log.fileno())
            undone.callback(self._end)
            self.call("Browser.getVersion")
            self._undone = undone.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            with contextlib.suppress(SaveError):
                self.call("Browser.close")
                self._wait(_CLOSE_SECONDS)
        self._undone.close()

    def call(self, method: str, parameters: Parameters | None = None, *, session: str = "", patience: float = 0.0) -> Any:
        """Return the answer to a command; events that arrive meanwhile are given to `heard`.

        Raises SaveError if the browser refuses it or does not answer in time, ChromiumEnded if it has ended.
        """
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters or {}}
        if session:
            command["sessionId"] = session
        seconds = patience or self.patience
        until = time.monotonic() + seconds
        self._send(json.dumps(command).encode() + b"\0", until, method)
        while True:
            message = self._message(until)
            if message is None:
                raise SaveError(f"Chromium has not answered for {seconds:g} s ({method}) and was stopped: {self._path}")
            if message.get("id") == self._number:
                if "error" in message:
                    raise SaveError(f"Chromium refused {method}: {message['error'].get('message', '')}")
                return message["result"]
            if "method" in message:
                self._heard(message["method"], message.get("params", {}))

    def _send(self, data: bytes, until: float, method: str) -> None:
        left = memoryview(data)
        while left:
            _, ready, _ = select.select([], [self._write], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise SaveError(f"Chromium does not read what it is sent ({method}) and was stopped: {self._path}")
            try:
                left = left[os.write(self._write, left) :]
            except BrokenPipeError:
                raise self._has_ended() from None

    def _message(self, until: float) -> Any:
        """Return the next message, None if there is none in time."""
        end = self._buffer.find(b"\0")
        while end < 0:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            data = os.read(self._read, _READ_BYTES)
            if not data:
                raise self._has_ended()
            begin = len(self._buffer)
            self._buffer += data
            end = self._buffer.find(b"\0", begin)
        message = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return json.loads(message)

    def _has_ended(self) -> ChromiumEnded:
        self._wait(_CLOSE_SECONDS)
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LOG_BYTES))
        lines = [line for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        said = next((line for line in lines if "sandbox" in line.lower()), lines[-1] if lines else "")
        reason = "".join(c if c.isprintable() else " " for c in said)[:300]
        return ChromiumEnded(f"Chromium ended unexpectedly ({self._path}){f': {reason}' if reason else ''}")

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._ended and time.monotonic() < until:
            self._ended = os.waitpid(self._pid, os.WNOHANG)[0] != 0
            if not self._ended:
                time.sleep(0.01)

    def _end(self) -> None:
        """Close the pipe and end what is left of the browser: the processes of its group, which nothing else is in."""
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # as macOS says of a group whose processes have ended
            os.killpg(self._pid, signal.SIGKILL)
        if not self._ended:
            os.waitpid(self._pid, 0)


def _started(path: str, profile: str, log: int) -> tuple[int, int, int]:
    """Start the browser in a process group of its own; return its process id and our ends of the pipes to and from it."""
    flags = [*_FLAGS, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:  # it refuses to start for root otherwise
        flags.append("--no-sandbox")
    with contextlib.ExitStack() as ends:
        theirs_in, ours_out = _pipe()
        ends.callback(os.close, theirs_in)
        ours_in, theirs_out = _pipe()
        ends.callback(os.close, theirs_out)
        moves: Any = [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4),
                 (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, log, 1),
                 (os.POSIX_SPAWN_DUP2, log, 2)]  # fmt: skip
        try:
            pid = os.posix_spawn(path, [path, *flags, "about:blank"], os.environ, file_actions=moves, setpgroup=0)
        except OSError as error:
            os.close(ours_in)
            os.close(ours_out)
            raise SaveError(f"Chromium cannot be started ({path}): {error.strerror}") from None
    os.set_blocking(ours_out, False)
    return pid, ours_out, ours_in


def _pipe() -> tuple[int, int]:
    """Return the reading and the writing end of a pipe, with numbers that nothing else is moved to."""
    ends = os.pipe()
    try:
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LOWEST_DESCRIPTOR) for end in ends]
    finally:
        for end in ends:
            os.close(end)
    return high[0], high[1]
