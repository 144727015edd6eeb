"""Nothing that a training hands over raises into it, and no error but that of the run's own files ends recording."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from parsers import open_run
from parsers.recording import Recorder, RecordingError, RecordingWarning
from parsers.recording.adapters.torch import SummaryWriter


class Unspeakable:
    def __str__(self) -> str:
        raise LookupError("no text")


def warned(work: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        work()
    assert {one.category for one in told} <= {RecordingWarning}
    return [str(one.message) for one in told]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda run: run.log(0, {"a": 1.0}, wall_time="x"), "wall_time"),
        (lambda run: run.log(0, None), "expected values by tag, found NoneType"),
        (lambda run: run.log(0, [1.0]), "expected values by tag, found list"),
        (lambda run: run.log("one", {"a": 1.0}), "step"),
        (lambda run: run.log(0, {Unspeakable(): 1}), "no text"),
        (lambda run: run.text(Unspeakable()), "no text"),
        (lambda run: run.settings({"a": Unspeakable()}), "no text"),
        (lambda run: run.pipeline("graph"), "not recorded"),
        (lambda run: run.explain(None), "explain"),
        (lambda run: run.explain(["cat"]).heat_map(0, "GradCAM", 5, [[0.0]]), "expected 0 to 0, found 5"),
    ],
)
def test_what_cannot_be_recorded_costs_one_warning_and_nothing_else(
    tmp_path: Path, call: Callable[[Any], object], said: str
) -> None:
    with Recorder(str(tmp_path)) as run:
        told = warned(lambda: call(run))
        assert len(told) == 1
        assert said in told[0]
        run.log(7, {"after": 0.5})
    assert list(open_run(tmp_path).scalars["step"]) == [7]


def test_a_call_that_fails_again_is_silent(tmp_path: Path) -> None:
    with Recorder(str(tmp_path)) as run:
        assert len(warned(lambda: [run.log(step, None) for step in range(5)])) == 1  # type: ignore[arg-type]


def test_explanations_into_a_directory_that_cannot_be_written_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def explain() -> None:
        run = Recorder(str(tmp_path / "file" / "run"))
        writer = run.explain(["cat"])
        writer.sample(0, [[0.0]], probabilities={0: 1.0})
        run.close()

    assert len(warned(explain)) == 1


def test_a_working_directory_that_was_removed_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    def record() -> None:
        with Recorder(str(tmp_path / "run"), system=True) as run:
            run.log(1, {"loss": 0.5})

    assert warned(record) == []
    monkeypatch.chdir(tmp_path)
    read = open_run(tmp_path / "run")
    assert list(read.scalars["step"]) == [1]
    assert "run/host" in set(read.texts["tag"])


@pytest.mark.parametrize(
    "fails",
    [
        lambda writer, root: writer.add_onnx_graph(str(root / "missing.onnx")),
        lambda writer, root: writer.add_figure("figure", Figure(), 0),
        lambda writer, root: writer.recorder.attempt("profile", os.stat, root / "missing"),
    ],
)
def test_other_files_that_fail_do_not_end_recording(tmp_path: Path, fails: Callable[[SummaryWriter, Path], object]) -> None:
    with SummaryWriter(str(tmp_path / "run")) as writer:
        assert len(warned(lambda: fails(writer, tmp_path))) == 1
        writer.add_scalar("loss", 0.5, 3)
    assert list(open_run(tmp_path / "run").scalars["step"]) == [3]


class Figure:
    def savefig(self, file: object, **options: object) -> None:
        raise OSError("no font")


def test_a_negative_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="largest: expected 0 or more bytes, found -1"):
        Recorder(str(tmp_path), largest=-1)


def test_settings_that_look_like_secrets_are_masked(tmp_path: Path) -> None:
    given = {
        "api_key": "hidden1", "db": {"password": 4711, "host": "here"}, "accessToken": "hidden2", "url": "s3://a?token=hidden3&b=1",
        "argv": ["--key", "-hidden4"], "parts": [{"secret": "hidden5"}], "auth": {"user": "hidden6"}, "max_tokens": 512,
        "key_size": 64, "tokenizer": "bert", "include_tokens": "no",
    }  # fmt: skip
    with Recorder(str(tmp_path), settings=given) as run:
        run.log(1, {"loss": 0.5})
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"hidden" not in content
    assert b"4711" not in content
    found = open_run(tmp_path).settings
    assert {found[f"user_defined/{name}"] for name in ("api_key", "accessToken", "auth", "db/password")} == {"***"}
    wanted = {"db/host": "here", "url": "s3://a?token=***&b=1", "max_tokens": 512, "key_size": 64, "tokenizer": "bert"}
    assert {name: found[f"user_defined/{name}"] for name in wanted} == wanted
