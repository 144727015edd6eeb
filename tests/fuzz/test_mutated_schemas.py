"""Changes of logs of databases: any bytes can be changed, whatever sizes they claim."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.mutated_schemas import join_log, logged


@pytest.mark.parametrize("size", [0, 512, 516, 1000, 4096, 65_535, 65_536])
@pytest.mark.parametrize("length", [0, 11, 12, 31, 32, 5000])
def test_a_log_of_any_page_size_and_length_is_changed(size: int, length: int) -> None:
    log = (b"\x37\x7f\x06\x82\0\0\0\0" + size.to_bytes(4, "big")).ljust(length, b"\1")[:length]
    for seed in range(20):
        assert isinstance(logged(join_log(b"SQLite", log), (), Random(seed)), bytes)
