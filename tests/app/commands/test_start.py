"""A server that users start: signals, ports, tokens, workspaces."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from app.commands import opening, serving
from parsers.recording import EventWriter
from tests.amounts import long_after
from tests.app.commands.running import ROOT, free_port, get, run
from tests.recorded import RECORDED
from tests.waiting import until

pytestmark = pytest.mark.usefixtures("own_environment")


@pytest.fixture
def serve(base) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
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


@pytest.mark.parametrize("number", long_after(1, [signal.SIGTERM, signal.SIGINT]))
def test_signals_end_it_cleanly(serve, number) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process, url = serve()
    signal.signal(signal.SIGINT, before)
    assert get(url)[0] == 200
    process.send_signal(number)
    assert process.wait(10) == 0
    assert process.stderr.read() == ""


@pytest.mark.long
def test_it_stops_at_once_while_a_client_does_not_read(serve, base) -> None:
    (base / "long").mkdir()
    with EventWriter(str(base / "long/events.out.tfevents.1700000000.host"), "tensorboard") as writer:
        for step in range(50_000):
            writer.add(step, {"loss": 1.0 / (step + 1)})
    process, url = serve()
    address = urlsplit(url)
    until(lambda: "long" in get(url + "api/scalars.csv?run=long&tag=loss")[1][:200])
    with contextlib.ExitStack() as clients:
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that much waits to be sent
            client.connect((address.hostname, address.port))
            client.sendall(b"GET /api/scalars.csv HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.5)
        began = time.monotonic()
        process.terminate()
        assert process.wait(60) == 0
        assert time.monotonic() - began < 30  # 0.5 s on a quiet machine, of which Python takes most to take itself apart


@pytest.mark.long
def test_port_in_use(serve, base, tmp_path) -> None:
    _, url = serve()
    port = url.rstrip("/").rpartition(":")[2]
    same = run("start", "--summary-base-dir", base, "--port", port)
    assert (same.returncode, same.stderr.count("\n")) == (1, 1)
    assert f"{base} is already served at {url}" in same.stderr
    (tmp_path / "other").mkdir()
    other = run("start", "--summary-base-dir", tmp_path / "other", "--port", port)
    assert other.returncode == 1
    assert f"which serves {base}" in other.stderr


def test_port_in_use_by_something_else(base) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("start", "--summary-base-dir", base, "--port", taken.getsockname()[1])
    assert done.returncode == 1
    assert f"(pid {os.getpid()})" in done.stderr


@pytest.mark.long
def test_options_of_the_predecessor(serve) -> None:
    process, url = serve(
        "--url-path-prefix", "/mi", "--enable-debugger", "True", "--debugger-port=0",
        "--offline-debugger-mem-limit", "1", "--max-offline-debugger-session-num", "2",
    )  # fmt: skip
    assert url.endswith("/mi/")
    assert get(url)[0] == 200
    port = re.fullmatch(r"Live training: 127\.0\.0\.1:(\d+)\n", process.stdout.readline())[1]
    with socket.create_connection(("127.0.0.1", int(port)), 5):
        assert json.loads(get(url + "api/live.json")[1])["port"] == int(port)
    process.terminate()
    process.wait(10)
    warning = process.stderr.read()
    assert warning.count("\n") == 1
    assert "--offline-debugger-mem-limit, --max-offline-debugger-session-num" in warning


@pytest.mark.long
def test_without_grpcio_one_line_says_how_to_install_it(base, tmp_path) -> None:
    (tmp_path / "grpc.py").write_text("raise ImportError")
    done = run("start", "--summary-base-dir", base, "--enable-debugger", env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install 'mindscope[debugger]'" in done.stderr


@pytest.mark.long
def test_the_port_of_live_training_is_in_use(base) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("start", "--summary-base-dir", base, "--port", "0", "--enable-debugger", "--debugger-port", port)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"--debugger-port: port {port}" in done.stderr


@pytest.mark.long
def test_dash_variables_change_nothing(serve) -> None:
    names = ("URL_BASE_PATHNAME", "REQUESTS_PATHNAME_PREFIX", "ROUTES_PATHNAME_PREFIX")
    odd = {f"DASH_{name}": "/odd/" for name in names}
    odd |= {"DASH_DEBUG": "true", "DASH_MCP_ENABLED": "true", "DASH_APP_NAME": "x"}
    _, url = serve(env=os.environ | odd)
    status, text = get(url)
    assert status == 200
    assert "/odd/" not in text
    assert get(url + "_mcp")[0] == 404


def test_others_need_the_token(serve) -> None:
    process, url = serve("--host", "0.0.0.0")
    address, _, token = url.partition("?token=")
    local = f"http://127.0.0.1:{address.rstrip('/').rpartition(':')[2]}/"
    assert len(token) > 40
    assert get(local)[0] == get(local + "api/status.json")[0] == 401
    assert get(local + "api/status.json", Host="elsewhere")[0] == 403
    assert get(local + "api/status.json", Authorization=f"Bearer {token}")[0] == 200
    assert get(local + "api/runs.json", Authorization=f"Bearer {token}")[0] == 200
    process.terminate()
    process.wait(10)
    assert token not in process.stderr.read()


def test_background(base, tmp_path) -> None:
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


@pytest.mark.parametrize("given", ["", "a-token-of-the-environment"])
def test_a_background_token_is_in_no_log_and_no_command_line(base, given) -> None:
    port = free_port()
    environment = os.environ | {"MINDSCOPE_TOKEN": given}
    done = run("start", "--summary-base-dir", base, "--port", port, "--host", "0.0.0.0", "--background", env=environment)
    try:
        assert done.returncode == 0, done.stderr
        said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
        token = said["Web address"].partition("?token=")[2]
        assert len(token) > 15
        assert given in ("", token)
        assert get(f"http://127.0.0.1:{port}/api/runs.json", Authorization=f"Bearer {token}")[0] == 200
        assert token not in Path(said["Log"]).read_text()
        if os.path.isdir("/proc/self"):
            assert token not in Path(f"/proc/{said['Process']}/cmdline").read_text()
    finally:
        run("stop", "--port", port)


@pytest.fixture
def browser(tmp_path, monkeypatch) -> Path:
    """A file to which a browser writes the command line that it was started with."""
    program, seen = tmp_path / "browser", tmp_path / "seen"
    program.write_text(f'#!/bin/sh\necho "$@" > {seen}.new\nmv {seen}.new {seen}\n')
    program.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{program} %s")
    return seen


@pytest.mark.parametrize("where", long_after(1, ["foreground", "background"]))
def test_the_token_is_not_in_the_command_line_of_the_browser(serve, base, browser, where) -> None:
    if where == "foreground":
        process, shown = serve("--host", "0.0.0.0", "--open")
    else:
        port = free_port()
        done = run("start", "--summary-base-dir", base, "--port", port, "--host", "0.0.0.0", "--background", "--open")
        shown = done.stdout.splitlines()[0].removeprefix("Web address: ")
    token = shown.partition("?token=")[2]
    command = until(lambda: browser.exists() and browser.read_text().strip())
    assert len(token) > 40
    assert token not in command
    page = Path(unquote(urlsplit(command).path))
    assert (page.stat().st_mode & 0o777, page.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert f'content="0;url={shown}"' in page.read_text()
    if where == "foreground":
        process.terminate()
        assert process.wait(10) == 0
    else:
        run("stop", "--port", port)
    assert not page.exists()


def test_the_file_that_redirects_is_new_and_goes_after_a_time(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(opening, "KEPT_SECONDS", 0.05)
    monkeypatch.setattr(opening.webbrowser, "open", lambda address: True)
    (tmp_path / "page.html").symlink_to(tmp_path / "elsewhere")
    for directory in (str(tmp_path), ""):
        with opening.opened("http://127.0.0.1:1/", token="t" * 16, directory=directory, name="page"):
            until(lambda: not (tmp_path / "page.html").exists())
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("directory", [True, False], ids=["named", "temporary"])
def test_the_file_that_redirects_is_for_this_user_whatever_others_are_allowed(tmp_path, directory) -> None:
    before = os.umask(0)
    try:
        path = opening.redirecting_file("http://127.0.0.1:1/?token=x", str(tmp_path) if directory else "", "page")
    finally:
        os.umask(before)
    assert os.stat(path).st_mode & 0o777 == 0o600
    os.unlink(path)


def test_a_link_that_is_put_where_the_file_belongs_gets_no_token(tmp_path, monkeypatch) -> None:
    """Between the removal of what was there and the creation of the file."""
    monkeypatch.setattr(opening, "_remove", lambda path: os.symlink(tmp_path / "elsewhere", path))
    with pytest.raises(FileExistsError):
        opening.redirecting_file("http://127.0.0.1:1/?token=x", str(tmp_path), "page")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.long
@pytest.mark.parametrize("options", long_after(1, [[], ["--no-cache"]]))
def test_runs_around_the_cache_directory(serve, base, monkeypatch, options) -> None:
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


@pytest.mark.long
def test_a_workspace_where_the_cache_cannot_be_used(serve, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    process, url = serve("--workspace", str(tmp_path / "ws"), "--no-cache")
    assert get(url)[0] == 200
    process.terminate()
    assert process.wait(10) == 0
    (line,) = process.stderr.read().splitlines()
    assert line.startswith("mindscope: status and stop will not find this server: the user's cache directory: expected")


@pytest.mark.long
def test_in_the_background_where_the_cache_cannot_be_used(base, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    done = run("start", "--summary-base-dir", base, "--port", "0", "--workspace", tmp_path / "ws", "--background")
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert get(said["Web address"])[0] == 200
    os.kill(int(said["Process"]), signal.SIGTERM)
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="127.0.0.2 answers on Linux only")
@pytest.mark.long
def test_one_port_at_two_addresses(serve) -> None:
    first, url = serve("--host", "127.0.0.2")
    port = url.rstrip("/").rpartition(":")[2]
    second, _ = serve("--port", port)
    status = run("status").stdout
    assert status.count(f":{port}/\n") == 2
    stopped = run("stop", "--port", port)
    assert (stopped.returncode, stopped.stdout.count("Stopped http://127.0.0.")) == (0, 2)
    assert first.wait(10) == second.wait(10) == 0


def test_nothing_is_written_below_the_runs(serve, base) -> None:
    (source,) = (RECORDED / "nan_inf").iterdir()
    (base / source.name).write_bytes(source.read_bytes())
    before = {path: path.stat().st_mtime_ns for path in base.rglob("*")} | {base: base.stat().st_mtime_ns}
    process, url = serve()
    until(lambda: json.loads(get(url + "api/health")[1])["loaded"] >= 1)
    assert get(url + "api/scalars.csv")[1].count("\n") > 100
    process.terminate()
    process.wait(10)
    assert {path: path.stat().st_mtime_ns for path in base.rglob("*")} | {base: base.stat().st_mtime_ns} == before


def test_the_demo_is_opened_at_its_questions() -> None:
    assert serving.opened_at("http://127.0.0.1:8080/p/", demo=True) == "http://127.0.0.1:8080/p/start"
    assert serving.opened_at("http://127.0.0.1:8080/p/", demo=False) == "http://127.0.0.1:8080/p/"
