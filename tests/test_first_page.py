"""What the server imports until it has answered a first page: imports are most of what a start takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.recorded import RECORDED

ROOT = Path(__file__).resolve().parents[1]
VISIT = """
import sys
from app import create_app
from app.store.store import Store
from layouts.curves.scalars.page import draw

store = Store([sys.argv[1]], interval=0).start()
assert store.wait(60)
client = create_app(store).server.test_client()
for path in ("/", "/api/runs.json", "/api/pages/runs.json", "/scalars", "/api/pages/scalars.json"):
    assert client.get(path).status_code == 200, path
assert draw(store, {"tag": ["loss"], "columns": ["600"], "smooth": ["0.6"]})["data"]
installed = ((name, getattr(module, "__file__", "") or "") for name, module in sys.modules.items())
print(*{name.partition(".")[0] for name, file in installed if "site-packages" in file})
"""
START = """
import sys
from app import create_app
from app.commands.roots import roots_of
from app.commands.serving import open_store
from app.commands.settings import resolve

settings = resolve({"summary_base_dir": [sys.argv[1]], "reload_interval": "0"}, {})
with open_store(settings, roots_of(settings.summary_base_dir), "") as store:
    assert store.wait(60)
    client = create_app(store).server.test_client()
    for path in ("/", "/api/runs.json"):
        assert client.get(path).status_code == 200, path
print(*(name for name in sys.modules if name.partition(".")[0] in ("app", "layouts", "parsers")))
"""
MOST_OF_OURS = 206
"""Modules of ours until the first page is answered; there are more than a thousand."""
NOT_AT_THE_START = (
    "parsers.analysis.jobs", "parsers.analysis.graphs", "parsers.analysis.profiles", "parsers.analysis.explanations",
    "parsers.profiler.registry", "parsers.profiler.trace", "parsers.dumps.values", "parsers.explanations",
    "parsers.graphs.formats", "parsers.tuning", "layouts.kit.figures", "layouts.kit.cards", "app.live", "app.engines",
    *(f"app.store.{subject}" for subject in ("curves", "dumps", "explanations", "lineage", "profiles", "values")),
)  # fmt: skip
ALLOWED = {
    "numpy", "msgspec", "orjson", "google_crc32c", "diskcache",  # reading and keeping
    "dash", "dash_ag_grid", "dash_cytoscape", "flask", "flask_compress", "brotli", "_brotli", "backports",  # serving
    # what Dash and Flask import
    "plotly", "_plotly_utils", "narwhals", "pydantic", "pydantic_core", "annotated_types", "typing_inspection",
    "typing_extensions", "werkzeug", "jinja2", "markupsafe", "click", "blinker", "itsdangerous", "importlib_metadata", "zipp",
    "janus", "lazy_importer", "PIL",
    "_distutils_hack", "a1_coverage", "coverage",  # of the environment and of measuring coverage
}  # fmt: skip


def test_a_first_page_imports_what_it_needs_and_no_more(tmp_path: Path) -> None:
    """pandas, pyarrow, scikit-learn, PyYAML and others are imported when a page or a file needs them."""
    configured = shutil.ignore_patterns("*.yaml", "*.yml")
    shutil.copytree(RECORDED / "long_history", tmp_path / "long_history", ignore=configured)
    command = [sys.executable, "-c", VISIT, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - ALLOWED == set()
    assert "numpy" in done.stdout.split()


def test_a_start_imports_no_page_and_no_subject_of_others(tmp_path: Path) -> None:
    """A page, its routes, and what reads and computes for them are imported when somebody uses them."""
    shutil.copytree(RECORDED / "long_history", tmp_path / "long_history", ignore=shutil.ignore_patterns("*.yaml", "*.yml"))
    command = [sys.executable, "-c", START, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    ours = done.stdout.split()
    assert [name for name in ours if name.endswith(".page")] == ["layouts.kit.page"]
    assert [name for name in ours if f"{name}.".startswith(tuple(f"{one}." for one in NOT_AT_THE_START))] == []
    assert len(ours) <= MOST_OF_OURS
