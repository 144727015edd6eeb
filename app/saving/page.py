"""A page in a Chromium: opened, waited for until it is drawn, and taken as HTML, PNG, SVG or PDF.

What is drawn, and what the file of a page is, only the page knows: it is asked by the functions of assets/shell/page_saving.js.
"""

from __future__ import annotations

import base64
import difflib
import json
import math
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from app.saving.chromium import Chromium
from app.saving.output import SaveError
from app.web.modules import PAGE_SAVING, SHELL

WINDOW_HEIGHT = 900
"""Height of the window in px: pages with few cards fill it."""
CARD_SHAPE = 9 / 16
"""Height of a card that is saved alone as a share of its width."""
HIGHEST = 16_000
"""The highest picture in px that Chromium can make."""
LONGEST_PDF = 200 * 96
"""The longest page of a PDF in px: 200 inches are the limit of the format."""
ROUNDS = 3
"""Times that a window is made higher for a page that then has more to show."""
LOOK_MS = 2_000
_INCH = 96.0
_MODULE = f"""(async () => {{
    const main = [...document.scripts].find(({{ src }}) => src.endsWith("/{SHELL}"));
    if (!main) throw new Error("no page of Mindscope");
    if (!window.mindscopeModules?.["{SHELL}"]) throw new Error("no page of Mindscope yet: its scripts have not run");
    return import(main.src.replace(/{SHELL.replace("/", ".")}$/, "{PAGE_SAVING}"));
}})()"""
_CARD_NAMES = ("key:", "card:", "plot:", "rule:", "state:", "mark:", "id:", "class:", "title:")
"""What names of cards begin with: assets/kit/alone.js."""
_WAITS = {
    "page": "it is not drawn", "runs": "the list of runs is not there", "cards": "some cards are not drawn",
    "images": "some images are not loaded", "reading": "files are still being read", "change": "it still changes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageLook:
    """How a page is to look: width in px, "light" or "dark", "en" or "zh"; height of the window in px, 0 for the usual one."""

    width: int = 1400
    theme: str = "light"
    language: str = "en"
    height: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A page as the bytes of a file; unfinished says what the page was still waiting for, "" if it was drawn, and cut how much
    of it is in a picture that could not be higher (px of px), "" if all."""

    data: bytes
    unfinished: str = ""
    cut: str = ""


class DrawnPage:
    """A tab of a browser. headers are sent with each of its requests."""

    def __init__(self, chromium_path: str, look: PageLook, *, patience: float, headers: dict[str, str]) -> None:
        self._look = look
        self._patience = patience
        self._headers = headers
        self._under_way: set[str] = set()
        self._status = 0
        self._frame = ""
        self._browser = Chromium(chromium_path, patience=patience, heard=self._heard)
        self._session = ""
        self._card = ""  # the name by which a card alone was found

    def __enter__(self) -> DrawnPage:
        self._browser.__enter__()
        try:
            self._attach()
        except BaseException:
            self._browser.__exit__(SaveError, None, None)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._browser.__exit__(kind, error, trace)

    def take(self, address: str, kind: str, card: str = "", named: str = "") -> Taken:
        """Open an address and return it as a file of this kind; with a card's name, that card alone. HTML says where the page
        is from: named, or else the address.

        Raises SaveError if the page cannot be opened or drawn, LookupError for a card that is not on it.
        """
        unfinished = self._open_card(address, card) if card else self._to_size(self._open(_with(address, "embed=1")))
        if kind == "html":
            text = self._ask(f"fileText({json.dumps(named or address)})")
            return Taken(str(text).encode("utf-8", "replace"), unfinished)
        if kind == "svg":
            return Taken(self._svg(), unfinished)
        return self._pdf(unfinished) if kind == "pdf" else self._png(unfinished)

    # Opening ---------------------------------------------------------------------------------------------------------

    def _attach(self) -> None:
        # The id of a tab is that of its main frame.
        tab = self._frame = self._browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._browser.call("Target.attachToTarget", {"targetId": tab, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Inspector"):
            self._call(f"{domain}.enable")
        self._call("Network.setExtraHTTPHeaders", {"headers": self._headers})
        theme = {"name": "prefers-color-scheme", "value": self._look.theme}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        self._call("Emulation.setEmulatedMedia", {"media": "screen", "features": [theme, still]})
        chosen = json.dumps(json.dumps({"theme": self._look.theme, "lang": self._look.language, "folded": True}))
        source = f'try {{ localStorage.setItem("mindscope", {chosen}); }} catch (error) {{ /* a page without storage */ }}'
        self._call("Page.addScriptToEvaluateOnNewDocument", {"source": source})

    def _open(self, address: str, height: int = 0) -> str:
        """Open an address and wait until it is drawn; return what it still waits for after all patience."""
        self._resize(height or self._look.height or WINDOW_HEIGHT)
        self._status = 0
        self._under_way.clear()
        answer = self._call("Page.navigate", {"url": address})
        if answer.get("errorText"):
            self._call("Page.getFrameTree")  # of a page that crashed meanwhile the answer is that it did
            raise SaveError(f"{_shown(address)} cannot be opened: {answer['errorText']}")
        unfinished = self._drawn()
        if self._status >= 400:
            raise SaveError(f"{_shown(address)} cannot be opened: the server answers {self._status}")
        return unfinished

    def _open_card(self, address: str, card: str) -> str:
        """Open the address of a card alone. A name without a kind is that of a tag, or else a title."""
        names = [card] if card.startswith(_CARD_NAMES) else [f"key:{card}", f"title:{card}"]
        height = self._look.height or round(self._look.width * CARD_SHAPE)
        titles: list[str] = []
        for name in names:
            unfinished = self._open(_with(address, f"embed=1&card={quote(name, safe='')}"), height)
            if self._ask("hasCard()"):
                self._card = name
                return unfinished
            titles = titles or self._ask("cardTitles()")
        near = difflib.get_close_matches(card, titles, 1)
        there = f"there are {', '.join(map(repr, titles))}" if titles else "it has none"
        hint = f"did you mean {near[0]!r}?" if near else there
        raise LookupError(f"expected a card of the page, found {card!r} ({hint})")

    def _drawn(self) -> str:
        """Wait until no request is under way and the page is drawn; return what is missing, "" for nothing."""
        until = time.monotonic() + self._patience
        while True:
            try:
                waiting = self._ask(f"drawn({LOOK_MS})")
            except _NotThere:
                waiting = "page"
                time.sleep(LOOK_MS / 1e5)
            if self._status >= 400 or (not waiting and not self._under_way):
                return ""
            if time.monotonic() > until:
                if waiting in ("page", "runs"):
                    raise SaveError(f"the page was not drawn within {self._patience:g} s: {_WAITS[waiting]}")
                return _WAITS.get(waiting, waiting or "some requests are not answered")

    def _resize(self, height: int) -> None:
        size = {"width": self._look.width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", size)

    def _to_size(self, unfinished: str) -> str:
        """Draw what is out of view, too. The cards of a board are drawn only while they are in view."""
        self._ask("unrolled()")
        unfinished = self._drawn() or unfinished
        height = 0
        for _ in range(ROUNDS):
            found = self._ask("extent()")
            if not found["board"] or found["height"] <= max(height, WINDOW_HEIGHT):
                break
            height = min(math.ceil(found["height"]), HIGHEST)
            self._resize(height)
            unfinished = self._drawn()
        return unfinished

    # Taking ----------------------------------------------------------------------------------------------------------

    def _png(self, unfinished: str) -> Taken:
        whole = math.ceil(self._ask("extent()")["height"])
        height = min(whole, HIGHEST)
        clip = {"x": 0, "y": 0, "width": self._look.width, "height": height, "scale": 1}
        asked = {"format": "png", "captureBeyondViewport": True, "clip": clip, "optimizeForSpeed": False}
        data = base64.b64decode(self._call("Page.captureScreenshot", asked)["data"])
        return Taken(data, unfinished, f"{height:,} of {whole:,}" if whole > height else "")

    def _pdf(self, unfinished: str) -> Taken:
        """Print one page of the size of this one. What is as high as a window grows with it: a second one would be empty."""
        whole = math.ceil(self._ask("extent()")["height"]) + 1
        height = min(whole, LONGEST_PDF)
        paper = {"paperWidth": self._look.width / _INCH, "paperHeight": height / _INCH, "printBackground": True,
                 "pageRanges": "1" if whole <= height else "",
                 "marginTop": 0, "marginBottom": 0, "marginLeft": 0, "marginRight": 0}  # fmt: skip
        return Taken(base64.b64decode(self._call("Page.printToPDF", paper)["data"]), unfinished)

    def _svg(self) -> bytes:
        found = self._ask(f"svgText({json.dumps(self._card)})")
        if found is None and self._card:
            raise LookupError(f"expected a card with a figure, found {self._card!r}, which has none")
        if found is None:
            titles = self._ask("cardTitles()")
            raise LookupError(f"expected the name of a card ({', '.join(map(repr, titles))}), found none" if titles
                              else "expected a page with a figure, found none")  # fmt: skip
        return str(found).encode("utf-8", "replace")

    # Speaking --------------------------------------------------------------------------------------------------------

    def _call(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        return self._browser.call(method, parameters, session=self._session)

    def _ask(self, call: str) -> Any:
        """Return what a function of page_saving.js returns."""
        expression = f"{_MODULE}.then((page) => page.{call})"
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        try:
            answer = self._call("Runtime.evaluate", asked)
        except SaveError as error:
            if "context was destroyed" in str(error) or "navigated or closed" in str(error):
                raise _NotThere(str(error)) from None
            raise
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details.get("text", "")
            text = " ".join(str(said).split("\n    at ")[0].split())
            raise (_NotThere if "no page of Mindscope" in text else SaveError)(f"the page could not be saved: {text[:300]}")
        return answer["result"].get("value")

    def _heard(self, method: str, event: Any) -> None:
        if method == "Network.requestWillBeSent":
            self._under_way.add(event["requestId"])
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self._under_way.discard(event["requestId"])
        elif method == "Network.responseReceived" and event["type"] == "Document" and event.get("frameId") == self._frame:
            self._status = int(event["response"]["status"])
        elif method == "Inspector.targetCrashed":
            raise SaveError("the page crashed in Chromium: is there enough memory?")


class _NotThere(SaveError):
    """The page has none of our scripts yet, or is being replaced by another one."""


def _with(address: str, query: str) -> str:
    """Return an address with more in its query; what embeds a card is replaced."""
    parts = urlsplit(address)
    kept = [one for one in parts.query.split("&") if one and one.partition("=")[0] not in ("embed", "card")]
    return urlunsplit(parts._replace(query="&".join([*kept, query]), fragment=""))


def _shown(address: str) -> str:
    parts = urlsplit(address)
    return urlunsplit(parts._replace(query="", fragment=""))
