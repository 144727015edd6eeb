"""Servers of remote runs. These tests need `requirements-remote.lock` and run by `make test-remote`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

if any(importlib.util.find_spec(name) is None for name in ("moto", "s3fs", "asyncssh", "boto3")):
    collect_ignore_glob = ["test_*.py"]
else:
    from tests.remote.servers import Machine, ObjectStore

    @pytest.fixture(scope="session")
    def object_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
        made = ObjectStore(tmp_path_factory.mktemp("moto"))
        yield made
        made.stop()

    @pytest.fixture
    def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
        made = Machine(tmp_path_factory.mktemp("ssh"))
        yield made
        made.stop()
