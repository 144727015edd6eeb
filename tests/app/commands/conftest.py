"""Commands run with an environment of their own, over a directory for runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def own_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in list(os.environ):
        if name.startswith(("MINDSCOPE_", "MINDINSIGHT_", "DASH_")):
            monkeypatch.delenv(name)


@pytest.fixture
def base(tmp_path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"
