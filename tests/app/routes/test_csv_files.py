"""Names of tables as files: whose they are, and which page has them."""

from __future__ import annotations

from app.routes.csv_files import table_name


def test_a_table_is_named_after_run_page_and_table() -> None:
    assert table_name("sweep/lr 0.1", "shapes", "types") == "sweep_lr_0.1-shapes-types"
    assert table_name("job", "ranks", "ranks") == table_name("job", "ranks") == "job-ranks"
    assert table_name("", "confusion", "labels") == "run-confusion-labels"
