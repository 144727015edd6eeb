"""Tries Mindscope in a real JupyterLab; `make test-jupyter` runs it in an environment of its own, with Mindscope installed.

The tile of the launcher behind a prefix, through jupyter-server-proxy: a page, its files, a change by its own origin and one by
another; what another user of the machine gets at the port. The magic in IPython. Given a Python with playwright, tile and magic
in a browser, too (`tests/jupyter/in_browser.py`).
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from app.commands.serving import demo_directory
from parsers.recording import EventWriter

BASE = "/hub/ann@lab/"
TOKEN = "abcdefghijklmnop"
SECONDS = 90


def main() -> None:
    """Run all parts; an AssertionError says which failed."""
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "runs" / "a"
        run.mkdir(parents=True)
        with EventWriter(str(run / "events.out.tfevents.1700000000.here"), "tensorboard") as writer:
            writer.add(1, {"loss": 0.5})
        os.environ["XDG_CACHE_HOME"] = str(Path(place) / "cache")
        port = _free_port()
        lab = subprocess.Popen(
            [
                sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}",
                f"--ServerApp.base_url={BASE}", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={place}",
            ],
            cwd=run.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            launcher(Lab(port))
            for python in sys.argv[1:]:
                in_browser(python, port, Path(place))
        finally:
            lab.terminate()
            lab.communicate(timeout=30)
        magic(run.parent)
    print("The launcher, a change through it, and the magic work.")


class Lab:
    """JupyterLab below its prefix."""

    def __init__(self, port: int) -> None:
        self._root = f"http://127.0.0.1:{port}"
        end = time.monotonic() + SECONDS
        while self.ask(f"{BASE}api")[0] != 200:
            assert time.monotonic() < end, "JupyterLab does not answer"
            time.sleep(0.2)

    def ask(self, path: str, data: Any = None, **headers: str) -> tuple[int, str]:
        given = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"} | headers
        body = None if data is None else json.dumps(data).encode()
        return _asked(urllib.request.Request(self._root + path, data=body, headers=given))


def launcher(lab: Lab) -> None:
    """The tile is there, its page loads below the prefix, and only its own origin changes anything."""
    listed = json.loads(lab.ask(f"{BASE}server-proxy/servers-info")[1])["server_processes"]
    assert [one["launcher_entry"]["title"] for one in listed] == ["Mindscope"], listed
    assert lab.ask(listed[0]["launcher_entry"]["icon_url"])[0] == 200
    status, page = lab.ask(f"{BASE}mindscope/scalars")
    assert status == 200, page[:500]
    files = re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css))"', page)
    assert len(files) > 10
    for path in files[:10]:
        assert path.startswith(f"{BASE}mindscope/"), path
        assert lab.ask(path)[0] == 200, path
    change = {"run": "a", "colour": "#112233"}
    sent = {"Origin": "https://hub.example", "Sec-Fetch-Site": "same-origin"}
    assert lab.ask(f"{BASE}mindscope/api/colour", change, **sent)[0] == 200
    sent = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert lab.ask(f"{BASE}mindscope/api/colour", change, **sent)[0] == 403
    served = subprocess.run(["mindscope", "status"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"http://127\.0\.0\.1:\d+", served)
    assert found is not None, served
    assert _asked(urllib.request.Request(found[0] + f"{BASE}mindscope/"))[0] == 401, "without Jupyter's login"


def in_browser(python: str, port: int, root: Path) -> None:
    """The tile is clicked and a notebook run, in Chromium: the page behind the prefix, and at a port of the same machine."""
    code = "import os\nos.environ['BASE_URL'] = '" + BASE + "'\n%load_ext mindscope\n%mindscope runs"
    direct = "from app import show\nshow('runs', proxy_prefix='/')"
    cells = [
        {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        for source in (code, direct)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    (root / "try.ipynb").write_text(json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 4}))
    script = Path(__file__).with_name("in_browser.py")
    subprocess.run([python, str(script), f"http://127.0.0.1:{port}{BASE}", TOKEN, "try.ipynb"], check=True)


def magic(runs: Path) -> None:
    """`%mindscope` shows a page, has one server for a directory, and says in one line what it does not understand."""
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "mindscope")
    first = shell.run_line_magic("mindscope", f"{runs} --page histograms --height 400")
    again = shell.run_line_magic("mindscope", str(runs))
    other = shell.run_line_magic("mindscope", demo_directory())
    assert first.height == 400
    assert first.src.endswith("/histograms?embed=1")
    root = first.src.removesuffix("histograms?embed=1")
    assert again.src == f"{root}scalars?embed=1"
    assert not other.src.startswith(root)
    assert _asked(urllib.request.Request(first.src))[0] == 200
    for wrong in ("/no/such/place", f"{runs} --page nothing", f"{runs} --height tall", f"{runs} --nothing", "'"):
        assert shell.run_line_magic("mindscope", wrong) is None, wrong


def _asked(request: urllib.request.Request) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return int(answer.status), answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")
    except OSError as error:
        return 0, str(error)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
