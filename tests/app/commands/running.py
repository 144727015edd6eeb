"""Runs the program as users do, and asks a server."""

from __future__ import annotations

import contextlib
import io
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from app.commands.cli import main

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(*arguments: object, **options) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False, **options)


def called(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Do the same within this process, which costs a tenth: where the command is tested and not how a process starts."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = int(str(ended.code or 0))
    written, said = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return subprocess.CompletedProcess(arguments, code, written, said)


def get(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
