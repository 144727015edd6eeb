"""The data lineage page, used as a person would."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lineage.test_model_lineage import COUNT, axis, state
from tests.browser.showing import show


@pytest.mark.long
def test_pipelines_are_compared_and_a_cell_opens_its_operation(page: Page, real: str) -> None:
    show(page, real + "/data_lineage")
    expect(page.locator(COUNT)).to_have_text("14 of 14 runs, 21 of 21 ranks")
    expect(axis(page, "batch_size")).to_have_count(1)
    page.locator('[data-act="together"]').click()
    expect(page.locator(".ms-lineage-grid .ag-pinned-left-cols-container .ag-row")).to_have_count(5)
    expect(page.locator(COUNT)).to_have_text("14 of 14 runs, 21 of 21 ranks")
    boxes = page.locator(".ms-lineage-grid .ag-row .ag-checkbox-input")
    boxes.nth(2).check()
    boxes.nth(3).check()
    compare = page.locator(".ms-lineage-rows a[data-page=dataset]")
    expect(compare).to_be_visible()
    page.locator(".ms-lineage-grid .ag-cell[col-id='=MnistDataset']").first.click()
    pane = page.locator(".ms-lineage-detail")
    expect(pane).to_contain_text("RandomSampler")
    assert state(page, "node")
    page.reload()
    expect(pane).to_contain_text("RandomSampler")
    expect(page.locator(".ms-lineage-grid .ag-pinned-left-cols-container .ag-row")).to_have_count(5)
    pane.locator('[data-act="unnode"]').click()
    expect(pane).to_be_hidden()
    boxes.nth(2).check()
    boxes.nth(3).check()
    compare.click()
    expect(page.locator(".ms-dataset-comparison")).to_contain_text("batch_size")
