"""The dynamic shapes page in a browser: types, operators and shapes are chosen, links restore them, files, keys, languages."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from app import create_app
from app.store.store import Store
from tests.browser.showing import show

STEPS = ".ms-plot-drawn[data-plot=steps]"
OPERATOR = ".ms-plot-drawn[data-plot=operator]"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory, serve_file) -> str:
    """A profile of GPU: Add-op1 with three shapes in turn over six steps, Mul-op1 with one, and a kernel."""
    base = tmp_path_factory.mktemp("shaped")
    shapes = ["[2, 3]", "[4, 3]", "[8, 3]"]
    operators = {
        str(step): [
            {"op_side": "gpu", "op_type": "Add", "op_name": "Add-op1", "dur": 100.0 * step, "shape_info": [shapes[step % 3]]},
            {"op_side": "gpu", "op_type": "Mul", "op_name": "Mul-op1", "dur": 50.0, "shape_info": ["[1]"]},
        ]
        for step in range(1, 7)
    }
    kernels = {
        str(step): [{"op_name": "k", "op_full_name": "Add", "dur": 5, "block_dim": "256,1,1", "grid_dim": f"{step % 2},1,1"}]
        for step in range(1, 7)
    }
    profiler = base / "runs/a/profiler"
    profiler.mkdir(parents=True)
    (profiler / "dynamic_shape_info_0.json").write_text(json.dumps({"operator": operators, "kernel": kernels}))
    (profiler / "gpu_op_type_info_0.csv").write_text(
        "op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)\nAdd,6,2100,0.9,350\n"
    )
    store = Store([base / "runs"], interval=0).start()
    assert store.wait(30)
    return serve_file(create_app(store).server)


def test_types_operators_and_shapes_are_chosen_and_a_link_restores_them(page: Page, shaped: str) -> None:
    show(page, f"{shaped}/shapes?run=a")
    expect(page.locator(".ms-shapes-sentence .en")).to_have_text(
        "The input shapes of 1 of 2 operators change from step to step. They took 2.10 ms of 2.40 ms (87.5 %)."
    )
    expect(page.locator(f"{STEPS} .scatterlayer .trace")).to_have_count(2)
    expect(page.locator(f"{OPERATOR} .scatterlayer .trace")).to_have_count(3)
    name = page.locator(f"{OPERATOR} .js-plotly-plot")
    expect(name).to_have_attribute("aria-label", re.compile("Executions of Add-op1 by step, marked by input shape"))

    page.locator(".ms-shapes-types button", has_text="Mul").press("Enter")
    expect(page.locator(f"{STEPS} .scatterlayer .trace")).to_have_count(1)
    page.locator(".ms-shapes-operators button", has_text="Mul-op1").click()
    expect(page.locator(f"{OPERATOR} .scatterlayer .trace")).to_have_count(1)
    page.locator(".ms-shapes-operators button", has_text="Add-op1").click()
    page.locator(".ms-shapes-shapes button", has_text="4,3").click()
    expect(page.locator(".ms-shapes-shapes [aria-pressed=true]")).to_contain_text("4,3")
    page.locator(f"{OPERATOR} .ms-card-title").hover()
    page.locator(".ms-shapes-bar [data-value=log]").click()
    expect(page).to_have_url(re.compile("scale=log"))
    state = query(page)
    assert (state["type"], state["op"], state["shape"]) == (["Add"], ["Add-op1"], ["4,3"])

    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".ms-shapes-shapes [aria-pressed=true]")).to_contain_text("4,3")
    expect(page.locator(f"{STEPS} .scatterlayer .trace")).to_have_count(1)
    address = page.locator("[data-csv=shapes]").get_attribute("href")
    with urlopen(shaped + str(address)) as answer:
        rows = {row["input_shapes"].lstrip("'"): row for row in csv.DictReader(io.StringIO(answer.read().decode()))}
    assert {shape: float(row["total_ns"]) for shape, row in rows.items()} == {"2,3": 9e5, "4,3": 5e5, "8,3": 7e5}
    assert rows["4,3"]["count"] == "2"
    page.locator(f"{OPERATOR} .ms-card-title").hover()
    with page.expect_download() as saved:
        page.locator(f"{OPERATOR} [data-act=png]").click()
    assert saved.value.suggested_filename.startswith("a_0_Dynamic_shapes_")
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_kernels_keys_language_and_theme(page: Page, shaped: str) -> None:
    show(page, f"{shaped}/shapes?run=a")
    expect(page.locator(f"{OPERATOR} .scatterlayer .trace")).to_have_count(3)
    page.locator(".ms-shapes-bar [data-value=kernel]").click()
    expect(page.locator(".ms-shapes-shapes tbody tr")).to_have_count(2)
    expect(page.locator(".ms-shapes-shapes tbody tr").first).to_contain_text("256,1,1 x ")
    page.locator(f"{STEPS} .ms-card-title").hover()
    page.keyboard.press("f")
    expect(page.locator("[data-plot=steps]")).to_have_class(re.compile("ms-full"))
    page.keyboard.press("Escape")
    expect(page.locator("[data-plot=steps]")).not_to_have_class(re.compile("ms-full"))
    page.get_by_role("button", name="中文").click()
    expect(page.locator(".ms-shapes-sentence .zh")).to_contain_text("1 个 kernel 中有 1 个的 block 或 grid 随 step 变化")
    expect(page.locator(f"{STEPS} .xtitle")).to_have_text("步骤")
    page.locator("[data-action=theme]").click()
    expect(page.locator(f"{STEPS} .ytitle")).to_contain_text("总耗时")


@pytest.mark.long
def test_a_damaged_file_is_said(page: Page, tmp_path: Path, serve) -> None:
    profiler = tmp_path / "runs/a/profiler"
    profiler.mkdir(parents=True)
    shapes = ["{input_0: {shape: 2,3}}", "{input_0: {shape: 4,3}}"]
    told = {"MatMul": [{"MatMul-op1": {"op_exe_time": [0.5, 2], "op_shape": shapes}}], "Cast": [7], "op_type": {}}
    (profiler / "dynamic_shape_info_0.json").write_text(json.dumps(told))
    types = "kernel_type,total_time,execution_frequency,percent\nMatMul,1.5,3,75\n"
    (profiler / "aicore_intermediate_0_type.csv").write_text(types)
    store = Store([tmp_path / "runs"], interval=0).start()
    assert store.wait(30)
    show(page, f"{serve(create_app(store).server)}/shapes?run=a")
    expect(page.locator(f"{OPERATOR} .scatterlayer .trace")).to_have_count(2)
    page.locator(".ms-body-damage summary").click()
    expect(page.locator(".ms-body-damage")).to_contain_text("Cast[0]: expected an object of operators, found int.")
