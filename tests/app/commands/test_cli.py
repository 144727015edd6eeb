"""The command line, run as users run it."""

from __future__ import annotations

import contextlib
import csv
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.commands.cli import main
from parsers.events.writer import EventWriter, record
from tests.writers import chrome_traces

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "app" / "demo"


@pytest.fixture(autouse=True)
def own_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in list(os.environ):
        if name.startswith(("MINDSCOPE_", "MINDINSIGHT_", "DASH_")):
            monkeypatch.delenv(name)


@pytest.fixture
def base(tmp_path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False, **options)


def get(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--port", "x"], "mindscope: --port: expected a whole number from 0 to 65535, found 'x'"),
            (["start", "--reload-interval", "301"], "--reload-interval: expected a whole number of seconds from 0 to 300"),
            (["--summary-base-dir", "/no/such"], "expected an existing directory or file, found '/no/such'"),
            (["README.md"], "--summary-base-dir: expected a trace or an event file, found 'README.md'"),
            (["--config", "settings.py"], "--config: expected a TOML file, found 'settings.py'"),
            (["--config", "python:settings"], "Python code is never run"),
            (["--no-such-option"], "unrecognized arguments: --no-such-option"),
            (["start", "--port"], "expected one argument"),
            (["nonsense"], "invalid choice: 'nonsense'"),
            (["stop", "--port", "-1"], "--port"),
            (["list", "/no/such"], "DIR: expected an existing directory, found '/no/such'"),
            (["export", "app/demo"], "--out"),
            (["export", "app/demo", "--out", "x", "--format", "xls"], "--format: expected one of csv, json, parquet, found"),
            (["export", "app/demo", "--out", "app/demo/x"], "--out: expected a path outside the runs"),
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

    def test_demo_runs_or_others(self, base, capsys) -> None:
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
            assert command in run(command, "--help").stdout

    def test_list(self) -> None:
        done = run("list", DEMO)
        assert done.returncode == 0
        assert {line.split()[0] for line in done.stdout.splitlines()[1:]} == {entry.name for entry in DEMO.iterdir()}

    def test_list_as_json(self) -> None:
        runs = json.loads(run("list", DEMO, "--json").stdout)
        assert {entry["name"] for entry in runs} == {entry.name for entry in DEMO.iterdir()}
        assert all(entry["size_bytes"] > 0 for entry in runs)

    def test_list_of_nothing(self, base) -> None:
        done = run("list", base)
        assert (done.returncode, done.stderr) == (0, f"No runs below {base}\n")
        assert json.loads(run("list", base, "--json").stdout) == []

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
            command = [sys.executable, "-m", "app", "list", str(DEMO), *options]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 1
        assert done.stderr == "mindscope: the output could not be written: No space left on device\n"

    def test_names_that_are_no_utf8(self, base) -> None:
        (source,) = (DEMO / "nan_inf").iterdir()
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
        done = run("check", base)
        assert done.returncode == 0, done.stdout
        assert "no damage" in done.stdout

    def test_check_of_sound_files(self) -> None:
        done = run("check", DEMO / "nan_inf")
        assert done.returncode == 0
        assert done.stdout.endswith("no damage\n")

    def test_check_of_a_flipped_byte(self, base) -> None:
        (source,) = (DEMO / "nan_inf").iterdir()
        data = bytearray(source.read_bytes())
        data[len(data) // 2] ^= 1
        (base / source.name).write_bytes(data)
        done = run("check", base)
        assert done.returncode == 1
        assert str(base / source.name) in done.stdout
        assert "1 problem" in done.stdout

    @pytest.mark.parametrize("age", [0, 172_800])
    def test_check_of_a_file_cut_within_a_record(self, base, age) -> None:
        """The place and the sizes are those of the intact file."""
        (source,) = [path for path in (DEMO / "lenet_sink_mode").iterdir() if path.name.endswith("_MS")]
        data = source.read_bytes()
        (base / source.name).write_bytes(data[:60_000])
        moment = time.time() - age
        os.utime(base / source.name, (moment, moment))
        offset = 0
        while (end := offset + 16 + int.from_bytes(data[offset : offset + 8], "little")) <= 60_000:
            offset = end
        done = run("check", base)
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
        done = run("check", base)
        assert done.returncode == 1
        assert done.stdout.count("bad_value") == 2
        assert "no JSON" in done.stdout
        assert str(base / "config.yaml") in done.stdout

    @pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
    def test_export(self, tmp_path, suffix) -> None:
        import pandas as pd

        done = run("export", DEMO / "nan_inf", "--out", tmp_path / f"x.{suffix}", "--format", suffix)
        assert done.returncode == 0, done.stderr
        frame = getattr(pd, f"read_{suffix}")(tmp_path / f"x.{suffix}")
        assert done.stdout.startswith(f"{len(frame):,} values")
        assert len(frame) > 100


class TestServer:
    @pytest.fixture
    def serve(self, base) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
        started = []

        def serve(*arguments: str, **options):
            command = [sys.executable, "-m", "app", "start", "--summary-base-dir", str(base), "--port", "0", *arguments]
            # A child inherits what is ignored, as by a shell that runs the tests in the background.
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, **options)
            signal.signal(signal.SIGINT, before)
            started.append(process)
            lines = [process.stdout.readline() for _ in range(2)]
            assert lines[0] == f"Serving {base}\n", process.stderr.read()
            return process, lines[1].removeprefix("Web address: ").strip()

        yield serve
        for process in started:
            process.kill()
            process.communicate()

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_signals_end_it_cleanly(self, serve, number) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        process, url = serve()
        signal.signal(signal.SIGINT, before)
        assert get(url)[0] == 200
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr.read() == ""

    def test_it_stops_at_once_while_a_client_does_not_read(self, serve, base) -> None:
        (base / "long").mkdir()
        with EventWriter(str(base / "long/events.out.tfevents.1700000000.host"), "tensorboard") as writer:
            for step in range(200_000):
                writer.add(step, {"loss": 1.0 / (step + 1)})
        process, url = serve()
        address = urlsplit(url)
        while "long" not in get(url + "api/scalars.csv?run=long&tag=loss")[1][:200]:
            time.sleep(0.1)
        with contextlib.ExitStack() as clients:
            for _ in range(4):
                client = clients.enter_context(socket.create_connection((address.hostname, address.port)))
                client.sendall(b"GET /api/scalars.csv HTTP/1.1\r\nHost: localhost\r\n\r\n")
            time.sleep(0.5)
            began = time.monotonic()
            process.terminate()
            assert process.wait(10) == 0
            assert time.monotonic() - began < 5  # 0.5 s on a quiet machine, of which Python takes most to take itself apart

    def test_port_in_use(self, serve, base, tmp_path) -> None:
        _, url = serve()
        port = url.rstrip("/").rpartition(":")[2]
        same = run("start", "--summary-base-dir", base, "--port", port)
        assert (same.returncode, same.stderr.count("\n")) == (1, 1)
        assert f"{base} is already served at {url}" in same.stderr
        (tmp_path / "other").mkdir()
        other = run("start", "--summary-base-dir", tmp_path / "other", "--port", port)
        assert other.returncode == 1
        assert f"which serves {base}" in other.stderr

    def test_port_in_use_by_something_else(self, base) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            done = run("start", "--summary-base-dir", base, "--port", taken.getsockname()[1])
        assert done.returncode == 1
        assert f"(pid {os.getpid()})" in done.stderr

    def test_options_of_the_predecessor(self, serve) -> None:
        process, url = serve(
            "--url-path-prefix", "/mi", "--enable-debugger", "True", "--debugger-port=50051",
            "--offline-debugger-mem-limit", "1", "--max-offline-debugger-session-num", "2",
        )  # fmt: skip
        assert url.endswith("/mi/")
        assert get(url)[0] == 200
        process.terminate()
        process.wait(10)
        warning = process.stderr.read()
        assert warning.count("\n") == 1
        assert "--enable-debugger, --debugger-port, --offline-debugger-mem-limit, --max-offline-debugger-session-num" in warning

    def test_dash_variables_change_nothing(self, serve) -> None:
        names = ("URL_BASE_PATHNAME", "REQUESTS_PATHNAME_PREFIX", "ROUTES_PATHNAME_PREFIX")
        odd = {f"DASH_{name}": "/odd/" for name in names}
        odd |= {"DASH_DEBUG": "true", "DASH_MCP_ENABLED": "true", "DASH_APP_NAME": "x"}
        _, url = serve(env=os.environ | odd)
        status, text = get(url)
        assert status == 200
        assert "/odd/" not in text
        assert get(url + "_mcp")[0] == 404

    def test_others_need_the_token(self, serve) -> None:
        process, url = serve("--host", "0.0.0.0")
        address, _, token = url.partition("?token=")
        local = f"http://127.0.0.1:{address.rstrip('/').rpartition(':')[2]}/"
        assert len(token) > 40
        assert get(local)[0] == 401
        assert get(local + "api/runs.json", Authorization=f"Bearer {token}")[0] == 200
        process.terminate()
        process.wait(10)
        assert token not in process.stderr.read()

    def test_background(self, base, tmp_path) -> None:
        (tmp_path / "app.py").write_text("raise SystemExit('the wrong app')")
        port = free_port()
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        options = ["--summary-base-dir", str(base), "--port", str(port), "--background"]
        start = functools.partial(
            subprocess.run, [sys.executable, "-P", "-m", "app", *options], capture_output=True, text=True, cwd=tmp_path,
            env=environment, timeout=60,
        )  # fmt: skip
        done = start()
        assert done.returncode == 0, done.stderr
        try:
            url = f"http://127.0.0.1:{port}/"
            said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
            assert said["Web address"] == url
            assert get(url)[0] == 200
            os.kill(int(said["Process"]), 0)
            assert Path(said["Log"]).stat().st_mode & 0o777 == 0o600
            status = run("status").stdout
            for part in (url, said["Process"], str(base), said["Log"], str(tmp_path / "cache" / "mindscope")):
                assert part in status
            again = start()
            assert again.returncode == 1
            assert "already served at" in again.stderr
        finally:
            stopped = run("stop", "--port", port)
        assert stopped.returncode == 0
        assert "No server" in run("status").stdout
        with pytest.raises(urllib.error.URLError):
            get(url)

    def test_a_background_token_is_in_no_log_and_no_command_line(self, base) -> None:
        port = free_port()
        done = run("start", "--summary-base-dir", base, "--port", port, "--host", "0.0.0.0", "--background")
        try:
            said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
            token = said["Web address"].partition("?token=")[2]
            assert get(f"http://127.0.0.1:{port}/api/runs.json", Authorization=f"Bearer {token}")[0] == 200
            assert token not in Path(said["Log"]).read_text()
            if os.path.isdir("/proc/self"):
                assert token not in Path(f"/proc/{said['Process']}/cmdline").read_text()
        finally:
            run("stop", "--port", port)

    @pytest.mark.parametrize("options", [[], ["--no-cache"]])
    def test_runs_around_the_cache_directory(self, serve, base, monkeypatch, options) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(base / "cache"))
        process, url = serve(*options)
        assert get(url)[0] == 200
        process.terminate()
        assert process.wait(10) == 0
        (line,) = process.stderr.read().splitlines()
        assert "status and stop will not find this server" in line
        assert "no views are kept (name a directory outside the runs with --workspace)" in line
        assert ("index" in line) == (not options)
        assert os.listdir(base) == []

    def test_a_workspace_where_the_cache_cannot_be_used(self, serve, tmp_path, monkeypatch) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        process, url = serve("--workspace", str(tmp_path / "ws"), "--no-cache")
        assert get(url)[0] == 200
        process.terminate()
        assert process.wait(10) == 0
        (line,) = process.stderr.read().splitlines()
        assert line.startswith("mindscope: status and stop will not find this server: the user's cache directory: expected")

    def test_in_the_background_where_the_cache_cannot_be_used(self, base, tmp_path, monkeypatch) -> None:
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        done = run("start", "--summary-base-dir", base, "--port", "0", "--workspace", tmp_path / "ws", "--background")
        assert done.returncode == 0, done.stderr
        said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
        assert get(said["Web address"])[0] == 200
        os.kill(int(said["Process"]), signal.SIGTERM)
        assert done.stderr.count("\n") == 1

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="127.0.0.2 answers on Linux only")
    def test_one_port_at_two_addresses(self, serve) -> None:
        first, url = serve("--host", "127.0.0.2")
        port = url.rstrip("/").rpartition(":")[2]
        second, _ = serve("--port", port)
        status = run("status").stdout
        assert status.count(f":{port}/\n") == 2
        stopped = run("stop", "--port", port)
        assert (stopped.returncode, stopped.stdout.count("Stopped http://127.0.0.")) == (0, 2)
        assert first.wait(10) == second.wait(10) == 0

    def test_nothing_is_written_below_the_runs(self, serve, base) -> None:
        (source,) = (DEMO / "nan_inf").iterdir()
        (base / source.name).write_bytes(source.read_bytes())
        before = {path: path.stat().st_mtime_ns for path in base.rglob("*")} | {base: base.stat().st_mtime_ns}
        process, url = serve()
        end = time.monotonic() + 20
        while json.loads(get(url + "api/health")[1])["loaded"] < 1:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert get(url + "api/scalars.csv")[1].count("\n") > 100
        process.terminate()
        process.wait(10)
        assert {path: path.stat().st_mtime_ns for path in base.rglob("*")} | {base: base.stat().st_mtime_ns} == before


class TestTraces:
    """A trace alone, as a file and as all there is in a directory."""

    @pytest.fixture
    def trace(self, tmp_path: Path) -> Path:
        path = tmp_path / "only/trace_view.json"
        path.parent.mkdir()
        path.write_text(chrome_traces.text())
        return path

    def test_list_check_and_export(self, trace: Path, tmp_path: Path) -> None:
        for place in (trace, trace.parent):
            listed = run("list", place)
            assert listed.returncode == 0
            assert listed.stdout.splitlines()[1].endswith("1 trace")
            (source,) = json.loads(run("list", place, "--json").stdout)
            assert [file["path"] for file in source["profile_files"]] == [str(trace)]
            checked = run("check", place)
            assert checked.returncode == 0
            assert checked.stdout.startswith(f"1 runs, 1 files, {trace.stat().st_size:,} bytes: no damage")
            out = tmp_path / f"out-{place.name.partition('.')[0]}"
            done = run("export", place, "--out", out)
            assert done.returncode == 0, done.stderr
            (path,) = out.rglob("slices.csv")
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            wanted = sorted((one["name"], one["at"], one["ns"]) for one in chrome_traces.slices())
            assert sorted((row["name"], int(row["start_ns"]), int(row["duration_ns"])) for row in rows) == wanted
            assert len((path.parent / "flows.csv").read_text().splitlines()) == 1 + 2 * chrome_traces.STEPS
            assert len((path.parent / "counters.csv").read_text().splitlines()) == 1 + 30

    def test_damage_is_found(self, trace: Path, tmp_path: Path) -> None:
        trace.write_text(chrome_traces.text()[:-5000])
        for place in (trace, trace.parent):
            done = run("check", place)
            assert done.returncode == 1
            assert str(trace) in done.stdout
            assert "2 problems" in done.stdout  # no end, and an event that has none
            exported = run("export", place, "--out", tmp_path / "out")
            assert exported.returncode == 3
            assert str(trace) in exported.stderr

    def test_traces_are_exported_beside_others_only_if_named(self, base: Path, tmp_path: Path) -> None:
        (base / "both").mkdir()
        shutil.copytree(DEMO / "nan_inf", base / "both/one")
        (base / "both/one/trace_view.json").write_text(chrome_traces.text())
        assert run("export", base / "both", "--out", tmp_path / "a").returncode == 0
        assert not (tmp_path / "a/traces").exists()
        assert run("export", base / "both", "--out", tmp_path / "b", "--kinds", "traces").returncode == 0
        assert [path.name for path in (tmp_path / "b").iterdir()] == ["traces"]

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text('{"a": 1}')
        done = run("list", tmp_path / "x.json")
        assert done.returncode == 2
        assert "expected a directory, a trace or an event file" in done.stderr
