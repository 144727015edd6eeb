"""The distribution mindscope-record: its wheel is small, needs nothing of Mindscope, and is valid Python 3.9."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "parsers" / "recording"
ALLOWED = {"numpy", "google_crc32c"}
LARGEST = 200 << 10
SCRIPT = """
import sys
from mindscope_record import Recorder
with Recorder(sys.argv[1], settings={"lr": 0.1}) as run:
    for step in run.steps(range(3)):
        run.log(step, {"loss": 0.5})
wrong = sorted({name.partition(".")[0] for name in sys.modules} & {"parsers", "layouts", "app", "pandas", "dash", "flask"})
assert not wrong, wrong
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network by the build backend."""
    out = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(out)], cwd=ROOT / "record", check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    wanted = {f"mindscope_record/{path.relative_to(FOLDER)}" for path in FOLDER.rglob("*.py")}
    assert wanted <= names
    assert "mindscope_record/py.typed" in names


def test_it_records_where_mindscope_is_not_installed(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path / "site")
    run = tmp_path / "run"
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(run)], cwd=tmp_path / "site", check=True, env={"PYTHONPATH": str(tmp_path / "site")}
    )
    assert len(list(run.iterdir())) == 2


def test_its_version_is_that_of_mindscope() -> None:
    versions = {tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"]["version"] for name in ("", "record")}
    assert len(versions) == 1


FRAMEWORKS = {"huggingface": "transformers"}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_module_is_python_3_9_and_imports_only_what_is_allowed(path: Path) -> None:
    """Frameworks may be imported within functions of their adapters, where they are in use anyway."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 9))
    assert not tree.body[1:] or "from __future__ import annotations" in text, "annotations would be evaluated"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found = [str(node.module)]
        else:
            continue
        outside = {name.partition(".")[0] for name in found} - sys.stdlib_module_names - ALLOWED
        framework = {FRAMEWORKS.get(path.stem, path.stem)} if path.parent.name == "adapters" else set()
        assert outside <= framework
