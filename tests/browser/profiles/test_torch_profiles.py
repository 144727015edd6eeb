"""Traces and memory snapshots of torch in a browser: each page of profiles and jobs shows what their files have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show
from tests.parsers.profiler.kineto.test_jobs import job_of
from tests.simulations.torch_jobs import simulate
from tests.simulations.torch_verdicts import HEALTHY
from tests.writers.memory_snapshots import steps_in_snapshot


@pytest.fixture(scope="module")
def torch(tmp_path_factory: pytest.TempPathFactory, serve_file: Callable[[Flask], str]) -> str:
    """Run `ranks`, of traces of four ranks of which the last is late, and run `snapshot`."""
    runs: Path = tmp_path_factory.mktemp("torch") / "runs"
    job_of(runs / "ranks", 4, late=50_000)
    (runs / "snapshot").mkdir()
    (runs / "snapshot" / "mine.pickle").write_bytes(b"".join(steps_in_snapshot(12)))
    store = Store([runs], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def test_the_overview_says_what_a_step_is_and_how_kernels_were_launched(page: Page, torch: str) -> None:
    show(page, f"{torch}/profile_overview?run=ranks")
    expect(page.locator(".ms-profile-overview-parts")).to_contain_text("A step takes 990 µs")
    expect(page.locator(".ms-profile-overview-parts")).to_contain_text("Fetching data takes 200 µs")
    cards = page.locator(".ms-profile-overview-summary")
    expect(cards).to_contain_text("Launch delay")
    expect(cards).to_contain_text("of 12 launches")
    expect(cards).to_contain_text("gemm<float, 128>")


def test_operators_have_tabs_for_kernels_host_and_copies(page: Page, torch: str) -> None:
    show(page, f"{torch}/operators?run=ranks")
    tabs = page.locator(".ms-operators-tabs")
    for name in ("GPU kernels", "Host CPU", "Communication", "Copies of memory"):
        expect(tabs).to_contain_text(name)
    tabs.get_by_role("button", name="Host CPU").click()
    expect(page.locator(".ag-center-cols-container")).to_contain_text("aten::linear")


def test_a_late_rank_of_a_job_is_waited_for(page: Page, torch: str) -> None:
    show(page, f"{torch}/communication?run=ranks")
    expect(page.locator("body")).to_contain_text("Rank 3 came last in 3 of 3 steps; the others waited 50.0 µs per step for it")


def test_a_snapshot_opens_on_device_memory(page: Page, torch: str) -> None:
    show(page, f"{torch}/memory?run=snapshot")
    expect(page.locator("body")).to_contain_text("Peak 512 B allocated in step")
    expect(page.locator("body")).to_contain_text("forward")


@pytest.mark.long
def test_a_job_of_64_ranks_opens_on_all_pages_of_jobs(
    page: Page, serve_file: Callable[[Flask], str], tmp_path: Path
) -> None:
    simulate(replace(HEALTHY["64_ranks"](3), slow=(5, 0.2)), 3, tmp_path / "runs" / "many")
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(60)
    base = serve_file(create_app(store).server)
    for name, text in {
        "job": "64", "communication": "Rank 5", "ranks": "8 of 64 ranks are shown", "cluster": "Rank 5",
        "pipeline": "No stages are known", "strategy": "dp 64", "advice": "Rank 5 computes",
    }.items():  # fmt: skip
        show(page, f"{base}/{name}?run=many")
        expect(page.locator("main")).to_contain_text(text, timeout=60_000)
