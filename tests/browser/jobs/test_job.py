"""The job overview, and the choice of one of very many ranks, used as a person would."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.demo.simulated.job_files import write as write_simulated
from app.demo.simulated.job_records import recorded
from app.demo.simulated.jobs import simulate
from app.demo.simulated.programs import Fault, JobPlan
from app.store.store import Store
from tests.browser.conftest import in_address
from tests.browser.showing import show
from tests.writers.clusters import write

HEAD = "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n"
ROWS = "1,rank,0,60.0,30.0,0.0,30.0,10.0\n1,rank,3,60.0,30.0,0.0,30.0,10.0\n"


def job(base: Path, ranks: int = 80) -> Path:
    """A job of which rank 5 has no files and ranks 16 to 19 lack one."""
    folder = base / "run"
    write(folder, ranks=ranks, steps=5, operations=2)
    shutil.rmtree(next(folder.glob("host0_5_*")))
    for rank in range(16, 20):
        (next(folder.glob(f"host2_{rank}_*")) / "ASCEND_PROFILER_OUTPUT" / "communication_matrix.json").unlink()
    return folder


def cell(page: Page, rank: int) -> tuple[float, float]:
    """The middle of a rank's cell on the screen; cells have 24 pixels."""
    box = page.locator(".ms-job-canvas").bounding_box()
    assert box is not None
    columns = round(box["width"] / 24)
    return box["x"] + (rank % columns + 0.5) * 24, box["y"] + (rank // columns + 0.5) * 24


def test_a_rank_is_chosen_in_the_grid_and_stays_on_other_pages(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    job(tmp_path)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    address = serve(create_app(store).server)
    show(page, f"{address}/job?run=run")
    badges = page.locator(".ms-job-ranks .ms-card-badges")
    expect(badges).to_contain_text("79 of 80 found")
    expect(badges).to_contain_text("1 missing")
    expect(badges).to_contain_text("4 lack files")
    expect(page.locator(".ms-job-sentence .en")).to_contain_text("Nothing that was checked limits the job")
    expect(page.locator(".ms-job-without")).to_contain_text("Missing: 5")
    expect(page.locator(".ms-job-limits")).to_contain_text("Not checked: memory_record.csv is missing.")
    expect(page.locator(".ms-job-cards")).to_contain_text("communication_matrix.json")
    expect(page.locator(".ms-job-legend .ms-job-key:visible")).to_have_count(3)

    page.mouse.move(*cell(page, 5))
    expect(page.locator(".ms-job-tip")).to_have_text("rank 5 · no files of this rank")
    page.mouse.click(*cell(page, 5))
    page.mouse.click(*cell(page, 17))
    expect(page).to_have_url(re.compile("rank=17"))
    expect(page.locator(".ms-job-about")).to_have_text("rank 17 · host host2 · lacks communication_matrix.json")

    page.locator(".ms-job-canvas").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ms-job-tip")).to_contain_text("rank 18")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("rank=18"))

    page.locator(".ms-job-chosen a", has_text="Steps").click()
    expect(page.locator(".ms-breakdown-head")).to_be_visible()  # the field of the job overview is gone
    field = page.locator(".ms-number-field:visible")
    expect(field).to_have_value("18")
    expect(page.locator(".ms-number-total:visible")).to_contain_text("of 79")
    field.fill("70")
    field.press("Enter")
    expect(page).to_have_url(re.compile("session=host8_70_.*rank=70"))
    page.locator('.ms-number-picker:visible [data-act="next"]').click()
    expect(page).to_have_url(re.compile("rank=71"))
    field.fill("5")
    field.press("Enter")
    expect(page.locator(".ms-number-absent:visible")).to_contain_text("The job has no files of rank 5.")
    expect(page).to_have_url(re.compile("rank=4"))
    page.locator('.ms-menu-link[data-page="job"]').click()
    expect(page.locator(".ms-job-about")).to_contain_text("rank 4")
    show(page, f"{address}/steps?run=run&rank=5")
    expect(page.locator(".ms-number-absent:visible")).to_contain_text("The job has no files of rank 5.")
    expect(field).to_have_value("0")
    store.stop()


@pytest.mark.long
def test_the_job_overview_in_chinese_and_dark_on_a_narrow_screen_with_its_files(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    job(tmp_path, 24)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    address = serve(create_app(store).server)
    page.set_viewport_size({"width": 1000, "height": 800})
    show(page, f"{address}/job?run=run&rank=3")
    expect(page.locator(".ms-job-sentence .en")).to_be_visible()
    page.locator("[data-action=language]").click()
    expect(page.locator(".ms-job-sentence .zh")).to_contain_text("已检查的各项均不构成瓶颈")
    expect(page.locator(".ms-job-about")).to_have_text("rank 3 · 主机 host0")
    page.locator("[data-action=theme]").click()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator(".ms-body-tools summary").click()
    path = page.locator(".ms-body-tools a", has_text="通信域").get_attribute("href")
    assert path is not None
    with urlopen(address + path) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode("utf-8-sig"))))
    assert sorted(row["ranks"] for row in rows) == ["0-7", "16-23", "8-15"]
    with page.expect_download() as saved:
        page.locator(".ms-job-ranks [data-act=png]").click()
    assert saved.value.suggested_filename.endswith(".png")
    store.stop()


@pytest.mark.long
def test_files_about_all_ranks_alone(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    folder = tmp_path / "run" / "cluster_analysis_output"
    folder.mkdir(parents=True)
    (folder / "cluster_step_trace_time.csv").write_text(HEAD + ROWS)
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    show(page, f"{serve(create_app(store).server)}/job?run=run")
    expect(page.locator(".ms-job-sentence .en")).to_have_text(
        "Communication that no computing overlaps limits the job: 30.0 µs of a step of 100 µs (30.0 %)."
    )
    expect(page.locator(".ms-body-bar .ms-badge")).to_have_text("all ranks")
    expect(page.locator(".ms-job-ranks .ms-card-badges")).to_contain_text("2 in files about all ranks")
    store.stop()


@pytest.mark.long
def test_a_rank_that_comes_while_the_page_is_open(page: Page, tmp_path: Path, serve: Callable[[Flask], str]) -> None:
    folder = job(tmp_path, 24)
    later = next(folder.glob("host1_9_*"))
    shutil.move(later, tmp_path / "aside")
    store = Store([folder.parent / "run"], interval=0.5).start()
    assert store.wait(60)
    show(page, f"{serve(create_app(store).server)}/job")
    badges = page.locator(".ms-job-ranks .ms-card-badges")
    expect(badges).to_contain_text("22 of 24 found")
    shutil.move(tmp_path / "aside", later)
    expect(badges).to_contain_text("23 of 24 found")
    expect(page.locator(".ms-job-scroll:has(> .ms-job-limits) + p .en")).to_contain_text("Mean over all ranks (23)")
    store.stop()


def test_what_a_step_would_take_is_asked_and_stays_in_the_address(
    page: Page, tmp_path: Path, serve: Callable[[Flask], str]
) -> None:
    """Ranks wait for each other in all operations: without the 20 % of rank 2 a step is 20.4 ms shorter."""
    plan = JobPlan(dp=4, mode="meetings", noise=0.0, hiccups=0.0, gaps=0.0, data=0.0, steps=3, fault=Fault("slow_rank", 2, 0.2))
    write_simulated(tmp_path / "run", recorded(simulate(plan)))
    store = Store([tmp_path], interval=0).start()
    assert store.wait(60)
    address = serve(create_app(store).server)
    show(page, f"{address}/job?run=run")
    card = page.locator(".ms-job-what")
    expect(card.locator(".ms-job-what-lines")).to_contain_text("rank 2 were as fast as its peers")
    expect(card.locator("tr", has_text="rank 2 were").first).to_contain_text("20.4 ms")
    card.locator("input").first.fill("0-1")
    expect(card.locator(".ms-job-what-lines")).to_contain_text("ranks 0, 1 were as fast as their peers")
    in_address(page, "slow", "0-1")
    card.locator("select").select_option("rank")
    expect(card.locator("tbody tr", has_text="communication took")).to_have_count(0)
    link = card.locator(".ms-job-what-csv").get_attribute("href")
    assert link is not None
    with urlopen(address + link) as answer:
        rows = list(csv.DictReader(io.StringIO(answer.read().decode())))
    assert {row["cause"] for row in rows} == {"rank", "ranks"}
    store.stop()
