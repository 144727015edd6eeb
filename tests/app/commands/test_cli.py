"""The command line: as users run it, and, where no process matters, within this one."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.commands.cli import main
from parsers.recording.wire import record
from tests.amounts import long_after
from tests.app.commands.running import ROOT, called, free_port, run
from tests.recorded import RECORDED
from tests.waiting import until
from tests.writers import chrome_traces

pytestmark = pytest.mark.usefixtures("own_environment")
RUNS = {entry.name for entry in RECORDED.iterdir() if entry.is_dir()}


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--port", "x"], "mindscope: --port: expected a whole number from 0 to 65535, found 'x'"),
            (["start", "--reload-interval", "301"], "--reload-interval: expected a whole number of seconds from 0 to 300"),
            (["--summary-base-dir", "/no/such"], "expected an existing directory or file, found '/no/such'"),
            (["app", "--summary-base-dir", "app/demo"], "expected directories apart, found '"),
            (["--summary-base-dir", "lab=/no/such"], "expected an existing directory or file, found 'lab=/no/such'"),
            (["--logdir", "a=app", "--logdir", "a=docs"], "expected different names, found 'a' twice; name them: NAME=DIR"),
            (["list", "s3://bucket/runs"], "DIR: expected an existing directory, found 's3://bucket/runs'"),
            (["s3://me:secret@bucket/runs"], "--summary-base-dir: expected an address without a password"),
            (["mirror", "ssh://me:secret@host/runs", "x"], "URL: expected an address without a password"),
            (["mirror", "s3://bucket/runs", "x", "--most", "many"], "--most: expected a size such as 500MiB or 20GiB, found"),
            (["README.md"], "--summary-base-dir: expected a trace or an event file, found 'README.md'"),
            (["--config", "settings.py"], "--config: expected a TOML file, found 'settings.py'"),
            (["--config", "python:settings"], "Python code is never run"),
            (["--no-such-option"], "unrecognized arguments: --no-such-option"),
            (["start", "--port"], "expected one argument"),
            (["--no-such-option"], "unrecognized arguments: --no-such-option (see"),
            (["start", "--prot", "80"], "unrecognized arguments: --prot 80; did you mean --port?"),
            (["--summary-basedir=x"], "did you mean --summary-base-dir?"),
            (["nonsense"], "invalid choice: 'nonsense'"),
            (["list", "--logdir", "app"], "--logdir; did you mean 'mindscope list DIR'? (see 'mindscope list --help')"),
            (["check", "--summary-base-dir=app"], "; did you mean 'mindscope check DIR'?"),
            (["index", "--prot"], "unrecognized arguments: --prot (see 'mindscope index --help')"),
            (["chek"], "; did you mean check?"),
            (["launch", "--logdir", "/no/such"], "expected an existing directory or file, found '/no/such'"),
            (["stop", "--port", "-1"], "--port"),
            (["list", "/no/such"], "DIR: expected an existing directory, found '/no/such'"),
            (["export", "tests/data/runs"], "--out"),
            (
                ["export", "tests/data/runs", "--out", "x", "--format", "xls"],
                "--format: expected one of csv, json, parquet, found",
            ),
            (["export", "tests/data/runs", "--out", "tests/data/runs/x"], "--out: expected a path outside the runs"),
        ],
    )
    def test_one_line_and_exit_code_2(self, arguments, said, capsys, monkeypatch) -> None:
        monkeypatch.chdir(ROOT)
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = ended.code
        output = capsys.readouterr()
        assert code == 2
        assert output.err.count("\n") == 1
        assert said in output.err
        assert output.out == ""

    def test_a_workspace_below_the_runs(self, base, capsys) -> None:
        assert main(["start", "--summary-base-dir", str(base), "--workspace", str(base / "ws")]) == 2
        assert "expected a directory outside the runs" in capsys.readouterr().err
        assert os.listdir(base) == []

    def test_a_log_needs_a_place_outside_the_runs(self, tmp_path, capsys) -> None:
        assert main(["start", "--summary-base-dir", str(tmp_path), "--background"]) == 2
        said = capsys.readouterr().err
        assert f"--background: expected a directory for its log outside the runs in {str(tmp_path)!r}" in said
        assert "--workspace" in said
        assert not (tmp_path / "cache").exists()

    def test_the_demo_or_other_runs(self, base, capsys) -> None:
        assert main(["--demo", "--summary-base-dir", str(base)]) == 2
        assert capsys.readouterr().err == f"mindscope: --demo: expected no --summary-base-dir beside it, found {str(base)!r}\n"

    def test_an_address_of_no_machine_of_ours(self, base, capsys) -> None:
        assert main(["start", "--summary-base-dir", str(base), "--host", "192.0.2.1"]) == 2
        assert "--host: expected a name or address of this machine, found '192.0.2.1'" in capsys.readouterr().err

    def test_nothing_to_stop(self, capsys) -> None:
        assert main(["stop", "--port", str(free_port())]) == 1
        assert "no server of this user is running on port" in capsys.readouterr().err


class TestWithoutServer:
    def test_help_and_version_load_little(self) -> None:
        code = "import sys; from app.commands.cli import main\ntry: main([{!r}])\nexcept SystemExit: pass\nprint(*sys.modules)"
        for option in ("--help", "--version"):
            command = [sys.executable, "-c", code.format(option)]
            loaded = set(subprocess.check_output(command, text=True, cwd=ROOT).split())
            assert not loaded & {"dash", "pandas", "numpy", "flask", "plotly", "parsers", "layouts"}

    def test_version(self) -> None:
        assert run("--version").stdout.startswith("mindscope 0.")

    def test_every_command_has_help(self) -> None:
        for command in ("start", "stop", "status", "list", "check", "export"):
            assert command in called(command, "--help").stdout

    def test_list(self) -> None:
        done = run("list", RECORDED)
        assert done.returncode == 0
        assert {line.split()[0] for line in done.stdout.splitlines()[1:]} == RUNS

    def test_list_as_json(self) -> None:
        runs = json.loads(called("list", RECORDED, "--json").stdout)
        assert {entry["name"] for entry in runs} == RUNS
        assert all(entry["size_bytes"] > 0 for entry in runs)

    def test_list_of_dumps(self, capsys) -> None:
        """The files of a dump are not measured, so no size is said."""
        assert main(["list", str(ROOT / "tests" / "data" / "dumps")]) == 0
        rows = [re.split(r" {2,}", line) for line in capsys.readouterr().out.splitlines()[1:]]
        assert rows
        assert {(size, files) for _, _, size, files in rows} == {("-", "1 dump")}
        assert not any("1 ranks" in name for name, *_ in rows)

    def test_list_of_nothing(self, base) -> None:
        done = called("list", base)
        assert (done.returncode, done.stderr) == (0, f"No runs below {base}\n")
        assert json.loads(called("list", base, "--json").stdout) == []

    def test_list_tells_what_it_could_not_look_at(self, base, monkeypatch, capsys) -> None:
        real = os.scandir

        def scandir(path):
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied", path)
            return real(path)

        (base / "closed").mkdir()
        monkeypatch.setattr(os, "scandir", scandir)
        for options in ([], ["--json"]):
            assert main(["list", str(base), *options]) == 0
            said = capsys.readouterr().err.splitlines()
            assert said[0].startswith(f"{base / 'closed'}: ")
            assert said[1] == "1 problem"

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
    @pytest.mark.parametrize("options", [[], ["--json"]])
    def test_a_full_disk_under_the_output(self, options) -> None:
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "app", "list", str(RECORDED), *options]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 1
        assert done.stderr == "mindscope: the output could not be written: No space left on device\n"

    def test_names_that_are_no_utf8(self, base) -> None:
        (source,) = (RECORDED / "nan_inf").iterdir()
        odd = os.path.join(os.fsencode(base), b"r\xff")
        try:
            os.mkdir(odd)
        except OSError:
            pytest.skip("this file system has names in UTF-8 only")
        with open(os.path.join(odd, os.fsencode(source.name)), "wb") as stream:
            stream.write(source.read_bytes())
        assert run("list", base).stdout.splitlines()[1].startswith("r\\xff ")
        done = run("list", base, "--json")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)[0]["path"] == str(base / "r\\xff")

    def test_check_reads_a_file_as_what_it_is(self, base) -> None:
        """Content before name: TensorBoard events under a MindSpore name."""
        data = ROOT / "tests" / "data" / "tensorboard" / "tensorboard-2.21" / "events.out.tfevents.1795221706.vm.18095.8"
        (base / "run.summary.1795221706.x_MS").write_bytes(data.read_bytes())
        done = called("check", base)
        assert done.returncode == 0, done.stdout
        assert "no damage" in done.stdout

    def test_check_of_sound_files(self) -> None:
        done = called("check", RECORDED / "nan_inf")
        assert done.returncode == 0
        assert done.stdout.endswith("no damage\n")

    def test_check_of_a_flipped_byte(self, base) -> None:
        (source,) = (RECORDED / "nan_inf").iterdir()
        data = bytearray(source.read_bytes())
        data[len(data) // 2] ^= 1
        (base / source.name).write_bytes(data)
        done = called("check", base)
        assert done.returncode == 1
        assert str(base / source.name) in done.stdout
        assert "1 problem" in done.stdout

    @pytest.mark.parametrize("age", [0, 172_800])
    def test_check_of_a_file_cut_within_a_record(self, base, age) -> None:
        """The place and the sizes are those of the intact file."""
        (source,) = [path for path in (RECORDED / "lenet_sink_mode").iterdir() if path.name.endswith("_MS")]
        data = source.read_bytes()
        (base / source.name).write_bytes(data[:60_000])
        moment = time.time() - age
        os.utime(base / source.name, (moment, moment))
        offset = 0
        while (end := offset + 16 + int.from_bytes(data[offset : offset + 8], "little")) <= 60_000:
            offset = end
        done = called("check", base)
        assert done.returncode == 1
        assert f"bytes {offset}-60000: truncated: " in done.stdout
        assert f"byte {offset:,} needs {end - offset:,} bytes, only {60_000 - offset:,} are present" in done.stdout
        assert "histogram 'conv1.weight/auto'" in done.stdout
        assert "1 problem" in done.stdout

    def test_check_of_settings(self, base) -> None:
        metric = b"no JSON"
        message = b"\x09" + bytes(8) + b"\x3a" + bytes([len(metric) + 2]) + b"\x12" + bytes([len(metric)]) + metric
        (base / "run.summary.1795221706.x_lineage").write_bytes(record(message))
        (base / "config.yaml").write_text("a: [1")
        done = called("check", base)
        assert done.returncode == 1
        assert done.stdout.count("bad_value") == 2
        assert "no JSON" in done.stdout
        assert str(base / "config.yaml") in done.stdout

    @pytest.mark.parametrize("suffix", long_after(1, ["csv", "json", "parquet"]))
    def test_export(self, tmp_path, suffix) -> None:
        import pandas as pd

        done = called("export", RECORDED / "nan_inf", "--out", tmp_path / f"x.{suffix}", "--format", suffix)
        assert done.returncode == 0, done.stderr
        frame = getattr(pd, f"read_{suffix}")(tmp_path / f"x.{suffix}")
        assert done.stdout.startswith(f"{len(frame):,} values")
        assert len(frame) > 100


class TestTraces:
    """A trace alone, as a file and as all there is in a directory."""

    @pytest.fixture
    def trace(self, tmp_path: Path) -> Path:
        path = tmp_path / "only/trace_view.json"
        path.parent.mkdir()
        path.write_text(chrome_traces.text())
        return path

    @pytest.mark.parametrize("alone", long_after(1, [True, False]), ids=["file", "directory"])
    def test_list_check_and_export(self, trace: Path, tmp_path: Path, alone: bool) -> None:
        for place in (trace if alone else trace.parent,):
            listed = called("list", place)
            assert listed.returncode == 0
            assert listed.stdout.splitlines()[1].endswith("1 trace")
            (source,) = json.loads(called("list", place, "--json").stdout)
            assert [file["path"] for file in source["profile_files"]] == [str(trace)]
            checked = called("check", place)
            assert checked.returncode == 0
            assert checked.stdout.startswith(f"1 run, 1 file, {trace.stat().st_size:,} bytes: no damage")
            out = tmp_path / f"out-{place.name.partition('.')[0]}"
            done = called("export", place, "--out", out)
            assert done.returncode == 0, done.stderr
            (path,) = out.rglob("slices.csv")
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            wanted = sorted((one["name"], one["at"], one["ns"]) for one in chrome_traces.slices())
            assert sorted((row["name"], int(row["start_ns"]), int(row["duration_ns"])) for row in rows) == wanted
            assert len((path.parent / "flows.csv").read_text().splitlines()) == 1 + 2 * chrome_traces.STEPS
            assert len((path.parent / "counters.csv").read_text().splitlines()) == 1 + 30

    @pytest.mark.long
    @pytest.mark.parametrize("alone", long_after(1, [False, True]), ids=["directory", "file"])
    def test_damage_is_found(self, trace: Path, tmp_path: Path, alone: bool) -> None:
        trace.write_text(chrome_traces.text()[:-5000])
        for place in (trace if alone else trace.parent,):
            done = called("check", place)
            assert done.returncode == 1
            assert str(trace) in done.stdout
            assert "2 problems" in done.stdout  # no end, and an event that has none
            exported = called("export", place, "--out", tmp_path / "out")
            assert exported.returncode == 3
            assert str(trace) in exported.stderr

    @pytest.mark.long
    def test_traces_are_exported_beside_others_only_if_named(self, base: Path, tmp_path: Path) -> None:
        (base / "both").mkdir()
        shutil.copytree(RECORDED / "nan_inf", base / "both/one")
        (base / "both/one/trace_view.json").write_text(chrome_traces.text())
        assert called("export", base / "both", "--out", tmp_path / "a").returncode == 0
        assert not (tmp_path / "a/traces").exists()
        assert called("export", base / "both", "--out", tmp_path / "b", "--kinds", "traces").returncode == 0
        assert [path.name for path in (tmp_path / "b").iterdir()] == ["traces"]

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text('{"a": 1}')
        done = called("list", tmp_path / "x.json")
        assert done.returncode == 2
        assert "expected a directory, a trace or an event file" in done.stderr


def test_check_counts_runs_as_the_pages_do(real_data: Path) -> None:
    from app.store.store import Store

    for base in (RECORDED, real_data / "summary"):
        store = Store([base], interval=0).start()
        assert store.wait(100)
        rows = store.runs.rows()
        store.stop()
        said = run("check", str(base)).stdout.splitlines()[-1]
        assert said.startswith(f"{len(rows)} runs, ")
        assert (": no damage" in said) == (sum(row.problems for row in rows) == 0)


def test_check_reads_dumps_and_counts_their_damage_as_the_pages_do(tmp_path: Path) -> None:
    from app.store.store import Store

    samples = ROOT / "tests/data/dumps/written/statistic"
    shutil.copytree(samples / "configurable", tmp_path / "whole")
    shutil.copytree(samples / "configurable_all", tmp_path / "cut")
    table = next((tmp_path / "cut").rglob("statistic.csv"))
    table.write_bytes(table.read_bytes()[:-3] + b'"\xff')
    done = run("check", str(tmp_path))
    store = Store([tmp_path], interval=0).start()
    assert store.wait(100)
    for row in store.runs.rows():
        until(lambda row=row: store.dumps.open(row.key).state in ("ready", "failed"))
    until(lambda: len(store.runs.problems()) == len(done.stdout.splitlines()) - 1)
    damage = sum(not one[1].is_note for one in store.runs.problems())
    store.stop()
    assert damage > 0
    assert done.returncode == 1
    assert f": {damage} problem" in done.stdout.splitlines()[-1]
    assert "dumped tensors" in done.stdout.splitlines()[-1]
