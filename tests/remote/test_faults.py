"""Stores that answer badly, through the real client: what is said, what is tried again, and that no copy is mixed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.mirror.state import read_state
from tests.app.mirror.places import EVENTS
from tests.remote.faults import (
    BROKEN,
    EXPIRED,
    SLOW_DOWN,
    Fault,
    FaultyProxy,
    Proxied,
    answering,
    dropping,
    faulty,
    trickling,
    truncating,
)
from tests.remote.servers import BUCKET, SECRETS, ObjectStore
from tests.waiting import until

ROOT = Path(__file__).parents[2]
DATA = bytes(range(256)) * 4096


def started(store: ObjectStore, proxy: FaultyProxy, place: str, directory: Path) -> subprocess.Popen[str]:
    """A mirror that looks twice a second."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "FSSPEC_"))}
    found = kept | store.environment | {"AWS_ENDPOINT_URL": proxy.url, "HOME": str(directory.parent)}
    command = [sys.executable, "-m", "app", "mirror", f"s3://{BUCKET}/{place}", str(directory), "--every", "0.5"]
    return subprocess.Popen(command, cwd=ROOT, env=found, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def state_of(directory: Path) -> tuple[str, str, str]:
    """State, reason and code of the file."""
    state = read_state(str(directory)) if directory.is_dir() else None
    one = next(iter(state.entries), None) if state else None
    return (one.state, one.reason, one.code) if one else ("", "", "")


@pytest.mark.parametrize(("fault", "reason"), [
    (answering(503, SLOW_DOWN, 1), "busy"), (answering(500, BROKEN, 1), "broken"), (truncating(1, 0.5), "short"),
    (truncating(1, 0.0), "short"), (dropping(4), "unreachable"),
], ids=["503", "500", "half", "nothing", "dropped"])  # fmt: skip
def test_a_bad_answer_is_told_and_the_file_fetched_again(
    object_store: ObjectStore, tmp_path: Path, fault: Fault, reason: str, request: pytest.FixtureRequest
) -> None:
    place, copy = f"faulty-{request.node.callspec.id}", tmp_path / "copy"
    object_store.put(f"{place}/a/{EVENTS}", DATA)
    with faulty(object_store.url) as proxy:
        proxy.fault = fault
        mirror = started(object_store, proxy, place, copy)
        try:
            until(lambda: state_of(copy)[1] == reason)
            assert state_of(copy)[0] == "failed"
            assert not (copy / "a" / EVENTS).exists(), "half a copy is none"
            until(lambda: state_of(copy)[0] in ("copied", "growing"))
            assert (copy / "a" / EVENTS).read_bytes() == DATA
        finally:
            mirror.terminate()
            said = mirror.communicate(timeout=30)[1]
    assert not any(secret in said for secret in SECRETS)
    assert "Message" not in said


def test_what_grew_is_appended_once_though_the_answer_was_cut(object_store: ObjectStore, tmp_path: Path) -> None:
    copy, more = tmp_path / "copy", DATA + DATA[:100_000]
    object_store.put(f"cut/a/{EVENTS}", DATA)
    with faulty(object_store.url) as proxy:
        mirror = started(object_store, proxy, "cut", copy)
        try:
            until(lambda: state_of(copy)[0] in ("copied", "growing"))
            proxy.fault = truncating(2, 0.4)
            object_store.put(f"cut/a/{EVENTS}", more)
            seen: set[int] = set()

            def whole() -> bool:
                found = (copy / "a" / EVENTS).read_bytes()
                seen.add(len(found))
                assert found == more[: len(found)], "a copy is a beginning of the file at any moment"
                return len(found) == len(more)

            until(whole)
        finally:
            mirror.terminate()
            mirror.communicate(timeout=30)
    assert len(seen) > 2


def test_credentials_that_expire_stop_the_mirror_and_are_not_tried_again(object_store: ObjectStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    object_store.put(f"expire/a/{EVENTS}", DATA)
    with faulty(object_store.url) as proxy:
        mirror = started(object_store, proxy, "expire", copy)
        until(lambda: state_of(copy)[0] in ("copied", "growing"))

        def expired(asked: Proxied) -> bool:
            asked.answer(400, EXPIRED)
            return True

        proxy.fault = expired
        said = mirror.communicate(timeout=60)[1]
        count = len(proxy.asked)
        time.sleep(2)
        assert len(proxy.asked) == count
    assert mirror.returncode == 1
    assert "access was refused: check the credentials" in said
    assert not any(secret in said for secret in SECRETS)
    assert (copy / "a" / EVENTS).read_bytes() == DATA, "what was copied stays"
    state = read_state(str(copy))
    assert state is not None
    assert (state.facts.reason, state.facts.code, state.facts.retry_at) == ("refused", "ExpiredToken", 0.0)


def test_a_slow_server_delays_no_one_but_itself(object_store: ObjectStore, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    object_store.put(f"slow/a/{EVENTS}", DATA)
    with faulty(object_store.url) as proxy:
        proxy.fault = trickling(3.0)
        mirror = started(object_store, proxy, "slow", copy)
        try:
            until(lambda: state_of(copy)[0] == "waiting")
            assert not (copy / "a" / EVENTS).exists()
            until(lambda: state_of(copy)[0] in ("copied", "growing"))
            assert (copy / "a" / EVENTS).read_bytes() == DATA
        finally:
            mirror.terminate()
            mirror.communicate(timeout=30)
