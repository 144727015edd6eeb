"""Kernel dumps: which tensors they hold, by rank, graph and iteration."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from parsers import discover, open_run
from parsers.dump_frames import (
    DUMP_COMPUTED,
    DUMP_EXECUTIONS,
    DUMP_FRAMES,
    DUMP_OVERFLOWS,
    DUMP_STATISTICS,
    DUMP_TENSORS,
)
from parsers.dumps.access import RunDump
from parsers.dumps.names import NPY
from parsers.dumps.values import measure
from parsers.errors import PayloadError
from parsers.profiler import snapshot
from tests.parsers.dumps.looking import one_of, texts
from tests.writers.dumps import DTYPES, async_file, file_name, npy, write_dump


def test_no_dump_at_all(tmp_path: Path) -> None:
    dump = RunDump(str(tmp_path), ())
    assert not dump
    assert not len(dump.tensors)
    assert not len(dump.statistics)
    assert not len(dump.executions)
    assert dump.ranks == ()
    assert dump.problems == ()
    assert not len(dump.first_cause())
    assert not len(dump.check([]))
    assert list(dump.graphs) == []
    assert not dump.refresh()
    with pytest.raises(IndexError):
        dump.tensor(0)


def test_schemas_say_what_columns_are_and_in_which_unit() -> None:
    for schema in (*DUMP_FRAMES.values(), DUMP_COMPUTED):
        assert schema.doc.endswith(".")
        assert len(set(schema.names)) == len(schema.names)
        for column in schema.columns:
            assert column.doc
            assert column.unit == {"bytes": "B", "ns": "ns"}.get(column.name.rpartition("_")[2], column.unit)


def test_a_written_dump_is_listed_and_read(dumped: Path) -> None:
    (source,) = discover(dumped.parent)
    assert source.name == "job"
    assert source.ranks[0].dump_dirs
    assert source.updated > 0
    run = open_run(dumped)
    assert run.kinds() == {"dump": 1}
    assert run.problems == ()
    tensors = DUMP_TENSORS.check(run.dump.tensors)
    assert len(tensors) == len(list(dumped.rglob("*.npy")))
    for row in range(0, len(tensors), 5):
        path = dumped / tensors["file"].iloc[row]
        assert np.array_equal(run.dump.tensor(row), np.load(path))
        assert run.dump.header(row).shape == np.load(path).shape
        assert tensors["size_bytes"].iloc[row] == path.stat().st_size
    rows = tensors[tensors["iteration"] == 1]
    assert rows["time_ns"].is_monotonic_increasing
    made = rows[rows["io"] == "output"]
    assert made["order"].tolist() == list(range(len(made)))
    assert set(tensors.loc[tensors["io"] == "parameter", "name"]) == set(tensors["parameter"]) - {"", "x", "y"}


def test_a_directory_of_a_rank_is_a_dump_too(dumped: Path) -> None:
    whole, rank = open_run(dumped).dump, open_run(dumped / "rank_0").dump
    assert whole.tensors.drop(columns="file").equals(rank.tensors.drop(columns="file"))
    assert rank.tensors["file"].iloc[0] == whole.tensors["file"].iloc[0].removeprefix("rank_0/")


def test_inputs_name_the_parameters_they_are(dumped: Path) -> None:
    dump = open_run(dumped).dump
    row = one_of(dump, type="MatMul", io="input", slot=1, iteration=1)
    assert dump.tensors["parameter"].iloc[row] == "fc0.weight"
    before = one_of(dump, io="parameter", name="fc0.weight", iteration=0)
    assert np.array_equal(dump.tensor(row), dump.tensor(before))


def test_previous_is_the_same_tensor_one_iteration_before(dumped: Path) -> None:
    dump = open_run(dumped).dump
    row = one_of(dump, type="Tanh", io="output", iteration=1)
    before = dump.previous(row)
    assert before is not None
    assert dump.previous(before) is None
    same = ["type", "name", "io", "slot"]
    assert dump.tensors.loc[row, same].equals(dump.tensors.loc[before, same])
    assert dump.tensors["iteration"].iloc[before] == 0
    assert dump.history(row)[:2] == (before, row)


def test_constants_belong_to_no_iteration(dumped: Path) -> None:
    folder = dumped / "rank_0/Net/0/constants"
    folder.mkdir()
    (folder / "Parameter.data-7.0.0.1795217412144585.output.0.DefaultFormat.npy").write_bytes(npy(np.ones((2, 2), np.float32)))
    dump = open_run(dumped).dump
    row = one_of(dump, io="constant")
    assert dump.tensors.loc[row, ["iteration", "recorded", "dtype"]].tolist() == [-1, "data-7", ""]
    assert dump.tensor(row).sum() == 4.0
    assert dump.statistics_of([row])["dtype"].tolist() == ["float32"]
    assert dump.previous(row) is None
    assert dump.first_cause().empty


def test_short_names_of_old_versions_are_joined(tmp_path: Path) -> None:
    root = tmp_path / "rank_0"
    folder = root / "Net/0/2"
    folder.mkdir(parents=True)
    (root / ".dump_metadata").mkdir()
    (root / "execution_order").mkdir()
    order = "NodeExecutionOrder-FullNameWithScope\nDefault/a-Net/Conv2D-op13\nDefault/a-Net/Conv2D-op14\n"
    (root / "execution_order/ms_execution_order_graph_0.csv").write_text(order)
    for number in (14, 13):
        name = f"Conv2D.Conv2D-op{number}.0.0.{1_600_000_000_000_000 - number}.output.0.NCHW.npy"
        (folder / name).write_bytes(npy(np.full(2, number, np.float16)))
    tensors = open_run(tmp_path).dump.tensors
    assert tensors[["name", "order", "format", "dtype"]].values.tolist() == [
        ["Default/a-Net/Conv2D-op14", 1, "NCHW", ""],
        ["Default/a-Net/Conv2D-op13", 0, "NCHW", ""],
    ]


def test_links_within_a_dump_are_not_followed(dumped: Path, tmp_path: Path) -> None:
    count = len(open_run(dumped).dump.tensors)
    folder = dumped / "rank_0/Net/0/1"
    secret = tmp_path / "secret"
    secret.mkdir()
    name = file_name("Add", "Default/z-op0", 1_795_217_412_000_000, "output", 0, "float32")
    (secret / name).write_bytes(npy(np.zeros(3, np.float32)))
    (folder / name).symlink_to(secret / name)
    (dumped / "rank_0/Net/0/9").symlink_to(secret)
    assert len(open_run(dumped).dump.tensors) == count


def test_ranks_are_read_together(tmp_path: Path) -> None:
    for rank in (0, 3):
        write_dump(tmp_path / "job", iterations=2, rank=rank, seed=rank)
    dump = open_run(tmp_path / "job").dump
    assert dump.ranks == (0, 3)
    assert list(dump.graphs) == [(0, 0), (3, 0)]
    assert dump.tensors.groupby("rank").size().nunique() == 1
    assert set(dump.tensors["part"]) == {"rank_0", "rank_3"}


def test_statistics_are_those_of_the_values(dumped: Path) -> None:
    dump = open_run(dumped).dump
    calls: list[tuple[int, int]] = []
    frame = DUMP_STATISTICS.check(dump.statistics_of(progress=lambda done, all_: calls.append((done, all_)) is None))
    assert calls[-1] == (len(frame), len(frame))
    assert set(frame["source"]) == {"computed"}
    for row in range(0, len(frame), 9):
        values = dump.tensor(row).astype(np.float64)
        one = frame.iloc[row]
        assert (one["max"], one["min"], one["count"]) == (values.max(), values.min(), values.size)
        assert one["l2"] == pytest.approx(np.linalg.norm(values.ravel()), rel=1e-12)
        assert one["shape"] == ("x".join(map(str, values.shape)) or "[]")


def test_computing_can_be_cancelled_and_continued(dumped: Path) -> None:
    dump = open_run(dumped).dump
    part = dump.statistics_of(progress=lambda done, all_: done < 10)
    assert (part["source"] == "computed").sum() == 10
    assert dump.statistics.equals(open_run(dumped).dump.statistics)


def test_computed_statistics_are_kept_for_a_later_process(dumped: Path) -> None:
    first = open_run(dumped).dump
    some = list(range(5, 60))
    first.statistics_of(some)
    parts = snapshot.dump(DUMP_COMPUTED, DUMP_COMPUTED.check(first.computed), ())
    assert parts is not None
    kept, _ = snapshot.load(DUMP_COMPUTED, b"".join(parts))
    file = dumped / first.tensors["file"].iloc[7]
    file.chmod(0o600)
    file.write_bytes(npy(np.full_like(first.tensor(7), 5.0)))
    later = open_run(dumped).dump
    assert later.restore(kept) == len(some) - 1
    for row in (place for place in some if place != 7):
        (dumped / later.tensors["file"].iloc[row]).unlink()
    assert later.statistics_of(some).drop(index=2).equals(first.statistics_of(some).drop(index=2))
    assert later.statistics_of([7])["max"].iloc[0] == 5.0


def test_another_process_can_compute(dumped: Path) -> None:
    dump = open_run(dumped).dump
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        (header, values), *_ = pool.map(measure, [dump.place(3)])
    dump.keep_statistics(3, values, header)
    assert dump.statistics_of([3]).equals(open_run(dumped).dump.statistics_of([3]))


def test_values_of_loops_and_repeated_runs_are_kept_apart(real_data: Path) -> None:
    dump = open_run(real_data / "dump/out_cf").dump
    tensors = dump.tensors
    cast = tensors[(tensors["type"] == "Cast") & (tensors["graph"] == 3)]
    assert cast[cast["iteration"] == 0]["occurrence"].tolist() == [0, 1, 2]
    assert cast[cast["iteration"] == 2]["occurrence"].tolist() == [0, 1, 2, 3, 4]
    assert dump.problems == ()
    executions = DUMP_EXECUTIONS.check(dump.executions)
    listed = executions[executions["listed"]]
    assert listed[listed["graph"] == 0]["iteration"].tolist() == [0, 1, 2, 3, 2]
    assert listed[listed["graph"] == 8]["iteration"].tolist() == [4, 1]


@pytest.mark.parametrize(("run", "operators"), [("out_tensor", 29), ("out_cf", 17)])
def test_all_operators_of_files_are_joined_with_the_graph(real_data: Path, run: str, operators: int) -> None:
    dump = open_run(real_data / "dump" / run).dump
    tensors = dump.tensors[dump.tensors["io"].isin(("input", "output"))]
    pairs = tensors[["graph", "recorded", "name"]].drop_duplicates()
    assert len(pairs.drop_duplicates(["recorded", "name"])) >= operators
    joined = [
        name in set(dump.graphs[0, graph].nodes["full_name"]) for graph, name in zip(pairs["graph"], pairs["name"], strict=True)
    ]
    assert all(joined)
    assert len(set(zip(pairs["graph"], pairs["name"], strict=True))) == len(pairs)
    assert (tensors["order"] >= 0).all()


def test_every_real_file_is_listed_with_what_its_name_says(real_data: Path) -> None:
    for run, files in (("out_tensor", 532), ("out_nan", 592), ("out_cf", 197), ("out_kern", 24), ("out_pyn", 0)):
        folder = real_data / "dump" / run
        dump = open_run(folder).dump
        tensors = dump.tensors
        assert len(tensors) == files == len(list(folder.rglob("*.npy")))
        assert dump.problems == ()
        for row in range(0, files, 7):
            path = folder / tensors["file"].iloc[row]
            assert NPY.fullmatch(path.name) is not None
            values = np.load(path)
            assert str(values.dtype) == tensors["dtype"].iloc[row]
            assert np.array_equal(dump.tensor(row), values, equal_nan=values.dtype.kind == "f")
            assert tensors["iteration"].iloc[row] == int(path.parent.name)


def test_lines_of_the_program_are_outermost_first(real_data: Path) -> None:
    dump = open_run(real_data / "dump/out_cf").dump
    lines = dump.stack(one_of(dump, type="Log", io="output"))
    assert [(line.first, line.last) for line in lines] == [(9, 18), (18, 18)]
    assert lines[-1].code == "return self.log(self.fc2(o))"


# Files of devices -----------------------------------------------------------------------------------------------------------


def test_binary_files_are_read_by_their_headers(real_data: Path) -> None:
    dump = open_run(real_data / "dump/ascend_made/async_bin").dump
    tensors = dump.tensors
    assert tensors["type"].tolist() == ["Add", "Add", "Add", "Cast", "Mul", "Conv2D"]
    conv = one_of(dump, type="Conv2D")
    # The values on the device count up, channels first, and are padded to 16 of these.
    assert np.array_equal(dump.tensor(conv), np.arange(12, dtype=np.float16).reshape(1, 2, 2, 3).transpose(0, 3, 1, 2))
    assert dump.statistics["count"].iloc[conv] == 12
    cast = dump.tensor(one_of(dump, type="Cast"))
    assert cast.dtype == np.float16
    assert np.isnan(cast).sum() == 1
    assert np.isinf(cast).sum() == 1
    assert dump.tensor(one_of(dump, type="Mul")).dtype == np.float32
    total = dump.tensor(one_of(dump, type="Add", io="output"))
    parts = [dump.tensor(one_of(dump, type="Add", io="input", slot=slot)) for slot in (0, 1)]
    assert np.allclose(total, parts[0] + parts[1])


def test_kernel_dumps_of_pytorch_have_no_graph(tmp_path: Path) -> None:
    folder = tmp_path / "step4" / "20261122040000" / "1"
    folder.mkdir(parents=True)
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    (folder / "Add.aclnnAdd_1_Add.2.7.1795320000123456").write_bytes(async_file([("output", values, 1, 2, (2, 3))]))
    dump = open_run(tmp_path).dump
    assert dump.tensors[["rank", "graph", "iteration", "type"]].values.tolist() == [[1, -1, 4, "Add"]]
    assert np.array_equal(dump.tensor(0), values)
    assert dump.problems == ()


def test_overflow_records_name_the_operator(real_data: Path) -> None:
    found = DUMP_OVERFLOWS.check(open_run(real_data / "dump/ascend_made/async_bin").dump.overflows)
    assert found[["name", "type", "task", "stream", "status"]].values.tolist() == [["Default_Mul-op2", "Mul", 4, 7, 32]] * 2
    assert set(found["unit"]) == {"AIC", "AI Core"}


def test_long_names_are_resolved_by_mapping_csv(real_data: Path) -> None:
    dump = open_run(real_data / "dump/ascend_made/mapping").dump
    assert dump.tensors["type"].tolist() == ["MatMul", "Sub"]
    assert dump.tensors["dtype"].tolist() == ["float32"] * 2
    assert dump.tensors["recorded"].iloc[0].endswith("MatMul-op7")
    assert dump.tensor(0).ndim >= 0


def test_a_dump_that_grows_is_followed(dumped: Path) -> None:
    run = open_run(dumped)
    count, version = len(run.dump.tensors), run.version
    folder = dumped / "rank_0/Net/0/3"
    folder.mkdir()
    name = folder / file_name("Add", "Default/a-op0", 1_795_217_413_000_000, "output", 0, "float32")
    whole = npy(np.arange(3, dtype=np.float32))
    name.write_bytes(whole[:-5])
    assert run.refresh()
    assert run.version > version
    dump = run.dump
    assert len(dump.tensors) == count + 1
    row = count
    with pytest.raises(PayloadError, match="may still be written"):
        dump.tensor(row)
    assert dump.problems
    name.write_bytes(whole)
    assert run.refresh()
    assert run.dump.tensor(row).tolist() == [0.0, 1.0, 2.0]
    assert run.dump.problems == ()


def test_an_iteration_that_is_still_written_is_an_execution(dumped: Path) -> None:
    """Its tensors are there before the order of iterations lists it."""
    (path,) = dumped.rglob("ms_global_execution_order_graph_0.csv")
    before = open_run(dumped).dump.executions
    path.chmod(0o600)
    path.write_text("0\n1\n")
    found = open_run(dumped).dump.executions
    assert found["iteration"].tolist() == [0, 1, 2]
    assert found["order"].tolist() == [0, 1, 2]
    assert found["listed"].tolist() == [True, True, False]
    assert found["tensors"].tolist() == before["tensors"].tolist()


def test_a_file_that_is_written_slowly_is_read_once_it_is_complete(dumped: Path) -> None:
    """A file that grows does not change its directory: of a dump that has settled only files that failed are looked at."""
    name = dumped / "rank_0/Net/0/2" / file_name("Add", "Default/a-op0", 1_795_217_413_000_000, "output", 0, "float32")
    whole = npy(np.arange(3, dtype=np.float32))
    name.write_bytes(whole[:-5])
    hour_ago = 1e9 * (time.time() - 3600)
    for folder in (dumped, *dumped.rglob("*")):
        if folder.is_dir():
            os.utime(folder, ns=(int(hour_ago), int(hour_ago)))
    dump = open_run(dumped).dump
    row = one_of(dump, recorded="Default_a-op0")
    with pytest.raises(PayloadError, match="may still be written"):
        dump.tensor(row)
    assert not dump.stale()
    name.write_bytes(whole)
    assert dump.stale()
    dump.refresh()
    assert dump.tensor(row).tolist() == [0.0, 1.0, 2.0]
    assert not dump.stale()


def test_statistics_of_files_are_taken_by_name_place_size_and_time(dumped: Path) -> None:
    """Files whose names are no text, and tensors that are parts of one file."""
    files = open_run(dumped).dump.tensors["file"]
    for row, byte in ((3, b"\xff"), (4, b"\xfe")):
        path = os.fsencode(dumped / files.iloc[row])
        os.rename(path, path.replace(b"Default", b"D" + byte))
    first = open_run(dumped).dump
    for task in (3, 4):
        values = np.arange(6, dtype=np.float32).reshape(2, 3) + task
        parts = [("input", values, 1, 2, (2, 3)), ("output", values * 2, 1, 2, (2, 3))]
        name = f"Add.Default_Add-op{task}.{task}.0.1795217412999{task}00"
        (dumped / "rank_0/Net/0/1" / name).write_bytes(async_file(parts))
    first.refresh()
    wanted = first.statistics
    later = open_run(dumped).dump
    assert later.restore(first.computed) == len(wanted)
    assert later.measured_count == len(wanted)
    assert later.statistics.equals(wanted)
    assert first.successor().statistics.equals(wanted)
    for row in range(len(wanted)):
        assert wanted["max"].iloc[row] == later.tensor(row).max()


def test_statistic_csv_gives_statistics_beside_files(dumped: Path) -> None:
    folder = dumped / "rank_0/Net/0/1"
    file = min(folder.glob("Tanh.*.output.*"))
    kind, name, _, _, time_us, _, slot, _, _, _ = file.name.split(".")
    head = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,NaN Count"
    rows = [
        f'{kind},{name},0,0,{time_us},output,{slot},192,float32,"(8,6)",7.5,0,',
        'Log,lost,0,0,5,output,0,4,float32,"()",nan,1,',
    ]
    (folder / "statistic.csv").write_text("\n".join([head, *rows, "Log,cut"]))
    dump = open_run(dumped).dump
    row = one_of(dump, file=str(file.relative_to(dumped)))
    frame = dump.statistics
    assert frame["source"].iloc[row] == "statistic.csv"
    assert frame["max"].iloc[row] == 7.5
    assert dump.statistics_of([row], computed=True)["max"].iloc[0] == dump.tensor(row).max()
    lost = one_of(dump, recorded="lost")
    assert dump.tensors["file"].iloc[lost] == ""
    assert frame["non_finite"].iloc[lost] == 1
    with pytest.raises(PayloadError, match="no values"):
        dump.tensor(lost)
    assert any("Line 4" in text for text in texts(dump))


def test_the_writer_knows_all_dtypes(tmp_path: Path) -> None:
    for name in DTYPES:
        values = np.arange(3).astype(name)
        assert np.array_equal(np.load(_saved(tmp_path, npy(values))), values)


def _saved(folder: Path, data: bytes) -> Path:
    path = folder / "one.npy"
    path.write_bytes(data)
    return path
