"""communication.json and its twin in the analysis database."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from parsers import COMMUNICATION, open_run
from parsers.profiler import communication, database
from parsers.profiler.frame_parts import ProfileInput
from tests.parsers.profiler.written import FILES


def read(path: Path, text: str) -> tuple[list[list[object]], list[str]]:
    path.write_text(text)
    part = communication.operators(ProfileInput(str(path), path.name, {}))
    return COMMUNICATION.check(part.frame).to_numpy().tolist(), [problem.text for problem in part.problems]


def test_each_operator_is_a_row_and_the_total_is_none(tmp_path: Path) -> None:
    rows, problems = read(tmp_path / "communication.json", FILES["communication.json"])
    expected = [7, "collective", "hcom_allReduce__1_2", "33", 1736412474757059500, 2.5e6, 5e5, 1.5e6, 2.5e5, 5e5]
    assert (rows, problems) == ([[*expected, "communication.json"]], [])


BAD = '{"step": {"p2p": {"a": {"Communication Time Info": {"Elapse Time(ms)": "x"}}}}}'


@pytest.mark.parametrize("text", ["[]", "{", '{"step": []}', '{"step": {"p2p": 1}}', '{"step": {"p2p": {"a": {}}}}', BAD])
def test_anything_else_is_reported(tmp_path: Path, text: str) -> None:
    rows, problems = read(tmp_path / "communication.json", text)
    assert not rows
    assert len(problems) == 1


@pytest.mark.parametrize("rank", range(4))
def test_both_forms_of_a_real_job_are_equal(real_data: Path, rank: int) -> None:
    folder = real_data / f"profiler_new/torch_npu_st_4ranks_pp2/rank_{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT"
    written = json.loads((folder / "communication.json").read_text())
    infos = {
        (kind, name): entry["Communication Time Info"]
        for kinds in written.values() for kind, listed in kinds.items() for name, entry in listed.items()
        if name != communication.TOTAL
    }  # fmt: skip
    (profile,) = open_run(folder.parent).profile.values()
    twin = database.communication(ProfileInput(str(folder / "analysis.db"), "analysis.db", {})).frame
    for frame in (profile.communication, twin):
        found = {(row.kind, f"{row.name_}@{row.group}"): row for row in frame.rename(columns={"name": "name_"}).itertuples()}
        assert set(found) == set(infos)
        for key, info in infos.items():
            row = found[key]
            times = [row.duration_ns, row.transit_ns, row.wait_ns, row.synchronisation_ns, row.idle_ns]
            names = ("Elapse", "Transit", "Wait", "Synchronization", "Idle")
            assert times == pytest.approx([info[f"{name} Time(ms)"] * 1e6 for name in names])
            assert row.start_ns == round(Decimal(info["Start Timestamp(us)"]) * 1000)
            assert row.step == 13
