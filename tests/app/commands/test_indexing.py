"""`mindscope index`: a server finds everything in its index; what is refused in one line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app import dask_engine
from app.commands.cli import main
from app.store.runs.index import Index
from app.store.store import Store
from parsers import discover
from parsers.profiler.registry import FRAMES
from tests.amounts import long_after
from tests.app.commands.running import run
from tests.recorded import RECORDED

pytestmark = pytest.mark.usefixtures("own_environment")


def frames_kept(workspace: Path) -> int:
    index = Index(str(workspace / "index-profiles"))
    kept = len(index.keys())
    index.close()
    return kept


def test_runs_and_profiles_are_read_once(tmp_path: Path) -> None:
    runs, workspace = tmp_path / "runs", tmp_path / "workspace"
    shutil.copytree(RECORDED, runs)
    first = run("index", runs, "--workspace", workspace)
    assert (first.returncode, first.stdout) == (0, "")
    count = sum(len(source.leaves) for source in discover(runs))
    assert f"{count} runs: {count} read, 0 had grown, 0 were in the index" in first.stderr
    second = run("index", runs, "--workspace", workspace)
    assert f"{count} runs: 0 read, 0 had grown, {count} were in the index" in second.stderr


@pytest.mark.long
def test_frames_of_a_profile_are_kept(tmp_path: Path) -> None:
    session = tmp_path / "runs" / "run" / "ASCEND_PROFILER_OUTPUT"
    session.mkdir(parents=True)
    line = "Conv2D,{at}.5\t,10.25,AI_CORE,0,N/A\n"
    header = "Name,Start Time(us),Duration(us),Accelerator Core,Step Id,Input Shapes\n"
    (session / "kernel_details.csv").write_text(header + "".join(line.format(at=at) for at in range(20_000)))
    workspace = tmp_path / "workspace"
    done = run("index", tmp_path / "runs", "--workspace", workspace)
    assert done.returncode == 0, done.stderr
    assert "frames and traces of profiles" in done.stderr
    assert frames_kept(workspace) > 0
    store = Store([str(tmp_path / "runs")], interval=0, index_directory=str(workspace / "index")).start()
    assert store.wait(30)
    profile = store.profiles.rows("run")[0]
    assert "kernels" in FRAMES
    assert {"kernels"} <= set(profile.frames)
    store.stop()


@pytest.mark.parametrize(("arguments", "said"), long_after(2, [
    (["no/such/place"], "DIR: expected an existing directory"),
    ([".", "--dask", "tcp://192.0.2.1:8786"], "--dask: Dask unpickles what comes from its scheduler"),
    ([".", "--dask", "nonsense"], "--dask: expected the address of a Dask scheduler"),
]))  # fmt: skip
def test_mistakes_are_one_line(arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    arguments = [str(tmp_path / "runs") if one == "." else one for one in arguments]
    done = run("index", *arguments, "--workspace", tmp_path / "workspace")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_scheduler_that_cannot_be_reached_is_told_and_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """In this process, where connecting is tried for a shorter time."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(dask_engine, "CONNECT_S", 0.3)
    shutil.copytree(RECORDED / "long_history", tmp_path / "runs" / "long_history")
    workspace = str(tmp_path / "workspace")
    assert main(["index", str(tmp_path / "runs"), "--workspace", workspace, "--dask", "127.0.0.1:1"]) == 0
    said = capsys.readouterr().err
    assert "cannot be reached" in said + caplog.text
    assert "1 runs: 1 read" in said


def test_profiles_that_did_not_change_are_not_opened_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    session, workspace = tmp_path / "runs" / "run" / "ASCEND_PROFILER_OUTPUT", tmp_path / "workspace"
    session.mkdir(parents=True)
    kernels = session / "kernel_details.csv"
    lines = "".join(f"Conv2D,{at}.5\t,10.25,AI_CORE,0,N/A\n" for at in range(6_000))
    kernels.write_text("Name,Start Time(us),Duration(us),Accelerator Core,Step Id,Input Shapes\n" + lines)

    def indexed() -> str:
        assert main(["index", str(tmp_path / "runs"), "--workspace", str(workspace)]) == 0
        return capfd.readouterr().err.splitlines()[-1]

    first = indexed()
    assert first.endswith("frames and traces of profiles")
    assert frames_kept(workspace) > 1
    assert indexed() == f"{first} were in the index"
    with kernels.open("a") as file:
        file.write("Conv2D,9000.5\t,10.25,AI_CORE,0,N/A\n")
    assert indexed() == first
    index = Index(str(workspace / "index-profiles"))
    index.delete(next(key for key in index.keys() if not key.startswith("kept-")))  # noqa: SIM118  not a dict
    index.close()
    assert indexed() == first
    assert indexed() == f"{first} were in the index"
    (session / "elsewhere").symlink_to(tmp_path / "other")
    assert indexed() == first
    assert indexed() == first, "what lies behind a link may have changed"


def test_small_profiles_which_the_index_does_not_keep_are_not_opened_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    session, workspace = tmp_path / "runs" / "run" / "ASCEND_PROFILER_OUTPUT", tmp_path / "workspace"
    session.mkdir(parents=True)
    head = "Name,Start Time(us),Duration(us),Accelerator Core,Step Id,Input Shapes\n"
    (session / "kernel_details.csv").write_text(f"{head}Conv2D,1.5\t,10.25,AI_CORE,0,N/A\n")

    def indexed() -> str:
        assert main(["index", str(tmp_path / "runs"), "--workspace", str(workspace)]) == 0
        return capfd.readouterr().err.splitlines()[-1]

    first = indexed()
    assert first.endswith("frames and traces of profiles")
    assert frames_kept(workspace) == 1  # the note that they were read
    assert indexed() == f"{first} were in the index"
