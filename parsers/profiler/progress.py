"""How far the reading of a profile is, told to whoever asked for it, who may end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watch = Callable[[int], None]
"""Takes the bytes read since it was last called; ends the reading by raising Cancelled."""
_WATCH: ContextVar[Watch | None] = ContextVar("profile_watch", default=None)


class Cancelled(BaseException):
    """Whoever asked for a frame does not want it any more. No Exception: nothing on the way takes it for damage."""


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Tell `watch` of what is read in this thread within the block."""
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def report_read(size: int) -> None:
    """So many bytes more have been read."""
    watch = _WATCH.get()
    if watch is not None:
        watch(size)
