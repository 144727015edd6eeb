"""Saving with an environment of its own."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def own_environment(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in list(os.environ):
        if name.startswith(("MINDSCOPE_", "MINDINSIGHT_", "DASH_")):
            monkeypatch.delenv(name)
