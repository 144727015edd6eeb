"""Real servers for tests: moto as an object store, a process of its own; asyncssh's SFTP server in the test process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import boto3

KEY_ID, SECRET, TOKEN = "AKIAKNOWNKEYIDOFTEST", "known-secret-of-the-test-0123456789", "known-session-token-of-the-test"
SECRETS = (SECRET, TOKEN, KEY_ID)
BUCKET = "runs"


class ObjectStore:
    """An object store, and the requests that came to it."""

    def __init__(self, directory: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.url, self.log = f"http://127.0.0.1:{port}", directory / "moto.log"
        command = [sys.executable, "-m", "moto.server", "-p", str(port)]
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        self._wait()
        self.environment = {
            "AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_SESSION_TOKEN": TOKEN, "AWS_DEFAULT_REGION": "us-east-1",
        }  # fmt: skip
        self.client = boto3.client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="filler", aws_secret_access_key="filler"
        )
        self.client.create_bucket(Bucket=BUCKET)

    def _wait(self) -> None:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(self.url, timeout=5).close()
                return
            time.sleep(0.05)
        raise TimeoutError(self.log.read_text())

    def put(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=name, Body=data)

    def delete(self, name: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=name)

    def requests(self) -> list[str]:
        """Method and path of all requests so far."""
        return re.findall(r"([A-Z]+ /\S*) HTTP/1", self.log.read_text(errors="replace"))

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


class Machine:
    """A machine that is reached by ssh: a directory, served in a thread of this process. home has the client's settings."""

    def __init__(self, directory: Path) -> None:
        self.base, self.home = directory / "machine", directory / "home"
        self.base.mkdir()
        (self.home / ".ssh").mkdir(parents=True, mode=0o700)
        self._host_key = asyncssh.generate_private_key("ssh-ed25519")
        client = asyncssh.generate_private_key("ssh-ed25519")
        client.write_private_key(self.home / ".ssh/id_ed25519")
        os.chmod(self.home / ".ssh/id_ed25519", 0o600)
        self._clients = asyncssh.import_authorized_keys(client.export_public_key().decode())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(self._listen())
        self.port: int = self._server.get_port()
        self.trust()
        (self.home / ".ssh/config").write_text(f"Host cluster\n  HostName 127.0.0.1\n  Port {self.port}\n  User tester\n")

    def trust(self) -> None:
        """Have the client know the key of the host."""
        public = self._host_key.export_public_key().decode().strip()
        (self.home / ".ssh/known_hosts").write_text(f"[127.0.0.1]:{self.port} {public}\ncluster {public}\n")

    def forget(self) -> None:
        (self.home / ".ssh/known_hosts").write_text("")

    async def _listen(self) -> asyncssh.SSHAcceptor:
        def served(channel: asyncssh.SSHServerChannel) -> asyncssh.SFTPServer:
            return asyncssh.SFTPServer(channel, chroot=os.fsencode(self.base))

        return await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[self._host_key], authorized_client_keys=self._clients, sftp_factory=served
        )

    def _do(self, work: object) -> asyncssh.SSHAcceptor:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)  # type: ignore[arg-type]

    def stop(self) -> None:
        async def end() -> None:
            self._server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        self._do(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@contextlib.contextmanager
def stopped(made: ObjectStore | Machine) -> Iterator[ObjectStore | Machine]:
    try:
        yield made
    finally:
        made.stop()
