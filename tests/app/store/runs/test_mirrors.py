"""Mirrors as the server sees them: their state, what it wishes, and what pages may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app import create_app
from app.mirror import STATE
from app.mirror.planning import CopyLimits
from app.mirror.state import locked
from app.mirror.wishes import Wishes, read_wishes
from app.store.runs.mirrors import Mirrors
from app.store.store import Store
from app.web.people import People
from layouts.runs.mirrors import MirrorFile
from parsers.recording import EventWriter
from tests.app.mirror.places import EVENTS, Directory, copy_once, write

ADDRESS = "file:///there"


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """Copies of a run and of a large file that is not copied; a file of a name that cannot be written."""
    (tmp_path / "there" / "a").mkdir(parents=True)
    with EventWriter(str(tmp_path / "there" / "a" / EVENTS), "tensorboard") as writer:
        writer.add(1, {"loss": 0.5})
    write(tmp_path / "there" / "big" / EVENTS, bytes(5000))
    copy_once(Directory(tmp_path / "there"), tmp_path / "files", limits=CopyLimits(largest=4000))
    return tmp_path / "files"


@pytest.fixture
def store(copies: Path, tmp_path: Path) -> Iterator[Store]:
    made = Store([copies], interval=0, wishes={str(copies): str(tmp_path / "wishes")}).start()
    assert made.wait(30)
    yield made
    made.stop()


def test_no_mirror(tmp_path: Path) -> None:
    mirrors = Mirrors([tmp_path], {})
    assert (mirrors.rows(), mirrors.problems(), mirrors.named("x"), mirrors.fetch(ADDRESS, "a")) == ([], 0, "x", False)


def test_one_that_has_just_been_started(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    mirrors = Mirrors([tmp_path / "files"], {str(tmp_path / "files"): str(tmp_path / "wishes")})
    with locked(str(tmp_path / "files")):
        (row,) = mirrors.rows()
        assert (row.address, row.running, mirrors.problems()) == ("", True, 0)


def test_its_state_is_shown_and_whether_it_runs(store: Store, copies: Path) -> None:
    (row,) = store.runs.mirrors()
    assert (row.address, row.running, row.fetches) == (ADDRESS, False, True)
    assert row.counts == {"growing": 1, "large": 1}
    assert row.files == [MirrorFile(f"big/{EVENTS}", 5000, "large")]
    assert store.runs.status().base == ADDRESS
    assert store.runs.status().problems == 1, "it does not run"
    with locked(str(copies)):
        assert store.runs.mirrors()[0].running
        assert store.runs.status().problems == 0


def test_a_damaged_state_is_no_error(store: Store, copies: Path) -> None:
    state = copies / STATE
    for number in range(0, state.stat().st_size, 7):
        data = bytearray(state.read_bytes())
        data[number] ^= 0x40
        state.write_bytes(data)
        assert len(store.runs.mirrors()) == 1
        assert store.runs.mirrors()[0].counts == {}
        data[number] ^= 0x40
        state.write_bytes(data)
    assert store.runs.mirrors()[0].counts == {"growing": 1, "large": 1}


def test_runs_on_screen_are_wished_for(store: Store, tmp_path: Path) -> None:
    store.runs.want(["a", "no such run"])
    assert read_wishes(str(tmp_path / "wishes")) == Wishes(("a",))
    before = (tmp_path / "wishes").stat().st_mtime_ns
    store.runs.want(["a"])
    assert (tmp_path / "wishes").stat().st_mtime_ns == before


def test_a_mirror_of_others_gets_no_wishes(copies: Path, tmp_path: Path) -> None:
    mirrors = Mirrors([copies], {})
    before = sorted(tmp_path.rglob("*"))
    mirrors.want([str(copies / "a")])
    assert not mirrors.fetch(ADDRESS, f"big/{EVENTS}")
    assert not mirrors.rows()[0].fetches
    assert sorted(tmp_path.rglob("*")) == before


def test_a_large_file_is_fetched_by_its_name_only(store: Store, tmp_path: Path) -> None:
    client = create_app(store).server.test_client()

    def ask(name: str, address: str = ADDRESS) -> int:
        return client.post("/api/fetch", json={"address": address, "name": name}).status_code

    assert [ask("../x"), ask(f"a/{EVENTS}"), ask(f"big/{EVENTS}", "s3://other")] == [404, 404, 404]
    assert not (tmp_path / "wishes").exists()
    assert ask(f"big/{EVENTS}") == 200
    assert read_wishes(str(tmp_path / "wishes")).fetch == (f"big/{EVENTS}",)
    copy_once(
        Directory(tmp_path / "there"), tmp_path / "files", limits=CopyLimits(largest=4000), wishes=str(tmp_path / "wishes")
    )
    assert (tmp_path / "files" / "big" / EVENTS).stat().st_size == 5000


def test_who_may_only_read_fetches_nothing(store: Store, tmp_path: Path) -> None:
    client = create_app(store, people=People(read_only=True)).server.test_client()
    assert client.post("/api/fetch", json={"address": ADDRESS, "name": f"big/{EVENTS}"}).status_code == 403
    assert not (tmp_path / "wishes").exists()


def test_names_of_both_systems_are_the_same() -> None:
    from app.mirror.reasons import _REASONS
    from app.mirror.remote import REASONS
    from layouts.shell import mirror_texts

    assert REASONS == mirror_texts.REASONS
    assert set(_REASONS) == set(REASONS)
    assert {f"mirror.{reason}" for reason in REASONS} <= set(mirror_texts.TEXTS)


