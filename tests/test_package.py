"""What is shipped, and what a user's own files may do to it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import app

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


def test_the_wheel_holds_pages_assets_and_demo(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for path in (ROOT / "assets").rglob("*"):
        if path.is_file():
            assert f"app/assets/{path.relative_to(ROOT / 'assets').as_posix()}" in names
    recorded = {path for path in (ROOT / "app" / "demo").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert {path.relative_to(ROOT).as_posix() for path in recorded} <= set(names)
    assert sum(path.stat().st_size for path in recorded) <= 6_000_000
    assert wheel.stat().st_size < 12_000_000
    assert any(name == "parsers/events/records.py" for name in names)
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
    assert {f"{package}/py.typed" for package in ("app", "layouts", "parsers")} <= set(names)


def test_the_wheel_carries_licence_and_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
        licence = archive.read(next(name for name in names if name.endswith("/licenses/LICENSE"))).decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert f"\nVersion: {app.__version__}\n" in metadata
    assert "://" not in metadata.partition("\n\n")[0]
    assert "Apache License" in licence


@pytest.mark.long
def test_an_unpacked_wheel_opens_the_demo(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import app, sys; from app.web.server import create_app; from app.commands.serving import demo_directory;"
        "made = create_app(demo_directory()); assert made.source.wait(30);"
        "page = made.server.test_client().get('/', headers={'Host': 'localhost'});"
        "print(app.__file__); print(page.status_code, len(made.source.runs.rows()));"
        "print(made.server.test_client().get('/assets/kit.css', headers={'Host': 'localhost'}).status_code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    place, page, style = done.stdout.split("\n")[:3]
    assert place.startswith(str(tmp_path))
    assert (page, style) == ("200 20", "200")


@pytest.mark.long
def test_a_script_of_the_user_named_app_hides_ours_and_another_name_does_not(tmp_path: Path) -> None:
    script = "from app import mount\nprint(mount.__name__)\n"
    outcomes = {}
    for name in ("app.py", "training.py"):
        (tmp_path / name).write_text(script)
        environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
        command = [sys.executable, name]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        outcomes[name] = done
        (tmp_path / name).unlink()
    assert "cannot import name 'mount'" in outcomes["app.py"].stderr
    assert outcomes["training.py"].stdout == "mount\n"


@pytest.mark.parametrize(
    ("name", "least"), [("requirements.lock", 21), ("requirements-dev.lock", 21), ("requirements-fuzz.lock", 1)]
)
def test_the_locks_pin_with_hashes_and_name_no_address(name: str, least: int) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) >= least
    for entry in entries:
        assert re.match(r"[a-zA-Z0-9_.\-]+==[^\s;]+", entry), entry[:80]
        assert "--hash=sha256:" in entry, entry[:80]


def test_the_lock_of_the_script_checkers_names_no_address() -> None:
    text = (ROOT / "package-lock.json").read_text()
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert all("integrity" in entry for name, entry in packages.items() if name)
    wanted = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted


def test_every_dependency_is_bounded_and_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = {line.split("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line}
    for dependency in project["dependencies"]:
        name, bounds = re.fullmatch(r"([a-zA-Z0-9\-]+)(.+)", dependency).groups()  # type: ignore[union-attr]
        assert ">=" in bounds, dependency
        assert "<" in bounds, dependency
        assert name in locked, dependency
