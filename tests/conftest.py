"""Where test data outside the project is found."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.amounts import EXAMPLES

pytest_plugins = ("tests.durations",)

# More tests run at once than there are processors. Threads of OpenMP that find none free wait in loops: on a busy machine the
# shares of settings took seven times the processor time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

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


def pytest_configure() -> None:
    """Let what tests start be interrupted, also where a shell runs the tests in the background and has that ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect tests without looking for garbage.

    What is imported stays. Looking through it again and again took a quarter of the time; later searches leave it out, and come
    more seldom, as they took a twentieth of the time of tests.
    """
    gc.disable()
    try:
        import_own_share_first(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(10_000, 20, 20)


def import_own_share_first(config: pytest.Config) -> None:
    """In a worker of pytest-xdist, import the modules of tests before they are collected, each worker from another one on.

    All workers collect the same modules in the same order. In a clean checkout those that do so together compile each of them
    several times; this way each compiles its share, and finds the others on disk. The first worker just collects.
    """
    worker, workers = (os.environ.get(f"PYTEST_XDIST_WORKER{name}", "") for name in ("", "_COUNT"))
    number = int(worker.removeprefix("gw") or 0)
    if not number:
        return
    left_out = [Path(path).resolve() for path in config.getoption("ignore") or ()]
    every = [
        path for place in map(Path, config.args) for path in sorted(place.resolve().rglob("test_*.py"))
        if not any(path.is_relative_to(one) for one in left_out)
    ]  # fmt: skip
    first = number * len(every) // int(workers)
    for path in every[first:] + every[:first]:
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
