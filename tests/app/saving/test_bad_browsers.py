"""What becomes of a save with real processes in place of a Chromium: that hang, crash, are none, and on disks that are full."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.saving import chromium
from app.saving.chromium import Chromium, ChromiumEnded, find_chromium
from app.saving.output import SaveError, kind_of, refuse_existing, write_file
from tests.app.commands.running import called
from tests.recorded import RECORDED

ANSWERS_ONCE = """#!/bin/sh
echo $$ > "$(dirname "$0")/pid"
head -c 20 <&3 > /dev/null
printf '{"id":1,"result":{}}\\0' >&4
exec sleep 600
"""


def program(folder: Path, text: str) -> str:
    path = folder / "browser"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_browser_that_never_answers_is_stopped(tmp_path: Path) -> None:
    path = program(tmp_path, '#!/bin/sh\necho $$ > "$(dirname "$0")/pid"\nexec sleep 600\n')
    began = time.monotonic()
    with pytest.raises(SaveError, match=r"has not answered for 0\.3 s \(Browser\.getVersion\) and was stopped"):
        Chromium(path, patience=0.3).__enter__()
    assert time.monotonic() - began < 60, "not as long as it would have slept"
    assert ended(int((tmp_path / "pid").read_text()))


def test_a_browser_that_hangs_later_is_stopped(tmp_path: Path) -> None:
    path = program(tmp_path, ANSWERS_ONCE)
    said = r"has not answered for 0\.3 s \(Page\.enable\)"
    with pytest.raises(SaveError, match=said), Chromium(path, patience=20) as browser:
        browser.call("Page.enable", patience=0.3)
    assert ended(int((tmp_path / "pid").read_text()))


def test_a_browser_that_does_not_read_is_stopped(tmp_path: Path) -> None:
    path = program(tmp_path, ANSWERS_ONCE)
    with pytest.raises(SaveError, match="does not read what it is sent"), Chromium(path, patience=20) as browser:
        browser.call("Page.navigate", {"url": "x" * (1 << 20)}, patience=0.3)
    assert ended(int((tmp_path / "pid").read_text()))


def test_a_browser_that_crashes_is_reported_with_its_last_words(tmp_path: Path) -> None:
    path = program(tmp_path, "#!/bin/sh\necho 'error while loading\033[1m libnss3.so' >&2\nexit 127\n")
    with pytest.raises(ChromiumEnded, match=r"ended unexpectedly \(.*browser\): error while loading \[1m libnss3\.so"):
        Chromium(path, patience=20).__enter__()


def test_the_reason_of_a_missing_sandbox_is_found_among_others(tmp_path: Path) -> None:
    path = program(tmp_path, "#!/bin/sh\necho 'No usable sandbox!' >&2\necho '#0 0x55' >&2\nexit 1\n")
    with pytest.raises(ChromiumEnded, match="No usable sandbox!"):
        Chromium(path, patience=20).__enter__()


def test_what_is_no_program_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match=r"cannot be started.*Exec format error"):
        Chromium(program(tmp_path, "\x00\x01"), patience=5).__enter__()


def test_no_file_of_a_browser_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with pytest.raises(SaveError):
        Chromium(program(tmp_path, "#!/bin/sh\nexit 1\n"), patience=20).__enter__()
    assert os.listdir(tmp_path / "temporary") == []


# Finding one ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser; gives the user's home."""
    for name in (chromium.VARIABLE, "PLAYWRIGHT_BROWSERS_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(chromium, "_PLACES", ())
    return tmp_path


def test_without_a_browser_one_line_says_how_to_get_one(nothing_installed: Path, own_environment: None) -> None:
    done = called("save", "scalars", "--out", nothing_installed / "a.png", RECORDED)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "apt install chromium" in done.stderr
    assert chromium.VARIABLE in done.stderr
    assert not (nothing_installed / "a.png").exists()


def test_playwrights_newest_is_found(nothing_installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, age in (("1200", 5), ("1300", 1)):
        folder = nothing_installed / f".cache/ms-playwright/chromium_headless_shell-{number}/chrome-linux"
        folder.mkdir(parents=True)
        path = folder / "headless_shell"
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        os.utime(path, (1e9 - age, 1e9 - age))
    assert "chromium_headless_shell-1300" in find_chromium()


def test_one_on_the_path_is_found_and_a_named_one_comes_first(nothing_installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (nothing_installed / "bin").mkdir()
    for name in ("chromium", "other"):
        (nothing_installed / "bin" / name).write_text("#!/bin/sh\n")
        (nothing_installed / "bin" / name).chmod(0o755)
    assert find_chromium() == str(nothing_installed / "bin/chromium")
    monkeypatch.setenv(chromium.VARIABLE, "other")
    assert find_chromium() == str(nothing_installed / "bin/other")
    with pytest.raises(SaveError, match="expected the program of a Chromium, found '/nowhere'"):
        find_chromium("/nowhere")


# Writing -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_reported_and_leaves_nothing(small_disk: Path) -> None:
    with pytest.raises(SaveError, match=r"a\.png could not be written: No space left on device"):
        write_file(str(small_disk / "a.png"), b"x" * 50_000, force=False)
    assert os.listdir(small_disk) == []


def test_a_full_disk_keeps_the_file_that_was_to_be_replaced(small_disk: Path) -> None:
    (small_disk / "a.png").write_bytes(b"old")
    with pytest.raises(SaveError, match="No space left"):
        write_file(str(small_disk / "a.png"), b"x" * 50_000, force=True)
    assert (small_disk / "a.png").read_bytes() == b"old"
    assert os.listdir(small_disk) == ["a.png"]


def test_a_file_is_replaced_only_if_that_is_wanted(tmp_path: Path) -> None:
    path = str(tmp_path / "a.png")
    write_file(path, b"1", force=False)
    with pytest.raises(FileExistsError):
        refuse_existing(path, force=False)
    with pytest.raises(FileExistsError, match="expected a new file, or --force"):  # it has appeared meanwhile
        write_file(path, b"2", force=False)
    assert Path(path).read_bytes() == b"1"
    refuse_existing(path, force=True)
    write_file(path, b"3", force=True)
    assert Path(path).read_bytes() == b"3"
    assert os.listdir(tmp_path) == ["a.png"]
    os.symlink("nowhere", tmp_path / "b.png")
    with pytest.raises(FileExistsError):
        refuse_existing(str(tmp_path / "b.png"), force=False)


def test_kinds_are_those_of_names() -> None:
    assert kind_of("a/b.PNG") == "png"
    with pytest.raises(ValueError, match=r"ends in \.html, \.png, \.svg, \.pdf, \.csv, \.json, found 'a\.gif'"):
        kind_of("a.gif")


@pytest.mark.parametrize(("arguments", "said"), [
    (["scalar", "--out", "a.png"], "did you mean scalars?"),
    (["scalars", "--out", "a.gif"], "--out: expected a name that ends in"),
    (["scalars", "--out", "nowhere/a.png"], "--out: expected a file in an existing directory"),
    (["scalars", "--out", "a.png", "--width", "wide"], "--width: expected a whole number of px, found 'wide'"),
    (["scalars", "--out", "a.png", "--width", "7"], "width: expected 300 to 8000 px, found 7"),
    (["scalars", "--out", "a.png", "--theme", "grey"], "theme: expected light or dark"),
    (["scalars", "--out", "a.png", "--lang", "de"], "lang: expected en or zh"),
    (["scalars", "--out", "a.png", "--patience", "nan"], "--patience: expected a number of seconds"),
    (["timeline", "--out", "a.csv"], "--out: expected the page scalars for .csv"),
    (["scalars?run=", "--out", "a.csv"], "expected a page with runs"),
    (["http://127.0.0.1:9/scalars", "--out", "a.csv"], "api/scalars.csv"),
    (["http://127.0.0.1:9/scalars", "--out", "a.png", "runs"], "found the address of a server"),
])  # fmt: skip
def test_wrong_options(
    own_environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    directory = [] if arguments[0].startswith("http") else [str(RECORDED)]
    done = called("save", *arguments, *directory)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) in ([], ["cache"])


def test_a_server_that_is_not_there(own_environment: None, tmp_path: Path) -> None:
    done = called("save", "http://127.0.0.1:9/scalars", "--out", tmp_path / "a.png")
    assert done.returncode == 1
    assert "expected a server of Mindscope at http://127.0.0.1:9/: " in done.stderr


# Data, without a browser ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_data_are_those_of_an_export(nothing_installed: Path, own_environment: None, kind: str) -> None:
    runs = ["lenet_sink_mode", "long_history"]
    saved, exported = nothing_installed / f"a.{kind}", nothing_installed / f"b.{kind}"
    done = called("save", f"scalars?run={runs[0]}&run={runs[1]}", "--out", saved, RECORDED)
    assert done.returncode == 0, done.stderr
    assert called("export", RECORDED, "--out", exported, "--format", kind, "--runs", f"^({'|'.join(runs)})$").returncode == 0
    assert saved.read_bytes() == exported.read_bytes()
    assert saved.stat().st_size > 1000
    again = called("save", "scalars", "--out", saved, RECORDED)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_data_of_one_card_are_those_of_its_tag(own_environment: None, tmp_path: Path) -> None:
    saved, exported = tmp_path / "a.csv", tmp_path / "b.csv"
    assert called("save", "scalars", "--card", "loss", "--out", saved, RECORDED).returncode == 0
    assert called("export", RECORDED, "--out", exported, "--tags", "^loss$").returncode == 0
    assert saved.read_bytes() == exported.read_bytes()
    assert called("save", "scalars?run=none_such", "--out", tmp_path / "c.csv", RECORDED).returncode == 2
