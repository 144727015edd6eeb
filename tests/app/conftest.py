"""A Sources in memory and two small pages, for tests of everything that stands around pages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dash import ALL, MATCH, Input, Output, State, html
from flask.testing import FlaskClient

from app.web import server
from layouts.kit.page import Ids, Page
from layouts.kit.state import BadInput
from layouts.shell import shell as whole
from parsers import Series
from tests.sources import MemorySource


def series(steps: Sequence[int], values: Sequence[float]) -> Series:
    count = len(steps)
    step = np.array(steps, np.int64)
    file, order = np.zeros(count, np.int32), np.arange(count, dtype=np.int64)
    return Series(step, 1.7e9 + step / 3, np.array(values, np.float64), file, order)


def _register(app, source, ids, routes) -> None:
    @app.callback(Output("one", "children"), Input("number", "value"), State("text", "value"))
    def one(number: object, text: object) -> str:
        if not isinstance(number, (int, float)) or not (text is None or isinstance(text, str)):
            raise BadInput("number: wanted a number")
        return f"{number} {text}"

    @app.callback(
        Output(ids("card", key=MATCH), "children"), Input(ids("card", key=MATCH), "n"), State(ids("all", key=ALL), "v")
    )
    def card(clicks: object, values: object) -> str:
        return f"{clicks} {values}"

    @app.callback(Output(ids("all", key=ALL), "children"), Input(ids("all", key=ALL), "v"))
    def every(values: list[object]) -> list[str]:
        return [str(value) for value in values]

    @app.callback(Output("broken", "children"), Input("number", "value"))
    def broken(number: object) -> str:
        raise RuntimeError("secret-detail /some/where/secret")

    @app.callback(Output("odd", "children"), Input("number", "value"))
    def odd(number: object) -> object:
        return object()

    @app.callback(Output(ids("all", key=ALL), "title"), Input(ids("all", key=ALL), "v"))
    def short(values: list[object]) -> list[str]:
        return ["secret-detail"] * 3


def small_pages() -> tuple[Page, Page]:
    return (
        Page("runs", {}, (), lambda ids, routes: html.Div("runs"), _register, ("grid",), start=True),
        Page("scalars", {}, ("scalar",), lambda ids, routes: html.Div("scalars"),
             lambda app, source, ids, routes: None),
    )  # fmt: skip


@pytest.fixture
def source() -> MemorySource:
    return MemorySource({
        "a": {"scalar": {"loss": series([1, 2, 3], [0.1, float("nan"), float("-inf")]), "acc": series([1, 2], [0.5, 1 / 3])}},
        "dir/b": {"scalar": {"loss": series([2**60, 5], [1e-308, 123456789.123456789])}},
    })


def _register_page(application, source, page, prefix) -> None:
    page.register(application, source, Ids(page.name), prefix)


BARE_SHELL = SimpleNamespace(
    ROUTES=whole.ROUTES, CONTENTS=whole.CONTENTS, layout=lambda pages, ids, routes: html.Div("shell"),
    register=lambda app: None, register_page=_register_page, content=whole.content, content_url=whole.content_url,
)  # fmt: skip


@pytest.fixture
def bare_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without the shell, so that what is tested is the server alone."""
    monkeypatch.setattr(server, "shell", BARE_SHELL)


@pytest.fixture
def make_app(source: MemorySource, bare_shell: None) -> Callable[..., server.Application]:
    """create_app over the source in memory and the small pages."""
    return functools.partial(server.create_app, source, pages=small_pages())


class CurrentSource:
    """Asks the source of the test that runs, so that one application serves many tests."""

    def __init__(self) -> None:
        self.source = MemorySource({})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


@pytest.fixture(scope="session")
def shared_applications() -> Callable[..., tuple[server.Application, CurrentSource]]:
    """create_app over the small pages and a source that can be exchanged, once for each set of options; it takes 0.1 s."""

    @functools.cache
    def made(**options: Any) -> tuple[server.Application, CurrentSource]:
        source = CurrentSource()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server, "shell", BARE_SHELL)
            return server.create_app(source, pages=small_pages(), **options), source  # type: ignore[arg-type]

    return made


@pytest.fixture
def shared_client(
    shared_applications: Callable[..., tuple[server.Application, CurrentSource]], source: MemorySource, bare_shell: None
) -> Callable[..., FlaskClient]:
    """A client over the test's own source, of an application that other tests with these options use, too."""

    def client(**options: Any) -> FlaskClient:
        application, current = shared_applications(**options)
        current.source = source
        return Reading(application.server, application.server.response_class)

    return client


class Reading(FlaskClient):
    """Reads each answer to its end, so that no download is left open: an application answers a number of them at once."""

    def open(self, *args: Any, buffered: bool = True, **options: Any) -> Any:
        return super().open(*args, buffered=buffered, **options)


@pytest.fixture
def client(shared_client: Callable[..., FlaskClient]) -> FlaskClient:
    return shared_client()
