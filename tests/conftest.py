"""Where test data outside the project is found."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.amounts import EXAMPLES

pytest_plugins = ("tests.durations",)

# A busy machine draws slowly and a first run builds its tables of characters: neither says anything about what is tested.
# In continuous integration the examples are the same every time, so that a failure is one of the change. `make test` tries few
# examples, since it is repeated all day; `make test-long` tries all, MINDSCOPE_EXAMPLES=1000 more.
settings.register_profile(
    "mindscope",
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("mindscope")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests without looking for garbage.

    What is imported stays. Looking through it again and again took a quarter of the time; later searches leave it out.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files that MINDSCOPE_TEST_DATA names; the test is skipped without one."""
    folder = os.environ.get("MINDSCOPE_TEST_DATA", "")
    if not os.path.isdir(os.path.join(folder, "summary")):
        pytest.skip("MINDSCOPE_TEST_DATA names no folder of real files")
    return Path(folder)
