"""The commands export and parse_summary: options, exit codes, progress."""

from __future__ import annotations

import errno
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.commands import terminal as terminals
from app.commands.cli import main
from app.commands.terminal import ProgressBar
from parsers.events.messages import message_class
from parsers.recording import EventWriter, Histogram, Image, Tensor, Value
from parsers.recording.wire import record
from parsers.runs import Run
from tests.amounts import long_after
from tests.recorded import RECORDED

ROOT = Path(__file__).parents[3]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(4) + b"IHDR" + (1).to_bytes(4, "big") * 2 + bytes(9)
VALUES: dict[str, Value] = {"loss": 0.5, "w": Tensor(np.float32(1)), "h": Histogram([1.0]), "i": Image(PNG, 1, 1)}


def write_run(folder: Path, *steps: dict[str, Value]) -> Path:
    folder.mkdir(parents=True)
    with EventWriter(str(folder / "e.summary.1700000000.h_MS"), "mindspore") as writer:
        for step, values in enumerate(steps):
            writer.add(step, values, wall_time=1.7e9 + step)
    return folder


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two runs of two steps with a value of each kind."""
    for name in ("first", "second"):
        write_run(tmp_path / "runs" / name, VALUES, VALUES)
    return tmp_path / "runs"


def files(out: Path) -> list[str]:
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def test_all_kinds(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(base), "--out", str(tmp_path / "out")]) == 0
    images = [f"images/{run}/i_{step}.png" for run in ("first", "second") for step in (0, 1)]
    tensors = [f"tensors/{run}/w_{step}.npy" for run in ("first", "second") for step in (0, 1)]
    assert files(tmp_path / "out") == ["histograms.csv", *images, "index.csv", "scalars.csv", *tensors]
    output = capsys.readouterr()
    said = f"16 values written to {tmp_path / 'out'} (4 scalars, 4 histograms, 4 images, 4 tensors)\n"
    assert (output.out, output.err) == (said, "")


def test_choices(base: Path, tmp_path: Path) -> None:
    options = ["--kinds", "tensors,scalars", "--tags", "^(w|i)$", "--runs", "sec", "--steps", "1:"]
    assert main(["export", str(base), "--out", str(tmp_path / "out"), *options]) == 0
    assert files(tmp_path / "out") == ["index.csv", "scalars.csv", "tensors/second/w_1.npy"]
    assert pd.read_csv(tmp_path / "out" / "scalars.csv").empty


@pytest.mark.parametrize(("steps", "kept"), [("1:", [1]), (":0", [0]), ("0:1", [0, 1]), ("1", [1]), (":", [0, 1]), ("7:9", [])])
def test_steps(base: Path, tmp_path: Path, steps: str, kept: list[int]) -> None:
    assert main(["export", str(base / "first"), "--out", str(tmp_path / "x.csv"), "--steps", steps]) == 0
    assert pd.read_csv(tmp_path / "x.csv")["step"].tolist() == kept


def test_ranks_are_chosen_one_by_one(tmp_path: Path) -> None:
    assert main(["export", str(RECORDED), "--out", str(tmp_path / "x.csv"), "--runs", "rank_3$"]) == 0
    assert set(pd.read_csv(tmp_path / "x.csv")["run"]) == {"ranks/rank_3"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kinds", "scalars,graphs"], "--kinds: expected names from scalars,histograms,images,tensors,landscapes,texts,lineage,traces, found 'graphs'"),  # noqa: E501
        (["--kinds", ""], "--kinds: expected names from"),
        (["--steps", "a:b"], "--steps: expected A:B, A:, :B or one step, found 'a:b'"),
        (["--steps", "7:3"], "--steps: expected A:B with A <= B, found '7:3'"),
        (["--steps", ""], "--steps: expected A:B, A:, :B or one step, found ''"),
        (["--kinds", "scalars,"], "found ''"),
        (["--tags", "nosuch"], "--tags: expected a pattern that matches one of 4 tags, found 'nosuch'"),
        (["--out", ""], "--out: expected a path, found ''"),
        (["--tags", "("], "--tags: expected a regular expression"),
        (["--tags", "x" * 2000], "--tags: expected a pattern of at most 1000 characters"),
        (["--runs", "["], "--runs: expected a regular expression"),
        (["--runs", "third"], "--runs: expected a pattern that matches one of 2 runs, found 'third'"),
        (["--out", "x.json"], "--out: expected a directory or a name ending in .csv, found 'x.json'; for this file add --format json"),  # noqa: E501
        (["--out", "x.csv", "--kinds", "images"], "--out: expected a directory for images, found the file 'x.csv'"),
    ],
)
def test_mistakes(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str) -> None:
    given = ["export", str(base), *([] if "--out" in options else ["--out", str(tmp_path / "out")]), *options]
    assert main(given) == 2
    output = capsys.readouterr()
    assert said in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""
    assert files(tmp_path / "out") == []


def test_a_directory_without_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["export", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 1
    assert "empty: expected runs in this directory or below it, found none" in capsys.readouterr().err
    assert files(tmp_path / "out") == []


@pytest.mark.long
def test_an_expression_that_takes_for_ever_is_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "run", {"a" * 60 + "!": 1.0})
    begin = time.monotonic()
    assert main(["export", str(tmp_path / "run"), "--out", str(tmp_path / "out"), "--tags", "(a+)+$"]) == 2
    assert time.monotonic() - begin < 60
    assert "took longer than 1 s and was stopped" in capsys.readouterr().err
    assert files(tmp_path / "out") == []


@pytest.mark.parametrize("place", ["", "x", "first", "first/x"])
def test_nothing_is_written_below_the_runs(base: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(base)
    assert main(["export", str(base), "--out", str(base / place)]) == 2
    assert main(["parse_summary", "--summary-dir", str(base / "first"), "--output", str(base / "first" / place)]) == 2
    assert capsys.readouterr().err.count("expected a path outside the runs") == 2
    assert files(base) == before


def test_runs_in_a_directory_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_run(tmp_path / "images" / "run", VALUES)
    for runs in (folder, tmp_path / "images"):
        assert main(["export", str(runs), "--out", str(tmp_path)]) == 2
        assert "expected a path outside the runs" in capsys.readouterr().err
    assert main(["export", str(folder), "--out", str(tmp_path), "--kinds", "scalars,tensors"]) == 0


def test_runs_that_are_linked_to(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = write_run(tmp_path / "elsewhere", VALUES)
    (base / "link").symlink_to(elsewhere)
    assert main(["export", str(base), "--out", str(elsewhere / "x")]) == 2
    assert "expected a path outside the runs" in capsys.readouterr().err
    assert files(elsewhere) == ["e.summary.1700000000.h_MS"]


def test_what_cannot_be_decoded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", VALUES, {"i": Image(b"<svg/>", 1, 1), "loss": 1.0}, VALUES)
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 3
    error = capsys.readouterr().err
    assert error.startswith(f"{run / 'e.summary.1700000000.h_MS'}: record at byte ")
    assert "expected a PNG, JPEG, GIF or WebP image" in error
    assert error.endswith("mindscope: could not be read, see above: 1\n")
    assert [name for name in files(tmp_path / "out") if "image" in name] == ["images/run/i_0.png", "images/run/i_2.png"]
    assert len(pd.read_csv(tmp_path / "out" / "scalars.csv")) == 3


def test_damage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_run(tmp_path / "run", VALUES, VALUES, VALUES)
    (file,) = run.iterdir()
    data = bytearray(file.read_bytes())
    data[-10] ^= 1
    file.write_bytes(data)
    assert main(["export", str(run), "--out", str(tmp_path / "out")]) == 3
    assert str(file) in capsys.readouterr().err
    assert pd.read_csv(tmp_path / "out" / "scalars.csv")["step"].tolist() == [0, 1]


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (OSError(errno.ENOSPC, "No space left"), 1)])
def test_an_export_that_ends_early(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: BaseException, code: int,
) -> None:  # fmt: skip
    decode = Run.value

    def interrupted(run: Run, kind: str, tag: str, place: int) -> object:
        if kind == "tensor" and place == 1:
            raise error
        return decode(run, kind, tag, place)

    monkeypatch.setattr(Run, "value", interrupted)
    assert main(["export", str(base / "first"), "--out", str(tmp_path / "out")]) == code
    assert files(tmp_path / "out") == ["images/first/i_0.png", "images/first/i_1.png", "tensors/first/w_0.npy"]
    assert ("No space left" in capsys.readouterr().err) == (code == 1)


def test_an_out_that_is_a_file(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("theirs")
    assert main(["export", str(base), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("mindscope: ")
    assert (tmp_path / "out").read_text() == "theirs"


def test_what_has_no_export_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("first", "second"):
        run = write_run(tmp_path / "runs" / name, {"loss": 1.0})
        with EventWriter(str(run / "events.out.tfevents.1700000001.h"), "tensorboard") as writer:
            writer.add_graph(b"")
    event = message_class("tensorflow.Event")(wall_time=1.7e9, step=1)
    event.summary.value.add(tag="speech").audio.encoded_audio_string = b"RIFF"
    with (run / "events.out.tfevents.1700000002.h").open("xb") as file:
        file.write(record(event.SerializeToString()))
    assert main(["export", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"2 values written to {tmp_path / 'out'} (2 scalars)",
        "Not exported, export is not supported: audio (1 run), graph (2 runs)",
    ]
    for chosen in (["--tags", "loss"], ["--kinds", "scalars"]):
        assert main(["export", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), *chosen]) == 0
        assert capsys.readouterr().out.splitlines() == said[:1]


class TestParseSummary:
    def test_all_files_of_a_run(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["parse_summary", "--summary-dir", str(RECORDED / "several_files"), "--output", str(tmp_path)]) == 0
        (out,) = tmp_path.iterdir()
        assert pd.to_datetime(out.name, format="output_%Y%m%d_%H%M%S_%f") is not None
        frame = pd.read_csv(out / "scalar.csv")
        assert list(frame.columns) == ["tag", "step", "wall_time (unit: seconds)", "value"]
        assert capsys.readouterr().out == f"{len(frame)} values written to {out} ({len(frame)} scalars)\n"

    def test_no_run_and_several(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "empty").mkdir()
        for folder in (RECORDED, RECORDED / "ranks", tmp_path / "empty"):
            assert main(["parse_summary", "--summary-dir", str(folder), "--output", str(tmp_path / "out")]) == 1
            assert re.search("wanted|expected", capsys.readouterr().err)
        assert not (tmp_path / "out").exists()

    def test_images_that_cannot_be_decoded(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run = write_run(tmp_path / "run", VALUES, {"i": Image(b"<svg/>", 1, 1)})
        assert main(["parse_summary", "--summary-dir", str(run), "--output", str(tmp_path / "out")]) == 3
        (out,) = (tmp_path / "out").iterdir()
        assert files(out) == ["image/i_0.png", "scalar.csv"]
        assert "record at byte" in capsys.readouterr().err

    def test_no_such_directory(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["parse_summary", "--summary-dir", "/no/such"]) == 2
        assert "--summary-dir: expected an existing directory, found '/no/such'" in capsys.readouterr().err


class TestProgress:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    @pytest.fixture
    def terminal(self, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
        monkeypatch.setattr(terminals, "INTERVAL", 0.0)
        monkeypatch.setenv("COLUMNS", "80")
        return self.Terminal()

    def test_a_bar_that_leaves_nothing_behind(self, terminal: io.StringIO) -> None:
        with ProgressBar(terminal) as bar:
            bar.show(0.5, "run")
            bar.say("a line")
            bar.show(2.0, "层" * 100)
        bars = [part for part in re.split("[\r\n]", terminal.getvalue()) if part.startswith("[")]
        assert bars[0] == f"[{'#' * 15}{'.' * 15}]  50% run"
        assert bars[1].startswith(f"[{'#' * 30}] 100% ")
        assert 78 <= len(bars[1]) + bars[1].count("层") <= 79
        assert "\ra line\n" in terminal.getvalue()
        assert terminal.getvalue().endswith(" \r")

    def test_nothing_where_there_is_no_terminal(self) -> None:
        stream = io.StringIO()
        with ProgressBar(stream) as bar:
            bar.show(0.5, "run")
        assert stream.getvalue() == ""

    @pytest.mark.long
    def test_in_a_real_terminal(self, tmp_path: Path) -> None:
        pty = pytest.importorskip("pty")
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "app", "export", str(RECORDED), "--out", str(tmp_path / "out")]
        with (
            os.fdopen(ours, "rb", buffering=0) as screen, (tmp_path / "stdout").open("wb") as stdout,
            subprocess.Popen(command, stdout=stdout, stderr=theirs, cwd=ROOT) as running,
        ):  # fmt: skip
            os.close(theirs)
            shown = b""
            # A terminal gives at most 4 KiB at once; at its end Linux raises, others return nothing.
            try:
                while piece := screen.read(65536):
                    shown += piece
            except OSError as end:
                if end.errno != errno.EIO:
                    raise
            assert running.wait(60) == 0
        assert b"%" in shown
        assert shown.endswith(b" \r")
        assert b"\r" not in (tmp_path / "stdout").read_bytes()


def test_capital_suffixes(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(base), "--out", str(tmp_path / "x.CSV")]) == 0
    assert len(pd.read_csv(tmp_path / "x.CSV")) == 4
    assert main(["export", str(base), "--out", str(tmp_path / "x.JSON")]) == 2
    assert "add --format json" in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["runs", "x.CSV"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="no /dev/stdout")
@pytest.mark.parametrize("sent_to", long_after(1, ["pipe", "file"]))
def test_standard_output(base: Path, tmp_path: Path, sent_to: str) -> None:
    command = [sys.executable, "-m", "app", "export", str(base), "--out", "/dev/stdout"]
    kept = tmp_path / "kept.csv"
    with kept.open("wb") as file:
        done = subprocess.run(
            command, stdout=file if sent_to == "file" else subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, timeout=60,
            check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr.decode()) == (0, "4 values written to /dev/stdout (4 scalars)\n")
    frame = pd.read_csv(io.BytesIO(done.stdout or kept.read_bytes()))
    assert frame["value"].tolist() == [0.5] * 4
    assert sorted(os.listdir(tmp_path)) == ["kept.csv", "runs"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(base), "--out", "/dev/full"]) == 1
    output = capsys.readouterr()
    assert output.err == "mindscope: [Errno 28] No space left on device\n"
    assert output.out == ""
