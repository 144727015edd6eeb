"""Every condition of watchpoints, compared with plain numpy on the values of the tensors."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import open_run
from parsers.analysis.dumps.watchpoints import CONDITIONS, Watchpoint, parse_number, recommended
from parsers.analysis.dumps.watchpoints.measures import TensorChange
from parsers.analysis.dumps.watchpoints.targets import ACTIVATIONS, is_gradient, is_weight
from parsers.dump_frames import DUMP_HITS
from parsers.dumps.access import RunDump
from parsers.errors import FormatError
from tests.writers.dumps import Injection, async_file, file_name, npy, write_dump


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> RunDump:
    """A training in which one gradient becomes NaN in parts in iteration 3."""
    folder = tmp_path_factory.mktemp("dump") / "job"
    write_dump(folder, iterations=4, injection=Injection(3, 14, "nan"))
    return open_run(folder).dump


def hits(dump: RunDump, watchpoint: Watchpoint) -> pd.DataFrame:
    found = DUMP_HITS.check(dump.check([watchpoint]))
    return found[found["hit"]]


def chosen(dump: RunDump, target: str) -> list[int]:
    """The rows of a target by the words of the reference, independent of ours."""
    rows = []
    columns = [dump.tensors[name].tolist() for name in ("type", "name", "io", "parameter")]
    for row, (kind, name, io, parameter) in enumerate(zip(*columns, strict=True)):
        weight = io == "parameter" and parameter.endswith((".weight", ".bias")) and not parameter.startswith("moments.")
        gradient = io == "output" and name.lower().startswith("gradients/")
        wanted = {
            "weight": weight, "gradient": gradient, "tensor": io in ("output", "parameter"),
            "activation": io == "output" and not gradient and kind.lower() in ACTIVATIONS,
        }  # fmt: skip
        if wanted[target]:
            rows.append(row)
    return rows


def finite(dump: RunDump, row: int) -> Any:
    values = dump.tensor(row).astype(np.float64).ravel()
    return values[np.isfinite(values)]


MEASURES = {
    "abs_mean": lambda values: np.abs(values).mean(),
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "max_min": np.ptp,
    "sd": np.std,
    "zero_percentage": lambda values: 100.0 * (values == 0).sum() / values.size,
}


def simple() -> list[tuple[str, str]]:
    """Conditions and parameters that one tensor decides."""
    return [
        (name, limit.name)
        for name, kind in CONDITIONS.items()
        for limit in kind.limits
        if not kind.previous and not kind.initial and not limit.name.startswith("range_")
    ]


def test_all_conditions_of_the_reference_are_there() -> None:
    assert len(CONDITIONS) == 18
    assert len({kind.short for kind in CONDITIONS.values()}) == 18
    wire = {2, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21}
    assert {kind.number for kind in CONDITIONS.values()} == wire


@pytest.mark.parametrize(("condition", "parameter"), simple())
def test_conditions_of_one_tensor_are_those_of_numpy(dump: RunDump, condition: str, parameter: str) -> None:
    measure = MEASURES[parameter.rpartition("_")[0]]
    rows = [row for row in chosen(dump, CONDITIONS[condition].target) if len(finite(dump, row))]
    values = {row: float(measure(finite(dump, row))) for row in rows}
    limit = float(np.median(list(values.values())))
    limit = (
        min(max(limit, 1e-12), 100.0) if "percentage" in parameter or "abs" in parameter or "max_min" in parameter else limit
    )
    found = hits(dump, Watchpoint(condition, {parameter: max(limit, 0.0) if parameter.startswith("sd") else limit}))
    compare = {"gt": np.greater, "lt": np.less, "ge": np.greater_equal}[parameter[-2:]]
    wanted = {row: value for row, value in values.items() if compare(value, limit)}
    near = {row for row, value in values.items() if math.isclose(value, limit, rel_tol=1e-9)}
    assert set(found["row"]) - near == wanted.keys() - near
    assert wanted or parameter == "zero_percentage_ge"
    for row, actual in zip(found["row"], found["actual"], strict=True):
        assert actual == pytest.approx(values[row], rel=1e-9, abs=1e-12)
    assert (found["wanted"] == limit).all()


@pytest.mark.parametrize("condition", ["tensor_overflow", "weight_overflow", "gradient_exploding"])
def test_overflows_are_those_of_numpy(dump: RunDump, condition: str) -> None:
    rows = chosen(dump, CONDITIONS[condition].target)
    wanted = {row: int((~np.isfinite(dump.tensor(row))).sum()) for row in rows}
    found = hits(dump, Watchpoint(condition))
    assert dict(zip(found["row"], found["actual"], strict=True)) == {row: count for row, count in wanted.items() if count}
    assert set(found["iteration"]) == {3}


@pytest.mark.parametrize("limit", ["range_percentage_lt", "range_percentage_gt"])
@pytest.mark.parametrize("condition", ["tensor_range", "activation_range"])
def test_ranges_are_those_of_numpy(dump: RunDump, condition: str, limit: str) -> None:
    start, end = -0.1, 0.25
    rows = [row for row in chosen(dump, CONDITIONS[condition].target) if len(finite(dump, row))]
    values = {row: 100.0 * ((finite(dump, row) >= start) & (finite(dump, row) <= end)).mean() for row in rows}
    middle = float(np.median(list(values.values())))
    wanted = {row for row, value in values.items() if (value < middle if limit.endswith("lt") else value > middle)}
    found = hits(dump, Watchpoint(condition, {limit: middle, "range_start_inclusive": start, "range_end_inclusive": end}))
    near = {row for row, value in values.items() if math.isclose(value, middle, rel_tol=1e-9)}
    assert wanted
    assert set(found["row"]) - near == wanted - near
    assert all(math.isclose(actual, values[row]) for row, actual in zip(found["row"], found["actual"], strict=True))


@pytest.mark.parametrize(
    ("condition", "limits"),
    [
        ("weight_not_changed", {"rtol": 0.05}),
        ("weight_change_too_large", {"abs_mean_update_ratio_gt": 2e-3}),
        ("weight_change_too_small", {"abs_mean_update_ratio_lt": 2e-3}),
    ],
)
def test_changes_are_those_of_numpy(dump: RunDump, condition: str, limits: dict[str, float]) -> None:
    wanted, without = set(), set()
    for row in chosen(dump, "weight"):
        before = dump.previous(row)
        if before is None:
            without.add(row)
            continue
        cur, prev = (dump.tensor(one).astype(np.float64) for one in (row, before))
        usable = np.isfinite(cur) & np.isfinite(prev)
        cur, prev = cur[usable], prev[usable]
        if not len(cur):
            continue
        ratio = np.abs(cur - prev).mean() / (np.abs(prev).mean() + 1e-9)
        close = bool((np.abs(cur - prev) <= 1e-8 + 0.05 * np.abs(prev)).all())
        answers = {
            "weight_not_changed": close, "weight_change_too_large": ratio > 2e-3, "weight_change_too_small": ratio < 2e-3,
        }  # fmt: skip
        if answers[condition]:
            wanted.add(row)
    found = dump.check([Watchpoint(condition, limits)])
    assert wanted
    assert set(found.loc[found["hit"], "row"]) == wanted
    assert set(found.loc[found["why"] == "no previous iteration", "row"]) == without
    assert set(dump.tensors["iteration"].iloc[sorted(without)]) == {0}


def test_initial_weights_are_those_that_the_first_operators_took(dump: RunDump) -> None:
    found = dump.check([Watchpoint("weight_initialization", {"max_gt": -100.0})])
    assert sorted(dump.tensors["parameter"].iloc[found["row"]]) == sorted(
        {f"fc{layer}.{part}" for layer in range(3) for part in ("weight", "bias")}
    )
    assert set(found["iteration"]) == {0}
    assert set(found["io"]) == {"input"}
    for row, actual in zip(found["row"], found["actual"], strict=True):
        assert actual == dump.tensor(row).max()


def test_overflows_of_operators_are_those_that_the_device_reported(real_data: Path) -> None:
    dump = open_run(real_data / "dump/ascend_made/async_bin").dump
    found = hits(dump, Watchpoint("operator_overflow"))
    assert [(one["name"], one["actual"]) for _, one in found.iterrows()] == [("Default_Mul-op2", 32.0)]


def test_a_dump_without_records_says_so(dump: RunDump) -> None:
    found = dump.check([Watchpoint("operator_overflow")])
    assert found["why"].tolist() == ["no overflow records"]
    assert not found["hit"].any()


def test_nan_hides_nothing(dump: RunDump) -> None:
    bad = [row for row in chosen(dump, "gradient") if not np.isfinite(dump.tensor(row)).all()]
    part = next(row for row in bad if len(finite(dump, row)))
    found = hits(dump, Watchpoint("gradient_too_large", {"max_gt": -1e30}))
    one = found[found["row"] == part].iloc[0]
    assert one["actual"] == finite(dump, part).max()
    assert one["excluded"] == (~np.isfinite(dump.tensor(part))).sum()


def test_several_parameters_are_alternatives(dump: RunDump) -> None:
    both = hits(dump, Watchpoint("tensor_too_large", {"max_gt": 1.0, "mean_gt": 0.1}))
    single = [hits(dump, Watchpoint("tensor_too_large", one)) for one in ({"max_gt": 1.0}, {"mean_gt": 0.1})]
    assert list(zip(both["parameter"], both["row"], strict=True)) == [
        pair for one in single for pair in zip(one["parameter"], one["row"], strict=True)
    ]


def test_nodes_are_chosen_by_name_type_and_row(dump: RunDump) -> None:
    everything = dump.check([Watchpoint("tensor_too_large", {"max_gt": -1e30})])
    name = str(everything["name"].iloc[7])
    named = dump.check([Watchpoint("tensor_too_large", {"max_gt": -1e30}, frozenset((name,)))])
    assert named["row"].tolist() == everything.loc[everything["name"] == name, "row"].tolist()
    typed = dump.check([Watchpoint("tensor_too_large", {"max_gt": -1e30}, pattern="^TanhGrad$")])
    assert set(dump.tensors["type"].iloc[typed["row"]]) == {"TanhGrad"}
    assert dump.check([Watchpoint("tensor_overflow")], rows=[]).empty
    some = everything["row"].tolist()[3:9]
    assert dump.check([Watchpoint("tensor_too_large", {"max_gt": -1e30})], rows=some)["row"].tolist() == some


def test_progress_can_stop(dump: RunDump) -> None:
    calls: list[tuple[int, int]] = []

    def stop(done: int, everything: int) -> bool:
        calls.append((done, everything))
        return False

    found = dump.check([Watchpoint("tensor_overflow"), Watchpoint("tensor_all_zero")], progress=stop)
    assert calls == [(1, 2)]
    assert set(found["condition"]) == {"tensor_overflow"}


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    write_dump(tmp_path, iterations=2)
    folder = tmp_path / "rank_0/Net/0/1"
    file = min(folder.glob("Tanh.*.output.*"))
    file.chmod(0o600)
    file.write_bytes(b"damaged")
    dump = open_run(tmp_path).dump
    row = dump.tensors["file"].tolist().index(str(file.relative_to(tmp_path)))
    for watchpoint in (Watchpoint("tensor_overflow"), Watchpoint("tensor_too_small", {"max_lt": -1e30})):
        found = dump.check([watchpoint])
        assert [(one["row"], one["why"], one["hit"]) for _, one in found.iterrows()] == [(row, "unreadable", False)]
    limits = {"range_percentage_gt": 101.0 - 1.0, "range_start_inclusive": 0.0, "range_end_inclusive": 1.0}
    assert "unreadable" in set(dump.check([Watchpoint("tensor_range", limits)])["why"])


def test_shapes_that_differ_are_said(tmp_path: Path) -> None:
    for iteration, size in enumerate((3, 4)):
        folder = tmp_path / f"rank_0/Net/0/{iteration}"
        folder.mkdir(parents=True)
        name = file_name("Parameter", "fc_weight", 1_795_217_412_000_000 + iteration, "output", 0, "float32")
        (folder / name).write_bytes(npy(np.ones(size, np.float32)))
    found = open_run(tmp_path).dump.check([Watchpoint("weight_not_changed")])
    assert found["why"].tolist() == ["no previous iteration", "shapes differ"]


def test_statistics_of_a_file_decide_without_values(tmp_path: Path) -> None:
    folder = tmp_path / "rank_0/Net/0/0"
    folder.mkdir(parents=True)
    head = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value"
    (folder / "statistic.csv").write_text(f'{head}\nAdd,a,1,1,5,output,0,4,float32,"(2)",7.5\n')
    dump = open_run(tmp_path).dump
    found = dump.check([Watchpoint("tensor_too_large", {"max_gt": 7.0, "min_gt": 0.0})])
    assert found[["parameter", "actual", "hit", "why"]].astype(object).values.tolist()[0] == ["max_gt", 7.5, True, ""]
    assert found["why"].tolist() == ["", "no values"]


def test_overflow_in_json_and_binary_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "20261122040000" / "0" / "Net" / "1" / "0"
    folder.mkdir(parents=True)
    (folder / "Mul.Default_Mul-op2.4.7.1795320000124555").write_bytes(
        async_file([("output", np.ones(3, np.float32), 1, 2, ())])
    )
    words = [1, 7, 4, 2, 65535, 65535, 1, 2, 3, 0, 32]
    record = (0x5A5A5A5A).to_bytes(4, "little") + bytes(4) + b"".join(n.to_bytes(4, "little") for n in (1, 0, 0, 88))
    record += b"".join(word.to_bytes(8, "little") for word in words)
    raw = np.frombuffer(record, np.uint8)
    (folder / "Opdebug.Node_OpDebug.0.7.1795320000300000.4.1.0.0").write_bytes(async_file([("output", raw, 4, 2, ())]))
    dump = open_run(tmp_path).dump
    assert dump.overflows[["name", "unit", "status"]].values.tolist() == [["Default_Mul-op2", "AIC", 32]]


# The counts of the reference ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "limits", "wanted"),
    [
        ("tensor_overflow", {}, [0, 26, 38, 41]),
        ("gradient_exploding", {}, [0, 8, 8, 11]),
        ("weight_overflow", {}, [0, 6, 6, 6]),
        ("tensor_all_zero", {}, [7, 0, 4, 0]),
        ("gradient_vanishing", {"abs_mean_lt": 1e-9}, [4, 0, 3, 0]),
        ("weight_initialization", {}, [1, 0, 0, 0]),
    ],
)
def test_the_counts_of_the_reference_hold(real_data: Path, condition: str, limits: dict[str, float], wanted: list[int]) -> None:
    """MindInsight checks only tensors without NaN and Inf, except for these: of ours those that leave nothing out."""
    found = hits(open_run(real_data / "dump/out_nan").dump, Watchpoint(condition, limits))
    kept = found if CONDITIONS[condition].number == 13 else found[found["excluded"] == 0]
    assert np.bincount(kept["iteration"], minlength=4).tolist() == wanted


# Parameters -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "limits", "why"),
    [
        ("nothing", {}, "condition"),
        ("tensor_too_large", {}, "one of the parameters"),
        ("tensor_too_large", {"max_lt": 1.0}, "found max_lt"),
        ("tensor_too_large", {"abs_mean_gt": -1.0}, "from 0"),
        ("tensor_too_large", {"max_gt": math.nan}, "finite"),
        ("tensor_too_large", {"max_gt": math.inf}, "finite"),
        ("tensor_all_zero", {"zero_percentage_ge": 100.5}, "0 to 100"),
        ("tensor_range", {"max_min_lt": 0.0}, "above 0"),
        ("tensor_range", {"range_percentage_lt": 5.0}, "range_start_inclusive"),
        (
            "tensor_range",
            {"range_percentage_lt": 5.0, "range_start_inclusive": 2.0, "range_end_inclusive": 1.0},
            "begins before",
        ),
    ],
)
def test_limits_that_are_not_allowed_are_refused(condition: str, limits: dict[str, float], why: str) -> None:
    with pytest.raises(FormatError, match=why):
        Watchpoint(condition, limits)
    with pytest.raises(FormatError, match="regular expression"):
        Watchpoint("tensor_overflow", pattern="(")


def test_numbers_are_read_as_people_write_them() -> None:
    for text, value in (("1e-9", 1e-9), (" -0.5 ", -0.5), ("+3.", 3.0), (".25", 0.25), ("2E5", 2e5)):
        assert parse_number(text) == value
    for text in ("", "1e", "nan", "inf", "0x1", "1_000", "--1", "1,5"):
        with pytest.raises(FormatError):
            parse_number(text)


def test_the_recommended_set_is_allowed_and_runs(dump: RunDump) -> None:
    found = dump.check(recommended())
    assert set(found["watchpoint"]) <= set(range(9))
    assert (found.loc[found["hit"], "iteration"] == 3).any()


def test_targets_are_found_by_name() -> None:
    for name in ("fc1.weight", "fc1_bias", "weight", "a.bn.bias"):
        assert is_weight(name)
    for name in (
        "moments.fc1.weight",
        "moments_fc1_weight",
        "optimizer-x.weight",
        "Gradients/a.weight",
        "weights",
        "moment1.a.bias",
    ):
        assert not is_weight(name)
    for name in ("Gradients/Default/a", "gradients/Default/b", "Torch.log.0.backward", "Cell.a.B.backward.0"):
        assert is_gradient(name)
    assert not is_gradient("Default/Gradients/a")


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40), st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40))
def test_changes_do_not_depend_on_the_pieces(first: list[float], second: list[float]) -> None:
    size = min(len(first), len(second))
    cur, prev = np.array(first[:size]), np.array(second[:size])
    whole, pieces = TensorChange(1e-3), TensorChange(1e-3)
    whole.add(cur, prev)
    for at in range(0, size, 3):
        pieces.add(cur[at : at + 3], prev[at : at + 3])
    assert whole.unchanged == pieces.unchanged
    assert whole.ratio == pytest.approx(pieces.ratio, rel=1e-9)
    assert whole.unchanged == bool((np.abs(cur - prev) <= 1e-8 + 1e-3 * np.abs(prev)).all())
