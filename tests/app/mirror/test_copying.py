"""What a mirror does to its copies: as the remote files are, and never parts of two."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from app.mirror import STATE, copies
from app.mirror.copies import Copies
from app.mirror.planning import CopyLimits
from app.mirror.remote import RemoteError, RemoteFile
from app.mirror.state import FAILED, LARGE, REMOVED, read_state
from app.mirror.wishes import Wishes, write_wishes
from tests.app.mirror.places import EVENTS, Directory, contents, copy_once, finished, mirror_of, write

NAME = f"a/{EVENTS}"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    return tmp_path / "here"


def entries(here: Path) -> dict[str, object]:
    found = read_state(str(here))
    assert found is not None
    return {entry.name: entry for entry in found.entries}


def test_nothing_is_copied_from_an_empty_place(there: Path, here: Path) -> None:
    assert copy_once(Directory(there), here) == 0
    assert contents(here) == {}


def test_copies_have_contents_and_time_of_the_remote_files(there: Path, here: Path) -> None:
    names = [NAME, "run with space/summary.1.x_MS", "百分 100%#1/events.out.tfevents.2.h", f"deep/er/{EVENTS}", "a/config.json"]
    for number, name in enumerate(names):
        write(there / name, name.encode() * (number + 1), 1_600_000_000.0 + number)
    write(there / "a/model.ckpt", b"weights")
    assert copy_once(Directory(there), here) == 0
    assert set(contents(here)) == set(names)
    for number, name in enumerate(names):
        assert (here / name).read_bytes() == name.encode() * (number + 1)
        assert (here / name).stat().st_mtime == 1_600_000_000.0 + number


def test_a_file_that_grew_is_appended_to_in_place(there: Path, here: Path) -> None:
    data = random.Random(1).randbytes(50_000)
    write(there / NAME, data[:20_000], 1.0)
    copy_once(Directory(there), here)
    before = (here / NAME).stat().st_ino
    write(there / NAME, data, 2.0)
    remote = Directory(there)
    copy_once(remote, here)
    assert (here / NAME).read_bytes() == data
    assert (here / NAME).stat().st_ino == before, "readers of a growing file keep their place"
    assert remote.counts.bytes == 30_000 + 4096
    assert [one for one in remote.asked if one[0] == "read"] == [("read", NAME)]


def test_one_of_fewer_bytes_than_a_comparison_grows(there: Path, here: Path) -> None:
    write(there / NAME, b"ab", 1.0)
    copy_once(Directory(there), here)
    write(there / NAME, b"abcd", 2.0)
    copy_once(Directory(there), here)
    assert (here / NAME).read_bytes() == b"abcd"


@pytest.mark.parametrize("size", [10, 20_000, 19_999, 50_000])
def test_a_file_that_was_replaced_is_fetched_anew(there: Path, here: Path, size: int) -> None:
    write(there / NAME, b"1" * 20_000, 1.0)
    copy_once(Directory(there), here)
    before = (here / NAME).stat().st_ino
    write(there / NAME, b"2" * size, 2.0)
    copy_once(Directory(there), here)
    assert (here / NAME).read_bytes() == b"2" * size
    assert (here / NAME).stat().st_ino != before


def test_a_new_version_of_the_same_size_and_time_is_noticed_by_its_tag(there: Path, here: Path) -> None:
    write(there / NAME, b"1" * 100, 5.0)
    remote = Directory(there)
    remote.tags[NAME] = "one"
    copy_once(remote, here)
    write(there / NAME, b"2" * 100, 5.0)
    remote.tags[NAME] = "two"
    copy_once(remote, here)
    assert (here / NAME).read_bytes() == b"2" * 100


def test_what_is_unchanged_is_not_asked_for(there: Path, here: Path) -> None:
    write(there / NAME, b"1" * 100)
    copy_once(Directory(there), here)
    remote = Directory(there)
    copy_once(remote, here)
    assert remote.asked == [("open", ""), ("list", "")]


def test_a_lost_or_damaged_state_costs_nothing_that_is_copied(there: Path, here: Path) -> None:
    write(there / NAME, b"1" * 100)
    copy_once(Directory(there), here)
    state = here / STATE
    for damage in (b"", state.read_bytes().replace(b"there", b"where")):
        state.write_bytes(damage)
        assert read_state(str(here)) is None
        remote = Directory(there)
        copy_once(remote, here)
        assert ("read", NAME) not in remote.asked


def test_what_is_deleted_or_renamed_there_goes_here_too(there: Path, here: Path) -> None:
    write(there / NAME, b"1")
    write(there / f"b/{EVENTS}", b"2")
    copy_once(Directory(there), here)
    (there / "a").rename(there / "c")
    copy_once(Directory(there), here)
    assert contents(here) == {f"c/{EVENTS}": b"1", f"b/{EVENTS}": b"2"}
    assert not (here / "a").exists()


def test_fewer_bytes_than_asked_never_make_a_copy(there: Path, here: Path) -> None:
    write(there / NAME, b"1" * 5000)
    assert copy_once(Directory(there, lambda what, name: 100 if what == "read" else None), here) == 1
    assert contents(here) == {}
    assert [(one.state, one.reason) for one in entries(here).values()] == [(FAILED, "short")]  # type: ignore[attr-defined]
    assert copy_once(Directory(there), here) == 0
    assert (here / NAME).read_bytes() == b"1" * 5000


class EndsEarly(Directory):
    """A server whose answers end early, and a library that does not notice."""

    async def read(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        with contextlib.suppress(RemoteError):
            async for piece in super().read(file, begin):
                yield piece


def test_an_answer_that_ends_early_unnoticed_never_makes_a_copy(there: Path, here: Path) -> None:
    write(there / NAME, b"1" * 5000)
    assert copy_once(EndsEarly(there, lambda what, name: 100 if what == "read" else None), here) == 1
    assert contents(here) == {}
    assert [(one.state, one.reason) for one in entries(here).values()] == [(FAILED, "short")]  # type: ignore[attr-defined]
    assert copy_once(EndsEarly(there), here) == 0
    assert (here / NAME).read_bytes() == b"1" * 5000


def test_a_copy_that_grew_by_less_than_the_file_is_not_called_complete(there: Path, here: Path) -> None:
    data = random.Random(3).randbytes(50_000)
    write(there / NAME, data[:20_000], 1.0)
    copy_once(EndsEarly(there), here)
    write(there / NAME, data, 2.0)
    assert copy_once(EndsEarly(there, lambda what, name: 5000 if what == "read" else None), here) == 1
    assert [(one.state, one.reason) for one in entries(here).values()] == [(FAILED, "short")]  # type: ignore[attr-defined]
    assert (here / NAME).read_bytes() == data[:45_000]
    assert (here / NAME).stat().st_mtime != 2.0
    assert copy_once(EndsEarly(there), here) == 0
    assert (here / NAME).read_bytes() == data


def test_what_came_of_an_append_stays_and_goes_on(there: Path, here: Path) -> None:
    data = random.Random(2).randbytes(50_000)
    write(there / NAME, data[:20_000], 1.0)
    copy_once(Directory(there), here)
    write(there / NAME, data, 2.0)
    copy_once(Directory(there, lambda what, name: 5000 if what == "read" else None), here)
    assert (here / NAME).read_bytes() == data[:45_000]
    remote = Directory(there)
    copy_once(remote, here)
    assert (here / NAME).read_bytes() == data
    assert remote.counts.bytes == 5000 + 4096


def test_a_full_disk_is_named_and_leaves_nothing_half(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_to_full(descriptor: int, data: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(there / NAME, b"1" * 5000)
    with monkeypatch.context() as patched:
        patched.setattr(copies.os, "write", write_to_full)
        assert copy_once(Directory(there), here) == 1
    assert [one.reason for one in entries(here).values()] == ["full"]  # type: ignore[attr-defined]
    assert contents(here) == {}
    assert not [name for name in os.listdir(here / "a") if "part" in name]
    assert copy_once(Directory(there), here) == 0


def test_a_server_that_fails_is_asked_again_later_each_time(there: Path, here: Path) -> None:
    write(there / NAME, b"1")
    failures = [RemoteError("broken", "500"), RemoteError("busy", "503"), RemoteError("slow")]
    said: list[str] = []

    def fail(what: str, name: str) -> None:
        if what == "list" and failures:
            raise failures.pop(0)

    async def work() -> None:
        mirror = mirror_of(Directory(there, fail), here)
        mirror.say = said.append
        task = asyncio.create_task(mirror.run(once=False))
        reasons = set()
        while not (here / NAME).exists():
            await asyncio.sleep(0.01)
            state = read_state(str(here))
            reasons.add(state.facts.reason if state else "")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert reasons >= {"broken", "busy", "slow"}

    finished(asyncio.wait_for(work(), 60))
    assert [line.rpartition(" in ")[2] for line in said if "next try" in line] == ["1 s", "2 s", "4 s"]


def test_refused_credentials_are_not_tried_again(there: Path, here: Path) -> None:
    def fail(what: str, name: str) -> None:
        if what == "list" and remote.counts.requests > 2:  # they expire in the middle
            raise RemoteError("refused", "ExpiredToken")

    write(there / NAME, b"1")
    remote = Directory(there, fail)
    with pytest.raises(RemoteError, match="refused"):
        finished(asyncio.wait_for(mirror_of(remote, here).run(once=False), 60))
    assert [what for what, _ in remote.asked].count("list") == 2
    state = read_state(str(here))
    assert state is not None
    assert (state.facts.reason, state.facts.code, state.facts.retry_at) == ("refused", "ExpiredToken", 0.0)
    assert (here / NAME).read_bytes() == b"1", "what is copied stays"


def test_a_large_file_is_listed_and_fetched_when_asked_for(there: Path, here: Path, tmp_path: Path) -> None:
    write(there / NAME, b"1" * 5000)
    limits, wishes = CopyLimits(largest=4000), str(tmp_path / "wishes")
    assert copy_once(Directory(there), here, limits=limits, wishes=wishes) == 0
    assert [(one.state, one.wanted) for one in entries(here).values()] == [(LARGE, 5000)]  # type: ignore[attr-defined]
    write_wishes(wishes, Wishes(fetch=(NAME,)))
    copy_once(Directory(there), here, limits=limits, wishes=wishes)
    assert contents(here) == {NAME: b"1" * 5000}
    write_wishes(wishes, Wishes())
    copy_once(Directory(there), here, limits=limits, wishes=wishes)
    assert contents(here), "it was asked for once"


def test_copies_not_viewed_for_longest_make_room(there: Path, here: Path, tmp_path: Path) -> None:
    for number in range(4):
        write(there / f"run{number}/{EVENTS}", bytes(1000), 1000.0 + number)
    wishes, limits = str(tmp_path / "wishes"), CopyLimits(most=2500)
    write_wishes(wishes, Wishes(screen=("run0",)))
    copy_once(Directory(there), here, limits=limits, wishes=wishes)
    assert sorted(contents(here)) == [f"run0/{EVENTS}", f"run3/{EVENTS}"]
    write_wishes(wishes, Wishes(screen=("run1",)))
    copy_once(Directory(there), here, limits=limits, wishes=wishes)
    assert sorted(contents(here)) == [f"run0/{EVENTS}", f"run1/{EVENTS}"], "run0 was on screen, run3 never"
    assert entries(here)[f"run3/{EVENTS}"].state == REMOVED  # type: ignore[attr-defined]


def test_runs_on_screen_come_first_then_the_newest(there: Path, here: Path, tmp_path: Path) -> None:
    for number in range(60):
        write(there / f"run{number:02}/{EVENTS}", b"1", 1000.0 + number)
    wishes = str(tmp_path / "wishes")
    write_wishes(wishes, Wishes(screen=("run05",)))
    remote = Directory(there)
    copy_once(remote, here, wishes=wishes)
    asked = [name for what, name in remote.asked if what == "read"]
    assert asked[:3] == [f"run{number:02}/{EVENTS}" for number in (5, 59, 58)]
    assert len(asked) == 60


def test_growth_is_followed_and_only_its_directory_is_listed(there: Path, here: Path) -> None:
    for number in range(3):
        write(there / f"run{number}/{EVENTS}", b"old", 1000.0)

    async def work() -> list[tuple[str, str]]:
        remote = Directory(there)
        mirror = mirror_of(remote, here)
        task = asyncio.create_task(mirror.run(once=False))
        while len(contents(here)) < 3:
            await asyncio.sleep(0.01)
        write(there / f"run1/{EVENTS}", b"old and new", 2000.0)
        while (here / f"run1/{EVENTS}").read_bytes() != b"old and new":
            await asyncio.sleep(0.01)
        remote.asked.clear()
        mirror._full_at = float("inf")  # as after a listing that took long
        write(there / f"run1/{EVENTS}", b"old and new and newer", 3000.0)
        while (here / f"run1/{EVENTS}").read_bytes() != b"old and new and newer":
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return remote.asked

    asked = finished(asyncio.wait_for(work(), 60))
    assert {one for one in asked if one[0] == "list"} == {("list", "run1")}


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/../../x", "a//x", "", ".", "a/..", "a\\..\\x", "a\0b", ".mindscope-mirror", "a/" + "n" * 256]
)
def test_names_that_lead_outside_are_never_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(RemoteError, match="name"):
        Copies(str(tmp_path)).path(name)


def test_a_link_on_this_disk_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "copies").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "copies" / "a").symlink_to(tmp_path / "outside")
    remote = Directory(tmp_path)
    with pytest.raises(RemoteError, match="name"):
        finished(Copies(str(tmp_path / "copies")).bring(remote, RemoteFile(NAME, 1, 1.0)))  # type: ignore[arg-type]
    assert os.listdir(tmp_path / "outside") == []


def test_a_copy_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "copies" / NAME
    victim.write_bytes(b"secret")
    link.parent.mkdir(parents=True)
    link.symlink_to(victim)
    with pytest.raises(RemoteError, match="name"):
        finished(Copies(str(tmp_path / "copies")).bring(Directory(tmp_path), RemoteFile(NAME, 9, 1.0)))  # type: ignore[arg-type]
    assert victim.read_bytes() == b"secret"


def test_what_a_killed_mirror_left_is_removed(there: Path, here: Path) -> None:
    write(here / "a" / ".mindscope-part-xyz", b"half")
    write(there / NAME, b"1")
    copy_once(Directory(there), here)
    assert os.listdir(here / "a") == [EVENTS]
