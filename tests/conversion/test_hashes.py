"""The code of converted models is that which was run with MindSpore: `results.json` has its hashes and what came of it."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.amounts import some_or_every

DATA = Path(__file__).resolve().parents[1] / "data" / "converter"
RESULTS = json.loads((DATA / "results.json").read_text(encoding="utf-8"))
if not os.environ.get("CI"):
    pytest.importorskip("onnxruntime", reason="the packages of mindscope[convert] are not installed")


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def hashes(models: Iterator[tuple[str, Path]]) -> dict[str, str]:
    from run_sets import code_hash

    from app.conversion import convert

    return {name: code_hash(convert(path).script.text) for name, path in models}


def same(found: dict[str, str], number: str, chosen: Callable[[str], bool] = lambda _: True) -> None:
    recorded = {name: entry["hash"] for name, entry in RESULTS["sets"][number].items() if chosen(name)}
    other = sorted(name for name in found.keys() | recorded.keys() if found.get(name) != recorded.get(name))
    assert not other, f"run make test-convert: {len(other)} of {len(recorded)} models have other code, {', '.join(other[:5])}"


def test_the_code_of_single_operators_is_the_one_that_passed() -> None:
    names = json.loads((DATA / "ops" / "list.json").read_text())
    same(hashes((name, DATA / "ops" / f"{name}.onnx") for name in names), "1")


@some_or_every
def test_the_code_of_the_cases_of_onnx_is_the_one_that_was_run(tmp_path: Path, every: bool) -> None:
    """Without `every` of about a tenth of the 3,202 cases, by the names of their tests."""
    from node_cases import test_of
    from run_sets import cases_of_set_2

    def chosen(test: str) -> bool:
        return every or zlib.crc32(test.encode()) % 10 == 0

    found = hashes((case.name, path) for case, path in cases_of_set_2(tmp_path, chosen))
    assert len(found) > 250
    same(found, "2", lambda name: chosen(test_of(name)))


def test_the_code_of_networks_is_the_one_that_passed(tmp_path: Path) -> None:
    from networks import write_networks

    same(hashes(write_networks(tmp_path, values=False)), "3")


def test_every_model_and_network_passed_in_both_modes_and_no_value_is_wrong() -> None:
    for number in ("1", "3"):
        entries = RESULTS["sets"][number]
        assert {
            name: entry for name, entry in entries.items() if (entry["verdict"], entry["graph"]) != ("passed", "passed")
        } == {}
    assert len(RESULTS["sets"]["1"]) == 95
    assert len(RESULTS["sets"]["3"]) >= 12
    cases = RESULTS["sets"]["2"].values()
    assert {entry["verdict"] for entry in cases} <= {"passed", "marked"}
    common = [entry["verdict"] == "passed" for entry in cases if entry["of_78"] and entry["common_types"]]
    assert len(common) >= 1500
    assert sum(common) >= 0.97 * len(common)
