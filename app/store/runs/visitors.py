"""Who reads and changes what users write about runs; a web server knows it of each request."""

from __future__ import annotations

from typing import Protocol


class Visitor(Protocol):
    """Who sends the request that is being answered."""

    def name(self) -> str:
        """Return the name, "" if it is not known."""

    def may_change(self) -> bool:
        """Return whether they may change anything."""


class Anybody(Visitor):
    """A visitor whose name is not known, who may change everything."""

    def name(self) -> str:
        """Return "": nobody knows."""
        return ""

    def may_change(self) -> bool:
        """Return True."""
        return True


ANYBODY = Anybody()
