"""The order of a compilation, from names of files, and which graph is opened first."""

from __future__ import annotations

import shutil
from pathlib import Path

from parsers import open_run
from parsers.graphs.stages import compiled, opening


def staged(path: Path) -> tuple[list[str], list[str], str]:
    found = compiled(open_run(path).graphs.locations.values())
    return [one.location.name for one in found], [one.location.name for one in found if one.final], opening(found)


def test_stages_are_in_order_of_compilation_and_the_last_is_final(real_data: Path) -> None:
    names, final, first = staged(real_data / "ir/level3_env")
    # The order in which the compiler wrote the files is the number at the end of their names.
    written = [int(name.rsplit("_", 1)[1].split(".")[0]) for name in names if not name.startswith("ms_output")]
    assert written == sorted(written)
    assert final == ["24_execute_0992.ir", "24_execute_0993.dot"]
    assert first == "24_execute_0992.ir"
    places = [names.index(f"ms_output_{stage}.pb") for stage in ("optimize", "before_opt_0", "after_opt_0", "vm_build_0")]
    assert places == sorted(places)
    assert names.index("21_validate_0936.ir") < places[1] < names.index("hwopt_common_final_graph_0_0985.ir") < places[2]


def test_a_stage_that_was_cut_short_is_not_opened(real_data: Path, tmp_path: Path) -> None:
    for path in (real_data / "ir/level1_env").glob("*.*"):
        shutil.copy(path, tmp_path)
    last = tmp_path / "24_execute_0097.ir"
    assert staged(tmp_path)[2] == last.name
    last.write_bytes(last.read_bytes()[: 5 * last.stat().st_size // 9])
    names, final, first = staged(tmp_path)
    assert final == [last.name]
    assert first == "ms_output_vm_build_0.pb"
    assert names.index(first) == len(names) - 2


def test_graphs_without_stages_stay_in_their_order(real_data: Path) -> None:
    names, final, first = staged(real_data / "summary/graph_bert_train")
    assert final == []
    assert [first] == names
    assert compiled([]) == []
    assert opening([]) == ""
