"""The application around the pages: menu, header, routing.

`layout` lists all pages, `content` has the components of one. assets/shell/shell.js fetches the content of a page when it is
first opened, and renders it with the state from the address already in its store. What the shell expects of the server:

- every page path below the prefix returns the index page; so does every other path opened in a browser, with status 404
- assets/early/prefs.js is in the head of the index page, so that theme and language are right at the first paint
- `<meta name="mindscope-pages" content='{path: [urls]}'>` lists the scripts and styles that pages need beyond those of the
  index page; without it they count as loaded
- `?embed=1` needs nothing from the server: CSS hides the shell
- `content_url` returns the content of a page as JSON
- plain routes (exports) are below ROUTES, after the prefix
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Any, TypedDict

from dash import Input, Output, State, dcc, html

from layouts.kit import elements as parts
from layouts.kit.callbacks import in_browser
from layouts.kit.i18n import attributes, both, t
from layouts.kit.page import Ids, Page
from layouts.kit.plain_html import still
from layouts.shell import chrome as frames
from layouts.sources import Sources

ROUTES = "api/"
CONTENTS = ROUTES + "pages/"

_SECONDS = "ms-inputbox ms-seconds"


def layout(pages: Sequence[Page], ids: Ids, routes: str, embed: bool = False) -> html.Div:
    """Return the whole application. routes is the prefix of its pages, with a trailing slash; embed hides menu and header."""
    return still(
        html.Div(
            [
                dcc.Location(id=ids("url"), refresh="callback-nav"),
                parts.button("shell.skip", class_name="ms-skip"),
                dcc.Store(id=ids("pages"), data=_pages(pages, ids, routes)),
                _menu(pages, ids, routes),
                _top(ids),
                html.Main(id=ids("page"), className="ms-main", tabIndex=-1),
                html.Div(id=ids("notice"), className="ms-notice", role="alert", hidden=True),
            ],
            id=ids("root"),
            className="ms ms-shell ms-bare" if embed else "ms ms-shell",
        )
    )


def register(app: Any) -> None:
    """Add the callbacks of the shell itself."""
    ids = Ids("shell")
    call = in_browser(app, "mindscope")
    call(
        "seconds_chosen",
        Output(ids("seconds"), "value"),
        Input(ids("seconds"), "value"),
    )
    call(
        "route",
        Output(ids("page"), "children"),
        Input(ids("url"), "href"),
        State(ids("pages"), "data"),
    )


def register_page(app: Any, source: Sources, page: Page, prefix: str) -> None:
    """Add the callbacks of a page inside the shell. prefix is the URL prefix of the pages as browsers see it."""
    ids = Ids("shell")
    own = page_ids(page, ids)
    call = in_browser(app, "mindscope")
    frames.register(app, source, page, own, prefix + ROUTES, picker=ids("picker"))
    call("address_changed", Input(own("state"), "data"), State(own("state"), "id"))
    call("menu_changed", Input(own("runs"), "data"))


def page_ids(page: Page, ids: Ids) -> Ids:
    """Return the ids of a page inside the shell with these ids."""
    return Ids(page.name, ids.instance)


def content(page: Page, ids: Ids, routes: str) -> html.Div:
    """Return the components of a page inside the shell with these ids."""
    return still(frames.frame(page, page_ids(page, ids), routes + ROUTES))


def content_url(page: Page, routes: str) -> str:
    """Return the URL of the content of a page."""
    return f"{routes}{CONTENTS}{page.name}.json"


class ShellPage(TypedDict):
    """What the menu knows of a page that is not open."""

    frame: str
    title: Annotated[list[str], "Texts"]
    content: str
    keeps: list[str]
    group: str
    """Pages of a group share what they keep; the steps of a dump are not those of a job."""


class ShellPages(TypedDict):
    """The pages by address, and the pages of names that they had."""

    prefix: str
    pages: dict[str, ShellPage]
    formerly: dict[str, str]
    missing: Annotated[Any, object]
    """The component that an unknown page has."""


class NeededFiles(TypedDict):
    """URLs of what a page needs that is not open."""

    scripts: list[str]
    styles: list[str]
    modules: list[str]


def _pages(pages: Sequence[Page], ids: Ids, routes: str) -> ShellPages:
    return {
        "prefix": routes,
        "pages": {
            page.path: {
                "frame": page_ids(page, ids)("frame").removesuffix("-frame"),
                "title": list(both(page.title)),
                "content": content_url(page, routes), "keeps": list(page.keeps), "group": page.group,
            }
            for page in pages
        },
        "formerly": {name: page.path for page in pages for name in page.redirected},
        "missing": still(_missing(routes)),
    }


def _missing(routes: str) -> html.Div:
    """The empty state for an unknown page."""
    back = html.A(t("shell.to_runs"), href=routes, className="ms-button", **{"data-page": ""})
    return html.Div(
        [html.P(t("shell.no_page"), className="ms-empty-sentence"), html.P(back, className="ms-empty-act")],
        className="ms-empty",
    )


def _brand(pages: Sequence[Page], routes: str) -> Any:
    """Return mark and name, which lead to the start page wherever the menu is scrolled to."""
    shown = [parts.icon("logo", "ms-logo"), html.Span("Mindscope", className="ms-menu-text")]
    start = next((page for page in pages if page.name == "start"), None)
    if start is None:
        return html.Div(shown, className="ms-brand")
    named = attributes(title=start.title)
    return html.A(shown, href=routes + start.path, className="ms-brand", **{"data-page": start.path}, **named)


def _menu(pages: Sequence[Page], ids: Ids, routes: str) -> html.Nav:
    links: list[Any] = []
    for number, (group, some) in enumerate(groupby(pages, lambda page: page.group)):
        if number and group:  # the first group needs no heading
            links.append(html.Div(html.Span(t(f"menu.{group}"), className="ms-menu-text"), className="ms-menu-group"))
        links += [
            html.A(
                [parts.icon(page.name), html.Span(t(page.title), className="ms-menu-text")],
                href=routes + page.path,
                className="ms-menu-link",
                **{"data-page": page.path, "data-needs": " ".join(page.needs)},
                **attributes(title=page.title),
            )
            for page in some
        ]
    return html.Nav(
        [
            _brand(pages, routes),
            html.Div([*links, _without_data()], className="ms-menu-links"),
            html.Div(
                [
                    parts.icon_button("keyboard", "keys.title", **{"data-action": "keys"}),
                    parts.icon_button("left", "shell.fold", class_name="ms-menu-fold", **{"data-action": "menu"}),
                ],
                className="ms-menu-foot",
            ),
        ],
        id=ids("menu"),
        className="ms-menu",
        **attributes(aria_label="shell.menu"),
    )


def _without_data() -> html.Button:
    """The button that shows the pages without data, which are hidden otherwise (assets/shell/shell.js)."""
    return html.Button(
        [parts.icon("more"), html.Span(className="ms-menu-text ms-menu-count")],
        type="button", className="ms-menu-rest", hidden=True, **{"data-action": "rest", "aria-expanded": "false"},
    )  # fmt: skip


def _top(ids: Ids) -> html.Header:
    return html.Header(
        [
            html.Div(
                [
                    html.Span(className="ms-base ms-cut"),
                    html.Span("/", className="ms-base-slash", **{"aria-hidden": "true"}),
                    html.H1(className="ms-page-title"),
                ],
                className="ms-place",
            ),
            frames.picker_host(ids),
            _views(),
            _refresh(ids),
            frames.failure_button(),
            frames.health_button(),
            html.Button(
                html.Span([html.Span("中文", className="en"), html.Span("EN", className="zh")], className="t"),
                type="button",
                className="ms-button ms-button-quiet ms-language",
                **{"data-action": "language"},
                **attributes(title="shell.language", aria_label="shell.language"),
            ),
            parts.icon_button("theme", "shell.theme", **{"data-action": "theme"}),
        ],
        className="ms-top",
    )


def _views() -> html.Details:
    """The list of saved views; assets/shell/views.js fills it."""
    return html.Details(
        [
            html.Summary(
                parts.icon("bookmark"), className="ms-button ms-button-icon",
                **attributes(title="views.title", aria_label="views.title"),
            ),
            html.Div(className="ms-popover", role="dialog", **attributes(aria_label="views.title")),
        ],
        className="ms-details ms-views",
    )  # fmt: skip


def _refresh(ids: Ids) -> html.Div:
    switch = html.Button(
        type="button", className="ms-switch", role="switch", **{"data-action": "auto"}, **attributes(aria_label="shell.auto")
    )
    seconds = dcc.Input(id=ids("seconds"), type="number", min=3, max=300, step=1, debounce=True)
    settings = html.Div(
        [
            html.Div([switch, t("shell.auto")], className="ms-field"),
            html.Div([t("shell.every"), html.Div(seconds, className=_SECONDS), t("shell.seconds")], className="ms-field"),
            html.Div(t("shell.bounds"), className="ms-muted"),
        ],
        className="ms-popover",
    )
    return html.Div(
        [
            parts.icon_button("refresh", "shell.refresh", **{"data-action": "refresh"}),
            html.Details(
                [
                    html.Summary(
                        [html.Span(className="ms-read"), parts.icon("down")],
                        className="ms-button ms-button-quiet",
                        **attributes(title="shell.refresh_settings"),
                    ),
                    settings,
                ],
                className="ms-details",
            ),
        ],
        className="ms-refresh",
    )
