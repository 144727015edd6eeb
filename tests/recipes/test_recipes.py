"""The recipes of CONTRIBUTING, followed on a copy of the project: what they say is all that there is to do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COPIED = ("app", "assets", "layouts", "parsers", "tests", "pyproject.toml")


@dataclass(frozen=True, slots=True)
class Recipe:
    """name: the heading in CONTRIBUTING. files: example -> where it goes. lines: (file, pattern in it, what replaces
    it). tests: what pytest is given, which must collect at least `least` tests.
    """

    name: str
    files: dict[str, str]
    lines: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]
    least: int


RECIPES = (
    Recipe(
        "Add a format",
        {"format/curves_csv.py": "parsers/tables/curves_csv.py", "format/curves.csv": "tests/data/written/curves/curves.csv"},
        (
            ("parsers/registry.py", r"\n(?=from parsers\.model )", "\nfrom parsers.tables.curves_csv import CURVES_CSV\n"),
            ("parsers/registry.py", r"(?<=\n    GRAPHS,\n)", "    CURVES_CSV,\n"),
        ),
        ("tests/contract", "-k", "curves_csv"),
        9,
    ),
    Recipe(
        "Add a page",
        {"page/page.py": "layouts/runs/sizes/page.py"},
        (
            ("layouts/__init__.py", r'(?=\n    _page\("values.text")',
             '\n    _page("runs.sizes", ("Sizes", "占用空间"), group="training"),'),
            ("layouts/runs/state_keys.py", r'(?=\n        "overview": )', '\n        "sizes": "by",'),
        ),
        ("tests/layouts/test_pages.py", "tests/layouts/shell", "tests/layouts/kit/test_i18n.py",
         "tests/layouts/runs/test_state_keys.py", "-k",
         "(sizes or folder or book or languages or twice) and not browser_test"),
        8,
    ),
    Recipe(
        "Add a frame of a profile",
        {"frame/cache_hits.py": "parsers/profiler/cache_hits.py",
         "frame/l2_cache.csv": "tests/data/torch_npu/7.1/l2_cache.csv"},
        (
            ("parsers/profiler/registry.py", r"(?<=\n    ascend_output,\n)", "    cache_hits,\n"),
            ("parsers/profiler/registry.py", r"(?<=\n    flops\.SCOPES,\n)", "    cache_hits.L2_CACHE,\n"),
        ),
        ("tests/contract", "-k", "cache_hits or schemas or kind"),
        5,
    ),
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "recipes", "browser"))
        else:
            shutil.copyfile(ROOT / name, tmp_path / name)
    return tmp_path


def follow(recipe: Recipe, project: Path) -> None:
    for example, place in recipe.files.items():
        (project / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / example, project / place)
    for name, pattern, new in recipe.lines:
        text, count = re.subn(pattern, new, (project / name).read_text(encoding="utf-8"))
        assert count == 1, f"{recipe.name}: {pattern!r} occurs {count} times in {name}; correct this test"
        (project / name).write_text(text, encoding="utf-8")


def run(project: Path, *command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_a_recipe_is_all_there_is_to_do(recipe: Recipe, project: Path) -> None:
    follow(recipe, project)
    printed = run(project, "pytest", "-q", "-p", "no:cacheprovider", "-rN", *recipe.tests)
    passed = sum(line.count(".") for line in printed.splitlines() if re.fullmatch(r"[.s]+ +\[ *\d+%\]", line))
    assert passed >= recipe.least, printed
    run(project, "ruff", "check", "--no-cache", *(place for place in recipe.files.values() if place.endswith(".py")))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)
def test_contributing_says_the_same(recipe: Recipe) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    chapter = text.partition(f"## {recipe.name}\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. ", chapter, re.MULTILINE)
    assert 3 <= len(steps) <= 10
    own = {"sizes": "<name>", "curves_csv": "<name>", "cache_hits": "<frame>"}
    assert re.sub("|".join(own), lambda found: own[found[0]], recipe.tests[-1]) in chapter
    for name in {name for name, _, _ in recipe.lines} | {f"tests/recipes/{example}" for example in recipe.files}:
        assert name in chapter, name
