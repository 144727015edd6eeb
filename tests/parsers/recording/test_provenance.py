"""What is recorded of a program: no secret of its command line, and the commit that ran."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from parsers import open_run
from parsers.recording import Recorder
from parsers.recording.masking import masked
from parsers.recording.provenance import facts, git_commit


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--lr", "0.1", "--api-key", "abc"], ["--lr", "0.1", "--api-key", "***"]),
        (["--token=abc", "--tokenizer", "bert"], ["--token=***", "--tokenizer", "bert"]),
        (["--db_password=x", "PASSWORD=y", "-p", "z"], ["--db_password=***", "PASSWORD=***", "-p", "z"]),
        (["--secret", "--verbose"], ["--secret", "--verbose"]),
        (["--url=https://me:pw@host/x", "s3://key@bucket"], ["--url=https://***@host/x", "s3://***@bucket"]),
        (["+token=x", "--accessToken=x", "--APIKey", "x"], ["+token=***", "--accessToken=***", "--APIKey", "***"]),
        (["https://host/a?token=x&b=1", "--url=https://host?api_key=x"], ["https://host/a?token=***&b=1", "--url=https://host?api_key=***"]),
        (["--key", "-abc", "-v"], ["--key", "***", "-v"]),
        (["--keys", "a", "--monkey", "b", "--key-dim", "64"], ["--keys", "***", "--monkey", "b", "--key-dim", "***"]),
    ],
)
def test_values_that_look_like_secrets_are_masked(arguments: list[str], wanted: list[str]) -> None:
    assert masked(arguments) == wanted


def test_the_commit_says_whether_files_changed(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)

    assert git_commit(str(tmp_path)) == ""
    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "One")
    clean = git_commit(str(tmp_path))
    assert len(clean) == 40
    (tmp_path / "file").write_text("two")
    assert git_commit(str(tmp_path)) == f"{clean}, with uncommitted changes"


def test_environment_variables_are_recorded_only_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANTED", "here")
    monkeypatch.setenv("OTHER_SETTING", "hidden-value")
    found = facts(["WANTED", "MISSING"])
    assert found["environment"] == "WANTED=here"
    assert "hidden-value" not in "".join(found.values())
    assert "numpy==" in found["packages"]
    with Recorder(str(tmp_path), system=True) as run:
        run.log(1, {"loss": 0.5})
    assert {"run/command", "run/host", "run/packages", "run/python"} <= set(open_run(tmp_path).texts["tag"])
