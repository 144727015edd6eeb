"""Mirrors of an object store: semantics and numbers of requests against moto, the command as users run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from app.mirror.state import read_state
from tests.app.mirror.places import EVENTS, contents
from tests.remote.frames import DATA, PRODUCERS, files, same_runs
from tests.remote.servers import BUCKET, SECRETS, ObjectStore
from tests.waiting import until

ROOT = Path(__file__).parents[2]


EVERY = 5
"""Seconds between two looks of a mirror that serves."""


def environment(store: ObjectStore, home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "FSSPEC_"))}
    return kept | store.environment | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")} | more


def mirrored(store: ObjectStore, path: str, directory: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "mirror", f"s3://{BUCKET}/{path}", str(directory), "--once", *options]
    found = environment(store, directory.parent, **more)
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=found, timeout=120, check=False)


def since(store: ObjectStore, number: int) -> list[str]:
    return store.requests()[number:]


def test_two_thousand_keys_are_three_pages_at_most_and_one_request_for_a_change(
    object_store: ObjectStore, tmp_path: Path
) -> None:
    for number in range(2000):
        object_store.put(f"many/run{number // 20:03}/{number}.tfevents.1", b"%d" % number)
    assert mirrored(object_store, "many", tmp_path / "copy").returncode == 0
    found = contents(tmp_path / "copy")
    assert len(found) == 2000
    assert found["run099/1999.tfevents.1"] == b"1999"
    object_store.put("many/run000/0.tfevents.1", b"0 and more")
    object_store.delete("many/run000/1.tfevents.1")
    before = len(object_store.requests())
    assert mirrored(object_store, "many", tmp_path / "copy").returncode == 0
    asked = since(object_store, before)
    assert len([one for one in asked if "list-type=2" in one]) <= 2 + 2
    assert len([one for one in asked if "list-type=2" not in one]) == 1
    assert (tmp_path / "copy/run000/0.tfevents.1").read_bytes() == b"0 and more"
    assert not (tmp_path / "copy/run000/1.tfevents.1").exists()


@pytest.mark.parametrize(
    "name", ["run with space", "100%", "a#b", "训练 一", "a+b&c=d", "ü", "q?x=1", "%2e%2e", "a'b\"c"]
)
def test_names(object_store: ObjectStore, tmp_path: Path, name: str) -> None:
    object_store.put(f"names/{name}/{EVENTS}", name.encode())
    assert mirrored(object_store, "names", tmp_path / "copy").returncode == 0
    assert contents(tmp_path / "copy")[f"{name}/{EVENTS}"] == name.encode()
    object_store.delete(f"names/{name}/{EVENTS}")


def test_names_that_lead_outside_or_clash_are_named_and_the_others_copied(object_store: ObjectStore, tmp_path: Path) -> None:
    for name in ("../out.tfevents.1", "a/../../out.tfevents.1", "/out.tfevents.1", "x.tfevents.1", "x.tfevents.1/y.tfevents.1"):
        object_store.put(f"odd/{name}", b"1")
    (tmp_path / "in").mkdir()
    mirrored(object_store, "odd", tmp_path / "in" / "copy")
    assert contents(tmp_path / "in" / "copy") == {"x.tfevents.1/y.tfevents.1": b"1"}
    assert [path.name for path in (tmp_path / "in").iterdir() if "tfevents" in path.name] == []
    state = read_state(str(tmp_path / "in" / "copy"))
    assert state is not None
    refused = {one.name for one in state.entries if one.reason == "name"}
    assert "x.tfevents.1" in refused
    assert len(refused) >= 3


def test_growth_is_a_request_for_what_is_new(object_store: ObjectStore, tmp_path: Path) -> None:
    data = os.urandom(3 << 20)
    object_store.put(f"grows/{EVENTS}", data[: 2 << 20])
    mirrored(object_store, "grows", tmp_path / "copy")
    object_store.put(f"grows/{EVENTS}", data)
    before = len(object_store.requests())
    assert mirrored(object_store, "grows", tmp_path / "copy").returncode == 0
    assert (tmp_path / "copy" / EVENTS).read_bytes() == data
    assert len(since(object_store, before)) == 2
    state = read_state(str(tmp_path / "copy"))
    assert state is not None
    assert (state.facts.requests, state.facts.bytes) == (2, (1 << 20) + 4096)
    object_store.put(f"grows/{EVENTS}", data[::-1] + b"longer")
    mirrored(object_store, "grows", tmp_path / "copy")
    assert (tmp_path / "copy" / EVENTS).read_bytes() == data[::-1] + b"longer"
    object_store.put(f"grows/{EVENTS}", b"short")
    mirrored(object_store, "grows", tmp_path / "copy")
    assert (tmp_path / "copy" / EVENTS).read_bytes() == b"short"


@pytest.mark.parametrize("name", PRODUCERS)
def test_runs_are_those_from_disk(object_store: ObjectStore, tmp_path: Path, name: str) -> None:
    for path, file in files(DATA / name).items():
        object_store.put(f"data-{name}/{path}", file.read_bytes())
    assert mirrored(object_store, f"data-{name}", tmp_path / "copy").returncode == 0
    same_runs(name, tmp_path / "copy")


def test_what_is_refused_is_one_line_without_the_secrets(object_store: ObjectStore, tmp_path: Path) -> None:
    missing = mirrored(object_store, "x", tmp_path / "copy", AWS_ENDPOINT_URL="http://127.0.0.1:9")
    assert missing.returncode == 1
    assert "cannot be reached" in missing.stderr
    none = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), "")
    refused = mirrored(object_store, "x", tmp_path / "none", AWS_EC2_METADATA_DISABLED="true", **none)
    assert refused.returncode == 1
    assert "access was refused" in refused.stderr
    command = [sys.executable, "-m", "app", "mirror", "s3://no-such-bucket/x", str(tmp_path / "bucket"), "--once"]
    found = environment(object_store, tmp_path)
    bucket = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=found, timeout=60, check=False)
    assert (bucket.returncode, "no such bucket" in bucket.stderr) == (1, True)
    for one in (missing, refused, bucket):
        assert one.stderr.count("\n") == 1
        assert not any(secret in one.stderr + one.stdout for secret in SECRETS)
    with_password = [sys.executable, "-m", "app", "mirror", f"s3://user:{SECRETS[0]}@bucket/x", str(tmp_path / "p")]
    said = subprocess.run(with_password, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert said.returncode == 2
    assert SECRETS[0] not in said.stderr


def test_a_server_serves_growing_runs_without_a_secret_and_ends_with_its_mirror(
    object_store: ObjectStore, tmp_path: Path
) -> None:
    run = DATA / "tensorboard"
    events = next(path for path in sorted(run.rglob("*")) if "tfevents" in path.name and path.is_file())
    data = events.read_bytes()
    object_store.put(f"served/first/{EVENTS}", data)
    command = [sys.executable, "-m", "app", f"s3://{BUCKET}/served", "--port", "0", "--workspace", str(tmp_path / "w")]
    log = tmp_path / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, stdout=output, stderr=output,
            env=environment(object_store, tmp_path, MINDSCOPE_MIRROR_EVERY=str(EVERY)),
        )
    mirror = 0
    try:
        until(lambda: "Web address" in log.read_text())
        url = log.read_text().partition("Web address: ")[2].split()[0]

        def runs() -> dict[str, float]:
            with urllib.request.urlopen(f"{url}api/runs.json", timeout=10) as answer:
                found = json.load(answer)
            rows = found["runs"] if isinstance(found, dict) else found
            return {row["name"]: row["size"] for row in rows}

        until(lambda: runs().get("first") == len(data))
        object_store.put(f"served/first/{EVENTS}", data + data[:1000])
        object_store.put(f"served/second/{EVENTS}", data)
        grown = time.monotonic()
        until(lambda: runs().get("first") == len(data) + 1000)
        assert time.monotonic() - grown < 2 * EVERY
        until(lambda: runs().get("second") == len(data))
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in [str(server.pid), *children]}
        mirror = next(int(pid) for pid, line in commands.items() if b"mirror" in line)
        assert not any(secret.encode() in line for line in commands.values() for secret in SECRETS)
        for path in tmp_path.rglob("*"):
            if path.is_file():
                assert not any(secret.encode() in path.read_bytes() for secret in SECRETS), path
        for page in ("", "runs", "api/runs.json", "api/health"):
            with urllib.request.urlopen(url + page, timeout=10) as answer:
                text = answer.read()
            assert not any(secret.encode() in text for secret in SECRETS), page
        server.send_signal(signal.SIGKILL)
        server.wait(30)
        until(lambda: not Path(f"/proc/{mirror}").exists() or "Z" in Path(f"/proc/{mirror}/stat").read_text().split()[2])
    finally:
        server.kill()
        server.wait(30)
