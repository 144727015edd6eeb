"""The saliency page, used as a person would, on files that mindspore-xai wrote and on recorded arrays."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy
from flask import Flask
from PIL import Image
from playwright.sync_api import Locator, Page, Route, expect

from app import create_app
from app.store.store import Store
from parsers import open_run
from parsers.recording import ExplanationWriter, Uncertainty
from tests.browser.conftest import in_address, not_in_address
from tests.browser.showing import show
from tests.browser.waiting import becomes

ROWS = ".ms-saliency-row"
DRAWN = ".ms-saliency-drawn canvas"
SIDE = 12
EXPLAINERS = ("GradCAM", "Occlusion")
OTHERS = ("confusion", "scores", "counterfactual", "uncertainty")
PIXELS = "canvas => [...canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data]"
Serve = Callable[[Flask], str]


def served(base: Path, serve: Serve) -> Iterator[str]:
    store = Store([base], interval=0.5).start()
    assert store.wait(30)
    yield serve(create_app(store).server)
    store.stop()


def picture(sample: int) -> np.ndarray:
    return np.random.default_rng(sample).integers(0, 256, (SIDE, SIDE, 3), np.uint8)


def heat(sample: int, place: int, label: int) -> np.ndarray:
    """Values from 0 to 255, so that the writer keeps them as they are."""
    found = np.random.default_rng([sample, place, label]).integers(0, 256, (SIDE, SIDE))
    found.flat[:2] = 0, 255
    return found


def record(folder: Path, samples: int = 5) -> None:
    with ExplanationWriter(str(folder), labels=["cat", "dog"], explainers=EXPLAINERS, seconds=1_700_000_000) as writer:
        for sample in range(samples):
            p = 0.9 - 0.1 * sample % 0.8
            sure = {0: Uncertainty(0.01 * (sample + 1), p - 0.05, p + 0.05), 1: Uncertainty(0.02, 0.0, 0.2)}
            writer.sample(sample, picture(sample), truth=[0], probabilities={0: p, 1: 0.1}, uncertainty=sure)
            for place, explainer in enumerate(EXPLAINERS):
                for label in (0, 1):
                    writer.heat_map(sample, explainer, label, heat(sample, place, label))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, serve_file: Serve) -> Iterator[str]:
    base = tmp_path_factory.mktemp("recorded")
    record(base / "runs" / "run")
    yield from served(base / "runs", serve_file)


def row(page: Page, sample: int) -> Locator:
    return page.locator(f'{ROWS}[data-sample="{sample}"]')


def shown_ids(page: Page) -> list[int]:
    found = page.locator(ROWS).evaluate_all("rows => rows.map(row => [+row.dataset.row, +row.dataset.sample])")
    return [sample for _, sample in sorted(found)]


def expect_ids(page: Page, wanted: list[int]) -> None:
    becomes(page, lambda: shown_ids(page)[: len(wanted)], wanted)


def test_samples_have_a_picture_labels_and_a_map_per_explainer(page: Page, explained: str) -> None:
    show(page, f"{explained}/saliency?run=summary_real")
    expect(page.locator(".ms-explanations-total")).to_contain_text("6 of 6 samples")
    expect(row(page, 0).locator(DRAWN)).to_have_count(3)
    expect(row(page, 0)).to_contain_text("horizontal")
    expect(row(page, 0)).to_contain_text("1.000")
    expect(row(page, 0).locator(".ms-saliency-label").first).to_have_attribute(
        "title", re.compile("standard deviation 0.000003, 95 % interval 0.99 to 1.00"))
    expect(page.locator(".ms-saliency-head")).to_contain_text("GradCAM")


def test_outcomes_are_those_of_mindinsight_at_one_half(page: Page, explained: str) -> None:
    show(page, f"{explained}/saliency?run=summary_weak")
    total = page.locator(".ms-explanations-total")
    expect(total).to_contain_text("14 of 14 samples")
    for name, samples in (("FN", 2), ("FP", 2), ("TP", 12)):
        page.get_by_role("button", name=name, exact=True).click()
        expect(total).to_contain_text(f"{samples} of 14 samples")
        assert f"outcome={name.lower()}" in page.url
        page.get_by_role("button", name="Clear filters").click()
        expect(total).to_contain_text("14 of 14 samples")


def test_a_threshold_in_the_link_decides_outcomes_and_says_what_was_counted(
    page: Page, explained: str, real_data: Path
) -> None:
    table = open_run(str(real_data / "explain" / "summary_weak")).explanations.predictions
    missed = table["sample"][table["truth"] & (table["probability"] < 0.97)].nunique()
    assert missed > 2
    show(page, f"{explained}/saliency?run=summary_weak&t=0.97&outcome=fn")
    expect(page.locator(".ms-explanations-total")).to_contain_text(f"{missed} of 14 samples")
    expect(page.locator(".ms-explanations-bounds")).to_be_hidden()
    field = page.get_by_label("Threshold").nth(1)
    field.fill("0.3")
    field.press("Enter")
    expect(page.locator(".ms-explanations-bounds")).to_be_visible()
    in_address(page, "t", "0.3")


def test_the_sentence_about_a_run_leaves_with_the_run(page: Page, explained: str) -> None:
    show(page, f"{explained}/saliency?run=summary_weak&run=summary_real&of=summary_real")
    said = page.locator(".ms-saliency-looks-said")
    expect(said).to_contain_text("Medians over 6 samples")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "-looks.data" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    page.locator(".ms-explanations").get_by_label("Run", exact=True).select_option(label="summary_weak")
    expect(page.locator(".ms-explanations-total")).to_contain_text("14 of 14 samples")
    becomes(page, lambda: len(held) > 0, True)
    expect(said).to_be_empty()
    for route in held:
        route.continue_()
    page.unroute("**/_dash-update-component*")
    expect(said).to_contain_text("Medians over")


@pytest.mark.long
def test_a_map_is_blended_as_the_reference_does(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency")
    canvas = row(page, 1).locator('[data-explainer="GradCAM"]').locator("canvas")
    expect(row(page, 1).locator(DRAWN)).to_have_count(3)
    s = heat(1, 0, 0)[..., None] / 255.0
    colour = s * [255, 255, 0] + (1 - s) * [55, 25, 86]
    wanted = picture(1) * (1 - s) + colour * s
    found = np.array(canvas.evaluate(PIXELS)).reshape(SIDE, SIDE, 4)
    assert np.abs(found[..., :3] - wanted).max() <= 1.0
    assert (found[..., 3] == 255).all()
    page.get_by_role("switch", name="Over the picture").click()
    page.get_by_label("Colour map").select_option("grey")
    grey = heat(1, 0, 0)

    def alone() -> np.ndarray:
        return np.array(canvas.evaluate(PIXELS)).reshape(SIDE, SIDE, 4)[..., :3]

    becomes(page, alone, lambda found: bool((found == grey[..., None]).all()))


@pytest.mark.long
def test_a_label_shows_its_maps_and_an_explainer_its_column(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency?over=0&colours=grey")
    expect(row(page, 2).locator(DRAWN)).to_have_count(3)
    row(page, 2).locator(".ms-saliency-label", has_text="dog").click()
    in_address(page, "shown", "1")
    in_address(page, "sample", "2")
    expect(row(page, 2).locator(".ms-saliency-label", has_text="dog")).to_have_attribute("aria-pressed", "true")
    expect(row(page, 2).locator(DRAWN)).to_have_count(3)
    wanted = heat(2, 1, 1)

    def occluded() -> np.ndarray:
        return np.array(row(page, 2).locator('[data-explainer="Occlusion"] canvas').evaluate(PIXELS)).reshape(SIDE, SIDE, 4)

    # The maps of the other label are replaced once those of this one have come.
    becomes(page, occluded, lambda found: bool((found[..., 0] == wanted).all()))
    page.get_by_role("button", name="GradCAM", exact=True).click()
    expect(row(page, 2).locator(DRAWN)).to_have_count(2)
    in_address(page, "explainer", "Occlusion")


def test_an_enlarged_sample_has_values_neighbours_and_pairs(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency?sample=2&large=1")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(DRAWN)).to_have_count(3)
    expect(dialog).to_contain_text("Sample 2")
    expect(dialog).to_contain_text("3 of 5")
    rho = scipy.stats.spearmanr(heat(2, 0, 0).ravel(), heat(2, 1, 0).ravel()).statistic
    expect(dialog.locator(".ms-saliency-pairs li")).to_have_text(re.compile(rf"GradCAM – Occlusion\s*{1 - rho:.3f}"))
    box = dialog.locator('[data-explainer="GradCAM"] canvas').bounding_box()
    assert box is not None
    x, y = 7, 4
    page.mouse.move(box["x"] + box["width"] * (x + 0.5) / SIDE, box["y"] + box["height"] * (y + 0.5) / SIDE)
    values = dialog.locator(".ms-saliency-values")
    expect(values).to_contain_text(f"x {x}, y {y}:")
    for place, explainer in enumerate(EXPLAINERS):
        expect(values).to_contain_text(f"{explainer} {heat(2, place, 0)[y, x] / 255:.3f} ({heat(2, place, 0)[y, x]})")
    page.keyboard.press("j")
    expect(dialog).to_contain_text("Sample 3")
    page.keyboard.press("k")
    expect(dialog).to_contain_text("Sample 2")
    page.keyboard.press("k")
    expect(dialog).to_contain_text("Sample 1")
    in_address(page, "sample", "1")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    not_in_address(page, "large")


def test_keys_step_through_samples_and_enlarge(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency")
    expect(row(page, 0).locator(DRAWN)).to_have_count(3)
    page.keyboard.press("j")
    expect(row(page, 0)).to_have_class(re.compile("ms-chosen"))
    page.keyboard.press("j")
    expect(row(page, 1)).to_have_class(re.compile("ms-chosen"))
    expect(row(page, 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Sample 1")


@pytest.mark.long
def test_samples_are_sorted_by_disagreement_in_the_background(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency")
    page.get_by_label("Sort by").select_option("disagreement")

    def worst(sample: int) -> float:
        pairs = [[heat(sample, explainer, label).ravel() for explainer in (0, 1)] for label in (0, 1)]
        return max(1 - scipy.stats.spearmanr(*pair).statistic for pair in pairs)

    wanted = sorted(range(5), key=lambda sample: -worst(sample))
    expect_ids(page, wanted[:3])
    expect(row(page, wanted[0])).to_contain_text(f"disagreement {worst(wanted[0]):.3f}")


@pytest.mark.long
def test_what_is_shown_is_saved(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency?sample=4&large=1&outcome=fn&t=0.85")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(DRAWN)).to_have_count(3)
    with page.expect_download() as one:
        dialog.locator('[data-explainer="GradCAM"]').get_by_role("button", name="Save as PNG").click()
    assert one.value.suggested_filename == "run_sample_4_cat_GradCAM.png"
    with Image.open(one.value.path()) as saved:
        assert saved.size == (SIDE, SIDE)
        s = heat(4, 0, 0)[..., None] / 255.0
        wanted = picture(4) * (1 - s) + (s * [255, 255, 0] + (1 - s) * [55, 25, 86]) * s
        assert np.abs(np.asarray(saved)[..., :3] - wanted).max() <= 1.0
    with page.expect_download() as all_of_them:
        dialog.get_by_role("button", name="PNG", exact=True).click()
    with Image.open(all_of_them.value.path()) as saved:
        assert saved.width > 3 * 160
    page.keyboard.press("Escape")
    with page.expect_download() as table:
        page.get_by_role("button", name="Samples shown, as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(table.value.path()).read_text(encoding="utf-8"))))
    assert [int(one["sample"]) for one in rows] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert {one["outcome"] for one in rows if one["name"] == "cat"} == {"FN"}


@pytest.mark.long
def test_thousands_of_samples_scroll_and_only_those_on_screen_are_fetched(page: Page, tmp_path: Path, serve: Serve) -> None:
    record(tmp_path / "runs" / "run", 3000)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/explanation/" in request.url else None)
    for address in served(tmp_path / "runs", serve):
        show(page, f"{address}/saliency")
        expect(row(page, 0).locator(DRAWN)).to_have_count(3)
        assert page.locator(ROWS).count() < 12
        assert len(asked) < 60
        page.locator(".ms-saliency-rows").evaluate("host => { host.scrollTop = host.scrollHeight; }")
        expect(row(page, 2999).locator(DRAWN)).to_have_count(3)
        assert len(asked) < 150
        show(page, f"{address}/saliency?sample=1717")
        expect(row(page, 1717).locator(DRAWN)).to_have_count(3)
        expect(row(page, 1717)).to_be_in_viewport()


def test_new_samples_of_a_growing_run_appear(page: Page, tmp_path: Path, serve: Serve) -> None:
    folder = tmp_path / "runs" / "run"
    with ExplanationWriter(str(folder), labels=["cat"], explainers=["A"], seconds=1_700_000_000) as writer:
        writer.sample(0, picture(0), truth=[0], probabilities={0: 0.7})
        writer.flush()
        for address in served(tmp_path / "runs", serve):
            show(page, f"{address}/saliency")
            expect(page.locator(".ms-explanations-total")).to_contain_text("1 of 1 sample")
            writer.sample(1, picture(1), truth=[0], probabilities={0: 0.2})
            writer.flush()
            expect(page.locator(".ms-explanations-total")).to_contain_text("2 of 2 samples")
            expect(row(page, 1)).to_contain_text("FN")


@pytest.mark.long
def test_damaged_pictures_are_named_and_the_rest_is_shown(browser, tmp_path: Path, serve: Serve) -> None:
    folder = tmp_path / "runs" / "run"
    record(folder, 4)
    origin = folder / "_explain_1700000000" / "origin_images" / "0"
    (origin / "0.png").unlink()
    whole = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (96, 96, 3), np.uint8)).save(whole, "JPEG")
    (origin / "3.png").write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    (origin / "1.png").write_text("<svg xmlns='x'><script>alert(1)</script></svg>")
    maps = folder / "_explain_1700000000" / "heatmap" / "GradCAM" / "0"
    Image.fromarray(np.full((6, 6), 77, np.uint8)).save(maps / "2_0.png")
    context = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    for address in served(tmp_path / "runs", serve):
        show(page, f"{address}/saliency")
        note = ".ms-saliency-figure:not([data-explainer]) .ms-saliency-note"
        expect(row(page, 0).locator(note)).to_contain_text("No such file")
        expect(row(page, 1).locator(note)).to_contain_text("expected a PNG, JPEG")
        expect(row(page, 0).locator('[data-explainer="GradCAM"].ms-saliency-drawn')).to_have_count(1)
        odd = row(page, 2).locator('[data-explainer="GradCAM"] .ms-saliency-note')
        expect(odd).to_contain_text("All values of this map are 77.")
        expect(odd).to_contain_text("6 x 6 px, the picture 12 x 12")
        expect(row(page, 3).locator(note)).to_contain_text("The image is cut")
        expect(row(page, 3).locator(".ms-saliency-figure:not([data-explainer]).ms-saliency-drawn")).to_have_count(1)
        # What is there of the picture is drawn: rows of noise at the top, one colour below.
        pixels = row(page, 3).locator(".ms-saliency-figure:not([data-explainer]) canvas").evaluate(PIXELS)
        rows = np.array(pixels).reshape(96, 96, 4)[:, :, 0]
        assert rows[:8].std() > 20
        assert rows[-8:].std() < 1
    assert not errors
    context.close()


@pytest.mark.long
def test_texts_of_rows_follow_the_language(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency?sample=1&shown=1")
    label = row(page, 1).locator(".ms-saliency-label", has_text="cat")
    expect(label).to_have_attribute("title", re.compile("true label"))
    page.get_by_role("button", name="中文").click()
    expect(label).to_have_attribute("title", re.compile("真实标签"))
    expect(page.get_by_label("配色")).to_contain_text("紫色至黄色")
    expect(page.locator('select:has(option[value="uncertainty"]) option[value="uncertainty"]')).to_have_text("不确定性从高到低")


def test_the_chosen_label_and_explainers_follow_to_another_page(page: Page, recorded: str) -> None:
    show(page, f"{recorded}/saliency?label=1&sample=3&t=0.05")
    expect(row(page, 3).locator(DRAWN)).to_have_count(3)
    page.get_by_role("link", name="Counterfactual").click()
    page.wait_for_url("**/counterfactual?**")
    for part in ("label=1", "sample=3", "t=0.05"):
        assert part in page.url


@pytest.mark.parametrize("name", ["saliency", *(pytest.param(one, marks=pytest.mark.long) for one in OTHERS)])
def test_no_control_is_empty_while_a_run_is_read(page: Page, recorded: str, name: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "-reading.data" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/_dash-update-component*", hold)
    show(page, f"{recorded}/{name}")
    expect(page.locator('.ms-explanations [data-state="opening"]')).to_be_visible()
    becomes(page, lambda: len(held) > 0, True)
    controls = page.locator(".ms-body-bar").locator("button:not(.ms-button-icon), select, summary, [role=group]")
    shown = controls.filter(visible=True)
    assert [one.evaluate("e => e.outerHTML") for one in shown.all() if not one.inner_text().strip()] == []
    for route in held:
        route.continue_()
    expect(page.locator('.ms-explanations [data-state="opening"]')).to_be_hidden()
    expect(page.locator(".ms-explanations-picker[inert]")).to_have_count(0)
