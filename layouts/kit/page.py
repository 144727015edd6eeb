"""The description of a page, the ids of its components, and the form of its state.

A page gets its data from the protocols in `layouts.sources` and keeps its state in one `dcc.Store`, `ids("state")`, whose data
is a URL query as a dict of lists ({"run": ["a", "b"], "smooth": ["0.6"]}). In the application the shell synchronises that
store with the address bar; in a page embedded in another application there is only the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from layouts.kit.i18n import Texts

if TYPE_CHECKING:
    from layouts.sources import Sources

State = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Ids:
    """Component ids of one page instance: ids("state") is a string id, ids("card", key="loss") a pattern id.

    instance distinguishes two copies of a page in one application.
    """

    page: str
    instance: str = "ms"

    def __call__(self, part: str, key: Any = None) -> Any:
        """Return the id of a part, or its pattern id if there is a key (a string, MATCH or ALL)."""
        if key is None:
            return f"{self.instance}-{self.page}-{part}"
        return {"ms": self.instance, "page": self.page, "part": part, "key": key}


@dataclass(frozen=True, slots=True)
class FirstUse:
    """A function of a module that is imported when the function is first called."""

    module: str
    name: str

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return getattr(import_module(self.module), self.name)(*arguments)


@dataclass(frozen=True, slots=True)
class Page:
    """The description of a page.

    name is its URL below the prefix, its key in the menu, its folder below its subject in layouts and in assets, its icon
    (`ms-icon-<name>` in assets/kit/icons.css) and the prefix of its text keys; `<name>.title`, one of texts, is its title.
    folder is "<subject>.<name>" for a page of ours. needs: the page is offered if any run has data of one of these kinds
    (empty: always). layout(ids, routes) returns the page's components, without data or with what is already known;
    register(app, source, ids, routes) adds its callbacks.
    routes is the URL prefix of this instance's plain routes (exports, images), with a trailing slash. libraries are the large
    browser bundles that the page needs as soon as it opens: "grid", "cytoscape", "plotly" (charts of two dimensions; what
    draws surfaces is loaded with the first of them). group is its menu heading. start: its URL is the prefix itself. every:
    without a selection it shows all runs that have the data it needs, not only the newest ones. formerly are its former names,
    whose addresses redirect to it. keeps are keys of its state that other pages with the same key take over, in addition to
    the selected runs. whole: it shows cards of other pages, so an application that embeds it also serves all pages, below
    `app/` of the routes. bare: it has something to show where there is no run.
    """

    name: str
    texts: Texts
    needs: tuple[str, ...]
    layout: Callable[[Ids, str], Any]
    register: Callable[[Any, Sources, Ids, str], None]
    libraries: tuple[str, ...] = ()
    group: str = ""
    start: bool = False
    every: bool = False
    formerly: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    whole: bool = False
    bare: bool = False
    folder: str = field(default="", kw_only=True)

    @property
    def path(self) -> str:
        """The URL segment: the name, or "" for the start page."""
        return "" if self.start else self.name

    @property
    def redirected(self) -> tuple[str, ...]:
        """The URL segments that redirect to it: its former names, and its name if it is the start page."""
        return (*self.formerly, self.name) if self.start else self.formerly

    @property
    def title(self) -> str:
        """The text key of the title."""
        return f"{self.name}.title"
