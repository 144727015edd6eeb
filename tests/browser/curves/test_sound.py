"""Curves as sound: the spectrum of what Web Audio makes of a card has the pitches of its values, and noise where it has NaN."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from parsers.recording import EventWriter

RATE = 16_000
SECONDS, PAUSE, LOWEST, HIGHEST = 3.0, 0.25, 220.0, 880.0
RENDERED = """async (rate) => {
    const main = [...document.scripts].find(({ src }) => src.endsWith("/shell/main.js")).src;
    const sound = await import(new URL("../curves/scalars/sound.js", main));
    const { pageAround } = await import(new URL("../kit/cards/cards.js", main));
    const card = document.querySelector(".ms-slot:not([hidden])");
    const drawing = pageAround(card).drawings.get(Number(card.dataset.slot));
    const voices = sound.voicesOf(drawing, card.querySelector(".js-plotly-plot").layout);
    const context = new OfflineAudioContext(1, Math.ceil(rate * sound.duration(voices)), rate);
    sound.schedule(context, voices, 0);
    return Array.from((await context.startRendering()).getChannelData(0));
}"""


@pytest.fixture
def address(tmp_path: Path, serve: Callable[[Flask], str]) -> Iterator[str]:
    """Two runs of one loss: steps up from 0 to 1, and one that is 1 but for NaN in its middle."""
    values = [[0.0] * 40 + [0.5] * 40 + [1.0] * 41, [1.0] * 40 + [np.nan] * 40 + [1.0] * 41]
    for number, run in enumerate(values):
        folder = tmp_path / f"runs/run{number}"
        folder.mkdir(parents=True)
        with EventWriter(str(folder / f"events.out.tfevents.170000000{number}.vm"), "tensorboard") as writer:
            for step, value in enumerate(run):
                writer.add(step, {"loss": value}, wall_time=1.7e9 + step)
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(30)
    yield serve(create_app(store).server)
    store.stop()


def spectrum(sound: np.ndarray, begin: float, end: float) -> tuple[float, float]:
    """The loudest frequency of a part in Hz, and the share of the energy that is near it."""
    part = sound[round(begin * RATE) : round(end * RATE)]
    power = np.abs(np.fft.rfft(part * np.hanning(part.size), 1 << 16)) ** 2
    pitch = np.fft.rfftfreq(1 << 16, 1 / RATE)
    at = int(power.argmax())
    return float(pitch[at]), float(power[np.abs(pitch - pitch[at]) < 25].sum() / power.sum())


def test_the_spectrum_has_the_pitches_of_the_values(page: Page, address: str) -> None:
    page.goto(f"{address}/scalars?run=*")
    expect(page.locator(".ms-slot .js-plotly-plot .main-svg").first).to_be_visible()
    low, high = page.evaluate("() => document.querySelector('.ms-slot .js-plotly-plot').layout.yaxis.range")
    sound = np.asarray(page.evaluate(RENDERED, RATE))
    assert sound.size == round(2 * (SECONDS + PAUSE) * RATE)
    starts = {name: at * (SECONDS + PAUSE) for at, name in enumerate(order(page))}

    def expected(value: float) -> float:
        return float(LOWEST * (HIGHEST / LOWEST) ** ((value - low) / (high - low)))

    for begin, end, value in ((0.3, 0.9, 0.0), (1.2, 1.8, 0.5), (2.2, 2.8, 1.0)):
        pitch, share = spectrum(sound, starts["run0"] + begin, starts["run0"] + end)
        assert pitch == pytest.approx(expected(value), rel=0.02)
        assert share > 0.9, "a pure tone"
    pitch, share = spectrum(sound, starts["run1"] + 0.3, starts["run1"] + 0.8)
    assert pitch == pytest.approx(expected(1.0), rel=0.02)
    _, share = spectrum(sound, starts["run1"] + 1.2, starts["run1"] + 1.8)
    assert share < 0.3, "noise, whose energy is everywhere"
    between = sound[round((SECONDS + 0.1) * RATE) : round((SECONDS + PAUSE - 0.02) * RATE)]
    assert np.abs(between).max() < 1e-3, "silence between the runs"
    assert 0.05 < np.abs(sound).max() < 0.5


def order(page: Page) -> list[str]:
    """The names of the runs in the order in which they are drawn."""
    return page.evaluate(
        "() => document.querySelector('.ms-slot .js-plotly-plot').data.filter(({ meta }) => meta && meta.key !== undefined)"
        ".map(({ meta }) => meta.label)"
    )


def test_it_is_silent_until_pressed_and_works_from_the_keyboard(page: Page, address: str) -> None:
    page.add_init_script(
        "window.contexts = [];"
        "window.AudioContext = class extends AudioContext {"
        " constructor(...all) { super(...all); window.contexts.push(this); } };"
    )
    page.goto(f"{address}/scalars?run=*")
    button = page.locator(".ms-slot [data-act=sound]").first
    expect(button).to_be_visible()
    expect(page.locator(".ms-slot .js-plotly-plot .main-svg").first).to_be_visible()  # there is nothing to play before
    assert page.evaluate("() => window.contexts.length") == 0
    expect(button).to_have_attribute("aria-pressed", "false")
    assert "pitch is the value" in (button.get_attribute("aria-label") or "")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("() => window.contexts.length") == 1
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("() => window.contexts[0].state") == "closed"
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    page.locator(".ms-menu-link").first.click()
    page.wait_for_function("() => window.contexts[1].state === 'closed'")
