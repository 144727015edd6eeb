"""Callbacks of pages whose modules are not imported yet: the table is what they register, once, by any thread."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.web import callbacks
from app.web.server import create_app
from layouts import PAGES
from tests.app.web.callback_table import table
from tests.sources import MemorySource

ROOT = Path(__file__).resolve().parents[3]
FIRST_USE = """
import json, sys
from app import create_app
from tests.sources import MemorySource

app = create_app(MemorySource({}))
client = app.server.test_client()
count = len(client.get("/_dash-dependencies").json)
before = "layouts.jobs.ranks.page" in sys.modules
body = {
    "output": "ms-ranks-problems.data", "outputs": {"id": "ms-ranks-problems", "property": "data"},
    "inputs": [{"id": "ms-ranks-health-asked", "property": "data", "value": None}],
    "changedPropIds": ["ms-ranks-health-asked.data"], "state": [],
}
status = client.post("/_dash-update-component", json=body).status_code
others = [name for name in sys.modules if name.startswith("layouts.") and name.endswith(".page")]
print(json.dumps([count, before, status, others, len(client.get("/_dash-dependencies").json)]))
"""


def test_the_table_is_what_the_pages_register() -> None:
    assert Path(callbacks.TABLE).read_text(encoding="utf-8") == table(), "run 'make types'"


def test_the_module_of_a_page_is_imported_by_its_first_callback() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_USE], cwd=ROOT, capture_output=True, text=True, check=True)
    count, before, status, modules, again = json.loads(done.stdout)
    assert (before, status, modules) == (False, 200, ["layouts.kit.page", "layouts.jobs.ranks.page"])
    assert count == again > 10 * len(PAGES)


def test_many_threads_register_a_page_once() -> None:
    app = create_app(MemorySource({}))
    before, failed = len(app._callback_list), []

    def ask() -> None:
        try:
            assert app.callbacks["ms-scalars-problems.data"]["callback"]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(app._callback_list) - before == len(json.loads(table())["scalars"])


def test_a_page_that_differs_from_the_table_is_told() -> None:
    app = create_app(MemorySource({}))
    app.callbacks._tables["scalars"] = app.callbacks._tables["scalars"][1:]
    with pytest.raises(RuntimeError, match=r"page scalars: other callbacks than in .*make types"):
        app.callbacks["ms-scalars-problems.data"]


def test_an_unknown_output_is_no_callback() -> None:
    app = create_app(MemorySource({}))
    assert app.callbacks.get("ms-scalars-nothing.data") is None
    assert len(app.callbacks) == len(list(app.callbacks)) == len(app.callback_map)
