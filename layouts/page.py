"""A page as data, the ids of its components, and the form of its state.

A page gets its data from the protocols in `layouts.sources` and keeps its state in one `dcc.Store`, `ids("state")`, whose data
is a URL query as a dict of lists ({"run": ["a", "b"], "smooth": ["0.6"]}). In the application the shell keeps that store and
the address bar in step; in a page that is embedded in another application the store stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layouts.i18n import Texts
from layouts.sources import FrameSource

State = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Ids:
    """Component ids of one page instance: ids("state") is a string id, ids("card", key="loss") a pattern id.

    instance tells two copies of a page in one application apart.
    """

    page: str
    instance: str = "ms"

    def __call__(self, part: str, key: Any = None) -> Any:
        """The id of a part; with a key (a string, or MATCH or ALL) the pattern id."""
        if key is None:
            return f"{self.instance}-{self.page}-{part}"
        return {"ms": self.instance, "page": self.page, "part": part, "key": key}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as data.

    name is its URL below the prefix, its key in the menu, its folder in layouts/pages and in assets/pages, its icon
    (`ms-icon-<name>` in assets) and the beginning of the keys of its texts, of which `<name>.title` is its title.
    needs are the kinds of data of which at least one run must have one (none: always). layout(ids, routes) returns the
    page's components without data, or with as much as is at hand; register(app, source, ids, routes) adds its callbacks.
    routes is the URL prefix of this instance's plain routes (exports, images), with a trailing slash. libraries are the
    large browser bundles the page shows something with as soon as it opens: "grid", "cytoscape" or "plotly". group is the
    heading in the menu. start: its URL is the prefix itself. every: without a selection it shows all runs that have what it
    needs, not only the newest. formerly are names it had: their addresses redirect to it.
    """

    name: str
    texts: Texts
    needs: tuple[str, ...]
    layout: Callable[[Ids, str], Any]
    register: Callable[[Any, FrameSource, Ids, str], None]
    libraries: tuple[str, ...] = ()
    group: str = ""
    start: bool = False
    every: bool = False
    formerly: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Its URL segment: its name, and "" for the start page."""
        return "" if self.start else self.name

    @property
    def title(self) -> str:
        """The text key of its title."""
        return f"{self.name}.title"
