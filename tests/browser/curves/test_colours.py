"""Colours of runs and groups: spread over those on screen, the same on every page, set by hand and reset."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from layouts.kit.theme import FIRST, PALETTE
from parsers.recording import EventWriter
from tests.browser import waiting
from tests.browser.showing import show

pytestmark = pytest.mark.browser
FIVE = ("lr_1/seed_3", "lr_2/seed_0", "lr_2/seed_4", "lr_4/seed_1", "lr_5/seed_2")
DRAWN = ".ms-slot:not([hidden]):not(.ms-pending) .js-plotly-plot"
LINES = """plot => Object.fromEntries(
  plot.data.filter(t => t.meta && t.meta.key !== undefined).map(t => [t.meta.key, t.line.color])
)"""
CHIPS = """chips => Object.fromEntries(chips.filter(c => c.querySelector('.ms-dot')).map(c => {
  const parts = getComputedStyle(c.querySelector('.ms-dot')).backgroundColor.match(/\\d+/g).map(Number);
  return [c.title, '#' + parts.slice(0, 3).map(n => n.toString(16).padStart(2, '0')).join('')];
}))"""


def record(directory: Path, values: list[float]) -> None:
    directory.mkdir(parents=True)
    path = str(directory / "events.out.events.summary.1795218295.0.vm_MS")
    with EventWriter(path, "mindspore") as writer:
        for step, value in enumerate(values):
            writer.add(step, {"loss": value})


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty runs of a sweep, and a job of four ranks."""
    base = tmp_path_factory.mktemp("sweep")
    for lr in range(6):
        for seed in range(5):
            record(base / f"lr_{lr}" / f"seed_{seed}", [1.0 / (step + lr + 1) for step in range(20)])
    for rank in range(4):
        record(base / "job" / f"rank_{rank}", [2.0 / (step + rank + 1) for step in range(20)])
    return base


@pytest.fixture
def started(sweep: Path, tmp_path: Path, serve: Callable[[Flask], str]) -> Iterator[Callable[[], str]]:
    """Starts a server with the same workspace as before and gives its address."""
    apps = []

    def start() -> str:
        for app in apps:
            app.source.stop()
        apps.append(create_app(sweep, workspace=tmp_path / "workspace"))
        assert apps[-1].source.wait(30)
        return serve(apps[-1].server)

    yield start
    for app in apps:
        app.source.stop()


@pytest.fixture(scope="module")
def address(sweep: Path, tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> Iterator[str]:
    """The application over the sweep; who sets a colour resets it."""
    app = create_app(sweep, workspace=tmp_path_factory.mktemp("kept") / "workspace")
    assert app.source.wait(30)
    yield serve_file(app.server)
    app.source.stop()


def lines(page: Page) -> dict[str, str]:
    page.locator(DRAWN).first.wait_for()
    drawn: dict[str, str] = page.locator(DRAWN).first.evaluate(LINES)
    return drawn


def becomes(page: Page, read: Callable[[Page], dict[str, str]], wanted: dict[str, str]) -> None:
    """Wait until the colours that `read` finds are these: chips and lines change one after the other."""
    waiting.becomes(page, lambda: read(page), wanted)


def turns(page: Page, run: str, colour: str) -> None:
    """Wait until the line of a run has a colour."""
    script = f"([chart, run, colour]) => ({LINES})(document.querySelector(chart))[run] === colour"
    page.wait_for_function(script, arg=[DRAWN, run, colour])


def chips(page: Page) -> dict[str, str]:
    expect(page.locator(".ms-chip:not(.ms-chip-more)").first).to_be_visible()
    found: dict[str, str] = page.locator(".ms-chip:not(.ms-chip-more)").evaluate_all(CHIPS)
    return found


def hue(colour: str) -> float:
    return colorsys.rgb_to_hls(*(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0]


@pytest.mark.long
def test_five_chosen_runs_differ_most_and_look_the_same_on_every_page(page: Page, address: str) -> None:
    query = urlencode([("run", run) for run in FIVE])
    show(page, f"{address}/scalars?{query}")
    drawn = lines(page)
    assert set(drawn) == set(FIVE)
    assert set(drawn.values()) == {PALETTE[number][0] for number in FIRST}
    assert chips(page) == drawn
    for path in ("", "overview", "two_runs"):
        show(page, f"{address}/{path}?{query}")
        assert chips(page) == drawn, path
    show(page, f"{address}/two_runs?{query}&one={FIVE[0]}&other={FIVE[3]}")
    dots = page.locator(".ms-two-runs-selector .ms-dot")
    expect(dots.first).to_be_visible()
    shown = dots.evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert {tuple(map(int, one[4:-1].split(","))) for one in shown} == {
        tuple(int(drawn[run][at : at + 2], 16) for at in (1, 3, 5)) for run in (FIVE[0], FIVE[3])
    }


@pytest.mark.long
def test_ranks_are_shades_of_one_hue_and_others_have_another(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?run=job&run={FIVE[0]}")
    drawn = lines(page)
    ranks = [drawn[f"job/rank_{rank}"] for rank in range(4)]
    assert len(set(ranks)) == 4
    assert max(map(hue, ranks)) - min(map(hue, ranks)) < 0.05
    assert min(abs(hue(drawn[FIVE[0]]) - hue(rank)) for rank in ranks) > 0.05


@pytest.mark.long
def test_a_colour_is_set_by_hand_kept_and_reset(page: Page, started: Callable[[], str]) -> None:
    address = started()
    query = urlencode([("run", run) for run in FIVE])
    show(page, f"{address}/scalars?{query}")
    before = lines(page)
    wanted = next(shades[1] for shades in PALETTE if not set(shades) & set(before.values()))
    chip = page.locator(f'.ms-chip[title="{FIVE[1]}"] .ms-dot-button')
    chip.click()
    page.locator(f'.ms-swatch[data-colour="{wanted}"]').click()
    expect(page.locator(".ms-note-box")).to_have_count(0)
    turns(page, FIVE[1], wanted)
    becomes(page, lines, before | {FIVE[1]: wanted})
    becomes(page, chips, before | {FIVE[1]: wanted})

    address = started()
    show(page, f"{address}/?{query}")
    becomes(page, chips, before | {FIVE[1]: wanted})
    show(page, f"{address}/scalars?{query}")
    becomes(page, lines, before | {FIVE[1]: wanted})
    page.locator(f'.ms-chip[title="{FIVE[1]}"] .ms-dot-button').click()
    page.locator(".ms-colour-reset").click()
    turns(page, FIVE[1], before[FIVE[1]])
    becomes(page, chips, before)


@pytest.mark.long
def test_a_group_has_the_colour_set_by_hand(page: Page, address: str) -> None:
    show(page, f"{address}/scalars?run=*&group=regex:lr_(.)")
    before = lines(page)
    assert len(set(before.values())) == 7
    page.locator('.ms-group-item[data-label="3"] .ms-dot-button').click()
    page.locator(f'.ms-swatch[data-colour="{PALETTE[6][2]}"]').click()
    turns(page, "3", PALETTE[6][2])
    assert {label: colour for label, colour in lines(page).items() if label != "3"}.keys() == before.keys() - {"3"}
    page.locator('.ms-group-item[data-label="3"] .ms-dot-button').click()
    page.locator(".ms-colour-reset").click()
    turns(page, "3", before["3"])


@pytest.mark.long
@pytest.mark.parametrize("query", ["", "&embed=1"])
def test_a_colour_of_one_s_own_is_made_readable(page: Page, started: Callable[[], str], query: str) -> None:
    address = started()
    show(page, f"{address}/scalars?run={FIVE[0]}{query}")
    lines(page)
    answer = page.request.post(f"{address}/api/colour", data={"run": FIVE[0], "colour": "#ffff00"})
    assert answer.ok
    kept = answer.json()["now"]["colour"]
    assert kept != "#ffff00"
    turns(page, FIVE[0], kept)
