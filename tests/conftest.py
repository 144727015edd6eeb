"""Where test data outside the project is found."""

from __future__ import annotations

import contextlib
import gc
import importlib
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
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect tests without looking for garbage.

    What is imported stays. Looking through it again and again took a quarter of the time; later searches leave it out, and come
    more seldom, as they took a twentieth of the time of tests.
    """
    gc.disable()
    try:
        import_from_the_end(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000, 20, 20)


def import_from_the_end(config: pytest.Config) -> None:
    """In every other worker of pytest-xdist, import the modules of tests from the last one on, before they are collected.

    All workers collect the same modules in the same order. In a clean checkout two that do so together compile each of them
    twice; from both ends each compiles half, and finds the other half on disk.
    """
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw") not in "13579":
        return
    left_out = [Path(path).resolve() for path in config.getoption("ignore") or ()]
    for place in map(Path, config.args):
        for path in sorted(place.resolve().rglob("test_*.py"), reverse=True):
            if not any(path.is_relative_to(one) for one in left_out):
                # What cannot be imported, or asks to be skipped, is reported when it is collected.
                with contextlib.suppress(Exception, pytest.skip.Exception):
                    importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real files that MINDSCOPE_TEST_DATA names; the test is skipped without one."""
    folder = os.environ.get("MINDSCOPE_TEST_DATA", "")
    if not os.path.isdir(os.path.join(folder, "summary")):
        pytest.skip("MINDSCOPE_TEST_DATA names no folder of real files")
    return Path(folder)
