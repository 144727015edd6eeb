"""`mindscope save` with a real Chromium: what it writes of pages and cards, and of those that answer late or never."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import psutil
import pytest
from flask import Flask, Response
from PIL import Image
from playwright.sync_api import Browser, expect

from app import create_app, save
from app.saving.chromium import find_chromium
from app.saving.output import SaveError
from app.saving.page import DrawnPage, PageLook
from app.store.store import Store
from app.web.modules import PAGE_SAVING, SHELL
from parsers.recording import Recorder
from tests.app.commands.running import called
from tests.browser.runs.test_board import made
from tests.recorded import RECORDED

PAGE = "scalars?run=lenet_sink_mode&run=long_history"


@pytest.fixture(scope="module", autouse=True)
def chromium(browser: Browser) -> None:
    """Skipped where there is no browser."""


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    found = Store([RECORDED], interval=0).start()
    yield found
    found.stop()


def picture(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB"), dtype=int)


def test_a_page_as_picture_is_as_wide_as_wanted_and_shows_all_of_it(store: Store, tmp_path: Path) -> None:
    saved = save(store, PAGE, tmp_path / "a.png", width=1200)
    assert saved.warnings == ()
    assert saved.size_bytes == (tmp_path / "a.png").stat().st_size
    shown = picture(tmp_path / "a.png")
    assert shown.shape[1] == 1200
    assert shown.shape[0] > 900, "the page goes on below the window"
    colours = {tuple(one) for one in shown[-700:].reshape(-1, 3)}
    assert len(colours) > 30, "cards out of the window are drawn"


def test_theme_and_language(store: Store, tmp_path: Path) -> None:
    save(store, PAGE, tmp_path / "a.png", theme="dark")
    assert picture(tmp_path / "a.png").mean() < 60
    save(store, PAGE, tmp_path / "a.html", lang="zh", theme="dark")
    text = (tmp_path / "a.html").read_text()
    assert '<html lang="zh-CN"' in text
    assert 'data-mantine-color-scheme="dark"' in text


def test_html_is_the_file_of_the_button(store: Store, tmp_path: Path, browser: Browser) -> None:
    save(store, PAGE, tmp_path / "a.html")
    context = browser.new_context(offline=True)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "a.html").as_uri())
    expect(page.locator("html[data-drawn]")).to_have_count(1)
    for run in ("lenet_sink_mode", "long_history"):  # the newer one first, by the times of the files
        expect(page.locator(".ms-file-head")).to_contain_text(run)
    expect(page.locator(".ms-file-head")).to_contain_text(f"from {PAGE} by Mindscope")
    assert page.locator(".ms-card .js-plotly-plot .main-svg").count() > 3
    assert page.locator(".ms-card:visible").count() == page.locator(".ms-card:visible:has(.js-plotly-plot .main-svg)").count()
    assert said == []
    context.close()


def test_one_card_in_every_kind_of_file(store: Store, tmp_path: Path, browser: Browser) -> None:
    for kind in ("png", "svg", "html", "pdf"):
        save(store, PAGE, tmp_path / f"a.{kind}", card="loss", width=800)
    assert picture(tmp_path / "a.png").shape[:2] == (450, 800)
    drawing = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    lines = [one for one in drawing.iter() if one.get("class") == "js-line"]
    assert len(lines) >= 2
    assert "loss" in "".join(drawing.itertext())
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "a.html").as_uri())
    expect(page.locator(".ms-card.ms-only .js-plotly-plot .main-svg").first).to_be_visible()
    assert page.locator(".ms-card:visible").count() == 1
    context.close()


def test_the_card_of_a_view_file_is_saved_alone(store: Store, tmp_path: Path) -> None:
    view = tmp_path / "loss.toml"
    view.write_text('page = "scalars"\nruns = ["^lenet_sink_mode$"]\ncard = "loss"\n')
    save(store, str(view), tmp_path / "a.svg")
    assert "loss" in "".join(ElementTree.parse(tmp_path / "a.svg").getroot().itertext())
    with pytest.raises(LookupError, match="did you mean 'loss'"):
        save(store, str(view), tmp_path / "b.svg", card="los")


def test_a_pdf_is_one_page_of_the_size_of_the_page(store: Store, tmp_path: Path) -> None:
    save(store, PAGE, tmp_path / "a.pdf", width=960)
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    boxes = re.findall(rb"/MediaBox\s*\[([^\]]+)\]", data)
    assert len(boxes) == 1
    assert float(boxes[0].split()[2]) == pytest.approx(960 * 72 / 96, abs=1)


def test_a_card_that_is_not_there_is_named_with_those_that_are(store: Store, tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="did you mean 'loss'"):
        save(store, PAGE, tmp_path / "a.png", card="los")
    with pytest.raises(LookupError, match="expected the name of a card"):
        save(store, PAGE, tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_wrote(tmp_path: Path, own_cache: None) -> None:
    done = called("save", PAGE, "--out", tmp_path / "a.svg", "--card", "loss", RECORDED)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{(tmp_path / 'a.svg').stat().st_size:,} bytes written to {tmp_path / 'a.svg'}\n"


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_running_server_with_a_token(serve: Callable[[Flask], str], store: Store, tmp_path: Path) -> None:
    token = "a-token-of-sixteen-characters"
    address = serve(create_app(store, token=token).server)
    with pytest.raises(SaveError, match="it needs a token"):
        save(address, PAGE, tmp_path / "a.png")
    saved = save(address, f"{address}/{PAGE}", tmp_path / "a.html", token=token)
    assert saved.warnings == ()
    text = (tmp_path / "a.html").read_text()
    assert f"from {address}/scalars?run=" in text
    assert token not in text


def test_what_is_no_page_of_the_server(serve: Callable[[Flask], str], store: Store, tmp_path: Path) -> None:
    address = serve(create_app(store).server)
    with pytest.raises(SaveError, match="cannot be opened: the server answers 404"):
        save(address, "nonsense", tmp_path / "a.png")
    with pytest.raises(ValueError, match="expected a page of"):
        save(address, "http://elsewhere.example/scalars", tmp_path / "a.png")


def test_a_server_that_never_answers(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(SaveError, match="expected a server of Mindscope"):
        save(f"http://127.0.0.1:{listener.getsockname()[1]}", "scalars", tmp_path / "a.png", patience=0.5)


def test_a_page_whose_data_never_arrive(serve: Callable[[Flask], str], tmp_path: Path) -> None:
    """A server that stands still once its scripts are loaded."""
    app = create_app(RECORDED)
    release = threading.Event()

    def held() -> Response | None:
        from flask import request

        if "_dash-update-component" in request.path:
            release.wait(60)
        return None

    app.server.before_request(held)
    address = serve(app.server)
    try:
        with pytest.raises(SaveError, match=r"was not drawn within 4 s"):
            save(address, PAGE, tmp_path / "a.png", patience=4)
    finally:
        release.set()
        app.source.stop()
    assert not (tmp_path / "a.png").exists()


def test_scripts_that_arrive_late_are_waited_for(serve: Callable[[Flask], str], tmp_path: Path) -> None:
    """What saves a page needs its scripts: it is not asked for before they have run, however long they take."""
    app = create_app(RECORDED)
    begun = threading.Event()

    def late() -> None:
        from flask import request

        if request.path.endswith(PAGE_SAVING):
            begun.set()
        elif request.path.endswith(SHELL):
            begun.wait(2)

    app.server.before_request(late)
    try:
        save(serve(app.server), PAGE, tmp_path / "a.png")
    finally:
        app.source.stop()
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize(("kind", "said"), [("renderer", "the page crashed in Chromium"), ("", "Chromium ended unexpectedly")])
def test_a_crash_is_no_hang(serve: Callable[[Flask], str], store: Store, kind: str, said: str) -> None:
    address = serve(create_app(store).server)
    with DrawnPage(find_chromium(), PageLook(), patience=600, headers={}) as page:
        page.take(f"{address}/{PAGE}", "html")
        whole = psutil.Process(page._browser._pid)
        for one in [whole, *whole.children(recursive=True)]:
            line = " ".join(one.cmdline())
            if f"--type={kind}" in line if kind else "--type=" not in line:
                one.kill()
        with pytest.raises(SaveError, match=said):
            page.take(f"{address}/{PAGE}", "png")


def test_a_page_without_runs_is_saved_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    saved = save(tmp_path / "runs", "scalars", tmp_path / "a.png")
    assert saved.warnings == ()
    assert picture(tmp_path / "a.png").std() > 1


@pytest.mark.long
def test_a_board_shows_all_its_cards(serve: Callable[[Flask], str], tmp_path: Path) -> None:
    app = create_app(RECORDED, workspace=tmp_path / "workspace")
    assert app.source.wait(30)
    keys = [f"{number:016x}" for number in range(1, 6)]
    address = serve(app.server)
    board = made(address, *(
        {"key": key, "place": "scalars?run=long_history", "part": "key:loss", "w": 4, "h": 8, "y": 30 * at}
        for at, key in enumerate(keys)
    ))  # fmt: skip
    saved = save(address, board, tmp_path / "a.png")
    assert saved.warnings == ()
    shown = picture(tmp_path / "a.png")
    coloured = np.flatnonzero((shown.max(axis=2) - shown.min(axis=2) > 30).sum(axis=1) > 3)
    assert shown.shape[0] > 1500
    assert (np.diff(coloured) > 60).sum() >= len(keys) - 1, "a line in each of the cards, also in those out of the window"
    app.source.stop()


@pytest.mark.long
def test_a_run_of_2000_cards_is_saved_page_by_page(tmp_path: Path, browser: Browser) -> None:
    with Recorder(str(tmp_path / "runs" / "wide")) as recorder:
        for step in range(5):
            recorder.log(step, {f"tag{number:04}": float(step * number) for number in range(2_000)})
    saved = save(tmp_path / "runs", "scalars?cards=2000&page=3", tmp_path / "a.html")
    assert saved.warnings == ()
    assert saved.size_bytes < 2_000_000
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto((tmp_path / "a.html").as_uri())
    expect(page.locator("html[data-drawn]")).to_have_count(1)
    assert 10 <= page.locator(".ms-card:has(.js-plotly-plot .main-svg)").count() <= 48
    expect(page.locator("body")).to_contain_text("2,000")
    context.close()


def test_nothing_is_left_of_the_browser(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    save(store, PAGE, tmp_path / "a.png")
    assert list((tmp_path / "temporary").iterdir()) == []
    ours = [one for one in Path("/proc").glob("[0-9]*/cmdline") if _names(one, str(tmp_path / "temporary"))]
    assert ours == []


def _names(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError):
        return text in path.read_bytes().decode(errors="replace")
    return False
