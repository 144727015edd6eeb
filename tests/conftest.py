"""Where test data outside the project is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files that MINDSCOPE_TEST_DATA names; the test is skipped without one."""
    folder = os.environ.get("MINDSCOPE_TEST_DATA", "")
    if not os.path.isdir(os.path.join(folder, "summary")):
        pytest.skip("MINDSCOPE_TEST_DATA names no folder of real files")
    return Path(folder)
