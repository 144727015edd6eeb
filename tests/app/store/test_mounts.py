"""A workspace on a network file system is named; what is local, or cannot be known, is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.commands import serving
from app.store.mounts import network_of

LINES = """\
22 28 0:20 / /proc rw,nosuid shared:11 - proc proc rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
41 28 0:38 / {base}/home rw,relatime shared:20 - nfs4 server:/home rw,vers=4.2
42 41 0:39 / {base}/home/me/scratch rw shared:21 - ext4 /dev/vdb rw
43 28 0:40 / {base}/a\\040b rw - cifs //server/share rw
44 28 0:41 / {base}/lustre rw master:1 propagate_from:2 - lustre 10.0.0.1@tcp:/fs rw
45 28 0:42 / {base}/over rw - nfs server:/over rw
46 45 0:43 / {base}/over rw - tmpfs tmpfs rw
a line that is none
"""


@pytest.fixture
def mounts(tmp_path: Path) -> str:
    (tmp_path / "mountinfo").write_text(LINES.format(base=tmp_path))
    return str(tmp_path / "mountinfo")


@pytest.mark.parametrize(("place", "name"), [
    ("home/me", "NFS"), ("home", "NFS"), ("homes", ""), ("home/me/scratch/x", ""), ("a b/x", "SMB"), ("lustre/run", "Lustre"),
    ("over/x", ""), ("", ""), ("nowhere", ""),
])  # fmt: skip
def test_the_file_system_is_that_of_the_innermost_mount(tmp_path: Path, mounts: str, place: str, name: str) -> None:
    assert network_of(str(tmp_path / place), mounts) == name


def test_a_link_counts_as_its_target(tmp_path: Path, mounts: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    assert network_of(str(tmp_path / "link"), mounts) == "NFS"


def test_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    assert network_of(str(tmp_path), str(tmp_path / "none")) == ""
    assert network_of(os.sep) == "", "the root of this machine is local"


def test_the_warning_is_one_line_with_the_setting(tmp_path: Path, mounts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.store.mounts.MOUNTS", mounts)
    found = serving.warnings_of(serving.Directories(str(tmp_path / "home"), ""))
    assert len(found) == 1
    assert "NFS" in found[0]
    assert "--workspace" in found[0]
    assert "\n" not in found[0]
    assert serving.warnings_of(serving.Directories(str(tmp_path / "local"), "")) == []
    assert serving.warnings_of(serving.Directories("", "", "no place")) == ["no place"]
