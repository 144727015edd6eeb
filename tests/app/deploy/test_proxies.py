"""The examples of deploy/, with real proxies where they are installed: only paths, ports and certificates are replaced."""

from __future__ import annotations

import base64
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.commands.settings import SETTINGS
from layouts.runs.notes import Note
from parsers.recording import EventWriter
from tests.waiting import until

ROOT = Path(__file__).parents[3]
TOKEN = "t" * 40
PASSWORD = "correct horse"
SITE = "lab.example"
ANN = {"Authorization": "Basic " + base64.b64encode(f"ann:{PASSWORD}".encode()).decode()}
MODULES = "mpm_event authn_core authn_file authz_core authz_user auth_basic headers proxy proxy_http ssl alias unixd"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip(f"no {name}")
    return found


class Proxied:
    """A server behind a proxy: what a browser gets from lab.example, and what another user of the machine gets past it."""

    def __init__(self, port: int, behind: int) -> None:
        self._port, self.behind = port, behind
        self._context = ssl._create_unverified_context()

    def ask(self, path: str, headers: dict[str, str] | None = None, data: Any = None) -> tuple[int, bytes]:
        with socket.create_connection(("127.0.0.1", self._port), 30) as plain:
            client = http.client.HTTPConnection(SITE)
            client.sock = self._context.wrap_socket(plain, server_hostname=SITE)
            given = {"Host": SITE, "Content-Type": "application/json", "Origin": f"https://{SITE}"} | (headers or {})
            client.request("GET" if data is None else "POST", path, None if data is None else orjson.dumps(data), given)
            answer = client.getresponse()
            content = answer.status, answer.read()
            client.close()
            return content

    def past_the_proxy(self, path: str, headers: dict[str, str]) -> int:
        client = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)
        client.request("GET", path, headers=headers)
        status = client.getresponse().status
        client.close()
        return status

    def answers(self) -> bool:
        try:
            return self.ask("/training/", ANN)[0] == 200
        except OSError:
            return False


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Callable[..., tuple[Path, Callable[[list[str], int], Proxied]]]]:
    """Starts a server with some options; then, with the function that it returns, a proxy before it."""
    with ExitStack() as running:

        def run(command: list[str], **options: Any) -> None:
            output = running.enter_context((tmp_path / f"{Path(command[0]).name}.log").open("wb"))
            process = subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT, **options)
            running.callback(process.wait, 20)
            running.callback(process.terminate)

        def serve(port: int, *options: str) -> Callable[[list[str], int], Proxied]:
            (tmp_path / "runs" / "a").mkdir(parents=True)
            with EventWriter(str(tmp_path / "runs" / "a" / "events.out.tfevents.1700000000.here"), "tensorboard") as writer:
                writer.add(1, {"loss": 0.5})
            places = ["--summary-base-dir", str(tmp_path / "runs"), "--workspace", str(tmp_path / "workspace")]
            named = [*places, "--port", str(port)]
            team = ["--allowed-host", SITE, "--user-header", "X-Forwarded-User", "--trusted-proxy", "127.0.0.1"]
            environment = os.environ | {"MINDSCOPE_TOKEN": TOKEN, "XDG_CACHE_HOME": str(tmp_path / "cache")}
            run([sys.executable, "-m", "app", *named, *team, *options], env=environment)

            def before(command: list[str], outside: int) -> Proxied:
                run(command, env=environment)
                proxied = Proxied(outside, port)
                until(proxied.answers)
                return proxied

            return before

        certificate = ["-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "certificate"), "-subj", f"/CN={SITE}"]
        subprocess.run(
            [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *certificate,
             "-addext", f"subjectAltName=DNS:{SITE}"],
            check=True, capture_output=True,
        )  # fmt: skip
        yield lambda port, *options: (tmp_path, serve(port, *options))


def example(name: str, replaced: dict[str, str]) -> str:
    """An example with some of its texts replaced, each of which must be in it."""
    text = (ROOT / "deploy" / name).read_text()
    for old, new in replaced.items():
        assert old in text, f"{name} has no {old}"
        text = text.replace(old, new)
    return text


def passwords(place: Path, program_name: str = "openssl") -> Path:
    hashed = subprocess.run([program(program_name), "passwd", "-apr1", PASSWORD], check=True, capture_output=True, text=True)
    (place / "users").write_text(f"ann:{hashed.stdout.strip()}\n")
    return place / "users"


def judge(proxied: Proxied) -> None:
    """A login is asked for, pages and their files come below the path, and nobody can pretend to be somebody else."""
    assert proxied.ask("/training/")[0] == 401
    status, page = proxied.ask("/training/scalars", ANN)
    assert status == 200
    files = {found for found in re.findall(rb'(?:src|href)="(/[^"]*)"', page) if not found.endswith(b"/")}
    assert len(files) > 5
    for path in sorted(files)[:8]:
        assert path.startswith(b"/training/")
        assert proxied.ask(path.decode(), ANN)[0] == 200, path
    change = {"run": "a", "remark": "best", "was": Note().version}
    for name in ("X-Forwarded-User", "x-forwarded-user", "X_Forwarded_User"):
        status, answer = proxied.ask("/training/api/note", ANN | {name: "mallory"}, change)
        now = orjson.loads(answer)["now"]
        assert (status, now["by"]) == (200, "ann"), name
        change = {"run": "a", "remark": f"best {name}", "was": now["version"]}
    assert proxied.ask("/training/api/board", ANN, {"text": "x" * (7 << 20)})[0] in (200, 400), "as large as a board may be"
    assert proxied.past_the_proxy("/training/", {"X-Forwarded-User": "mallory"}) in (401, 404)
    assert proxied.past_the_proxy("/", {"X-Forwarded-User": "mallory"}) in (401, 404)


def test_nginx(behind: Callable[..., Any]) -> None:
    nginx, (inside, outside) = program("nginx"), (free_port(), free_port())
    place, before = behind(inside, "--url-path-prefix", "/training/")
    (place / "token.conf").write_text(f'proxy_set_header Authorization "Bearer {TOKEN}";\n')
    site = example("nginx.conf", {
        "listen 443 ssl": f"listen 127.0.0.1:{outside} ssl", "127.0.0.1:8080": f"127.0.0.1:{inside}",
        "/etc/nginx/lab.example.pem": str(place / "certificate"), "/etc/nginx/lab.example.key": str(place / "key"),
        "/etc/nginx/mindscope.users": str(passwords(place)), "/etc/nginx/mindscope-token.conf": str(place / "token.conf"),
    })  # fmt: skip
    kept = " ".join(f"{name}_temp_path {place};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;" if os.getuid() == 0 else ""
    (place / "nginx.conf").write_text(
        f"daemon off; pid {place}/pid; error_log stderr; {user}\nevents {{}}\nhttp {{ access_log off; {kept}\n{site}\n}}\n"
    )
    judge(before([nginx, "-c", str(place / "nginx.conf")], outside))


@pytest.mark.long
def test_caddy(behind: Callable[..., Any]) -> None:
    caddy, (inside, outside) = program("caddy"), (free_port(), free_port())
    place, before = behind(inside, "--url-path-prefix", "/training/")
    hashed = subprocess.run([caddy, "hash-password", "--plaintext", PASSWORD], check=True, capture_output=True, text=True)
    site = example("Caddyfile", {
        "\nlab.example {": f"\nlab.example:{outside} {{\n\tbind 127.0.0.1\n\ttls {place}/certificate {place}/key",
        "127.0.0.1:8080": f"127.0.0.1:{inside}",
        "$2a$14$replace.this.by.what.caddy.hash-password.prints.for.the.password": hashed.stdout.strip(),
    })  # fmt: skip
    (place / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {place}/caddy\n}}\n{site}")
    judge(before([caddy, "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")], outside))


@pytest.mark.long
def test_apache_which_strips_the_path(behind: Callable[..., Any]) -> None:
    apache, (inside, outside) = program("apache2"), (free_port(), free_port())
    modules = Path("/usr/lib/apache2/modules")
    if not (modules / "mod_proxy_http.so").exists():
        pytest.skip("no modules of apache2")
    place, before = behind(inside, "--public-prefix", "/training/")
    (place / "token.conf").write_text(f'RequestHeader set Authorization "Bearer {TOKEN}"\n')
    site = example("apache.conf", {
        "*:443": f"127.0.0.1:{outside}", "127.0.0.1:8080": f"127.0.0.1:{inside}",
        "/etc/apache2/lab.example.pem": str(place / "certificate"), "/etc/apache2/lab.example.key": str(place / "key"),
        "/etc/apache2/mindscope.users": str(passwords(place)), "/etc/apache2/mindscope-token.conf": str(place / "token.conf"),
    })  # fmt: skip
    loaded = "\n".join(
        f"<IfModule !{name}_module>\nLoadModule {name}_module {modules}/mod_{name}.so\n</IfModule>" for name in MODULES.split()
    )
    own = f"ServerRoot {place}\nServerName {SITE}\nPidFile {place}/pid\nDefaultRuntimeDir {place}\nErrorLog /dev/stderr"
    (place / "apache.conf").write_text(
        f"{own}\n{loaded}\n"
        f"Listen 127.0.0.1:{outside} https\n{site}"
    )
    judge(before([apache, "-f", str(place / "apache.conf"), "-DFOREGROUND"], outside))


def test_the_unit_is_one_that_systemd_accepts(tmp_path: Path) -> None:
    analyze = program("systemd-analyze")
    command = tmp_path / "mindscope"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    unit = tmp_path / "mindscope.service"
    unit.write_text(example("mindscope.service", {"/opt/mindscope/bin/mindscope": str(command)}))
    checked = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_options_of_the_unit_and_of_the_container_are_those_of_the_program() -> None:
    unit = example("mindscope.service", {"\\\n": " "})
    container = example("Containerfile", {})
    options = set(re.findall(r"--[a-z-]+", re.search(r"^ExecStart=.*$", unit, re.MULTILINE)[0]))  # type: ignore[index]
    options |= set(re.findall(r"--[a-z-]+", re.search(r"^ENTRYPOINT.*$", container, re.MULTILINE)[0]))  # type: ignore[index]
    assert options >= {"--workspace", "--stay-inside", "--user-header", "--host"}
    assert options <= {setting.option for setting in SETTINGS}


@pytest.mark.long
def test_what_the_container_runs_installs_the_program(tmp_path: Path) -> None:
    text = example("Containerfile", {"\\\n": " "})
    copied = re.findall(r"^COPY (.*) \S+$", text, re.MULTILINE)
    installing = [line for line in re.findall(r"^RUN (.*)$", text, re.MULTILINE) if " pip " in line]
    assert len(installing) == 2
    (tmp_path / "src").mkdir()
    for name in " ".join(copied).split():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / "src" / name)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    for command in installing:
        subprocess.run(["sh", "-c", command], cwd=tmp_path / "src", env=environment, check=True, capture_output=True)
    told = subprocess.run(
        [programs / "mindscope", "--version"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (told.returncode, told.stdout.startswith("mindscope")) == (0, True), told.stderr
    started = re.search(r"^ENTRYPOINT (.*)$", text, re.MULTILINE)
    assert started is not None
    assert orjson.loads(started[1])[:2] == ["mindscope", "start"]
