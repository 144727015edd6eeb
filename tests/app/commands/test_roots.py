"""Several directories of runs: names before their runs, and what cannot be meant is refused in one line."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from app.commands.roots import Root, paths_of, roots_of
from app.commands.settings import SettingError, resolve
from app.store.store import Store
from tests.recorded import RECORDED


def test_a_directory_is_one_whatever_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lab", "lr=0.1", "a=b"):
        (tmp_path / name).mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path)
    assert roots_of(["lr=0.1"]) == (Root(str(tmp_path / "lr=0.1")),)
    assert roots_of(["a=b"]) == (Root(str(tmp_path / "a=b")),)
    assert roots_of(["mine=lr=0.1"]) == (Root(str(tmp_path / "lr=0.1"), "mine"),)
    assert roots_of(["x=lab", "y=b"]) == (Root(str(tmp_path / "lab"), "x"), Root(str(tmp_path / "b"), "y"))
    assert roots_of(["lab", "lab"]) == (Root(str(tmp_path / "lab")),)
    assert [root.text for root in roots_of(["x=lab", "b"])] == [f"x={tmp_path}/lab", f"{tmp_path}/b"]
    assert paths_of(roots_of(["lab", "b"])) == f"{tmp_path}/lab{os.pathsep}{tmp_path}/b"


@pytest.mark.parametrize(("texts", "said"), [
    (["x=none"], "existing directory or file, found 'x=none'"),
    (["lab", "lab/inside"], "directories apart"), (["lab", "other/lab"], "different names, found 'lab' twice"),
    (["x=lab", "x=other"], "different names"), (["lab", "link"], "directories apart"),
    (["ssh://host/runs"], "mindscope mirror"), (["x=s3://bucket"], "mindscope mirror"),
    (["ssh://me:secret@host/runs"], "without a password"), (["a/b=lab"], "existing directory"),
])  # fmt: skip
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], said: str
) -> None:
    for name in ("lab/inside", "other/lab"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("lab")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingError, match=said):
        roots_of(texts)


def test_runs_begin_with_the_name(tmp_path: Path) -> None:
    for place, run in (("one", "several_files"), ("two", "several_files"), ("three", "long_history")):
        shutil.copytree(RECORDED / run, tmp_path / place / run)
    roots = roots_of([f"a={tmp_path / 'one'}", f"b={tmp_path / 'two'}", str(tmp_path / "three")])
    store = Store([root.path for root in roots], names={root.path: root.name for root in roots}, interval=0).start()
    try:
        assert store.wait(20)
        assert {row.key for row in store.runs.rows()} == {"a/several_files", "b/several_files", "three/long_history"}
        assert store.runs.tags("b/several_files")
    finally:
        store.stop()
    one = Store([tmp_path / "one"], names={str(tmp_path / "one"): "a"}, interval=0).start()
    try:
        assert one.wait(20)
        assert [row.key for row in one.runs.rows()] == ["a/several_files"]
    finally:
        one.stop()


def test_options_variables_and_files_give_several(tmp_path: Path) -> None:
    (tmp_path / "a,b").mkdir()
    given = ["a=/x", "/y"]
    assert resolve({"summary_base_dir": given}, {}).summary_base_dir == ("a=/x", "/y")
    assert resolve({}, {"MINDSCOPE_SUMMARY_BASE_DIR": "a=/x, /y"}).summary_base_dir == ("a=/x", "/y")
    assert resolve({}, {"MINDSCOPE_SUMMARY_BASE_DIR": str(tmp_path / "a,b")}).summary_base_dir == (str(tmp_path / "a,b"),)
    assert resolve({}, {}, {"summary_base_dir": given}, config_name="f").summary_base_dir == ("a=/x", "/y")
    assert resolve({}, {}, {"summary_base_dir": "/x"}, config_name="f").summary_base_dir == ("/x",)
    assert resolve({}, {}).summary_base_dir == (".",)
