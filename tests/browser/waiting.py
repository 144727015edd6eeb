"""Wait for what scripts and servers do, never for time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from playwright.sync_api import Page, Request

T = TypeVar("T")
WAIT_MS = 60_000
"""Long, so that a busy machine fails no test: with ten programs on a processor, reading a trace takes more than 20 s.
Nothing waits longer than it must."""
STEADY_FRAMES = 15
"""So many frames without a change are a quarter of a second on a free machine, and longer on a busy one."""
UNCHANGED = """async ([wanted]) => {
    let [changes, same] = [0, 0];
    const observer = new MutationObserver(() => { changes++; });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    while (same < wanted) {
        const before = changes;
        await (%s)(1);
        same = changes === before ? same + 1 : 0;
    }
    observer.disconnect();
}"""
FRAMES = """(count) => new Promise((done) => {
    const next = () => (count-- > 0 ? window.requestAnimationFrame(next) : window.setTimeout(done));
    next();
})"""


def frames(page: Page, count: int = 2) -> None:
    """Wait until the page has drawn this many frames: what it has been asked to do at once is done, and drawn."""
    page.evaluate(FRAMES, count)


def becomes(page: Page, read: Callable[[], T], wanted: T | Callable[[T], bool]) -> T:
    """Wait until what `read` finds is, or satisfies, what is wanted; return it. Look again after every frame."""
    until = time.monotonic() + WAIT_MS / 1000
    while True:
        found = read()
        if wanted(found) if callable(wanted) else found == wanted:
            return found
        assert time.monotonic() < until, found
        frames(page, 1)


def steady(page: Page, script: str, *arguments: Any) -> Any:
    """Wait until the value of a function of JavaScript no longer changes from frame to frame; return it."""
    return page.evaluate(
        f"""async (given) => {{
            const read = () => JSON.stringify(({script})(...given));
            let [last, same] = [read(), 0];
            while (same < {STEADY_FRAMES}) {{
                await ({FRAMES})(1);
                const now = read();
                [last, same] = [now, now === last ? same + 1 : 0];
            }}
            return JSON.parse(last ?? 'null');
        }}""",
        list(arguments),
    )


def unchanged(page: Page) -> None:
    """Wait until the document no longer changes from frame to frame."""
    page.evaluate(UNCHANGED % FRAMES, [STEADY_FRAMES])


@contextlib.contextmanager
def settles(page: Page) -> Iterator[None]:
    """Wait until what is done within has been drawn: no request is under way, and the document no longer changes."""
    under_way: set[Request] = set()

    def begins(request: Request) -> None:
        under_way.add(request)

    def ends(request: Request) -> None:
        under_way.discard(request)

    page.on("request", begins)
    page.on("requestfinished", ends)
    page.on("requestfailed", ends)
    try:
        yield
        becomes(page, lambda: (unchanged(page), len(under_way))[1], 0)
    finally:
        page.remove_listener("request", begins)
        page.remove_listener("requestfinished", ends)
        page.remove_listener("requestfailed", ends)


def polls(page: Page, times: int = 1) -> None:
    """Wait until the page has polled `times` more times for changes on disk and has drawn the answer."""
    for _ in range(times):
        page.wait_for_event("requestfinished", predicate=is_poll)
    frames(page)


def is_poll(request: Request) -> bool:
    """Return whether a request asks what has changed on disk: whether anything has, or for that."""
    return request.url.endswith("/status.json") or "-changes" in (request.post_data or "")
