"""Two dumps against each other: which operators go together, and differences compared with plain numpy."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from parsers import open_run
from parsers.analysis.dumps.two_dumps import Side, compare_pairs, differing, first_difference, inputs_of, pairs
from parsers.dump_frames import DUMP_DIFFERENCES, DUMP_PAIRS, DUMP_TENSORS
from parsers.dumps.access import RunDump
from parsers.dumps.store import StatisticsTable
from parsers.dumps.tables import frame_of_rows
from parsers.dumps.values import TensorHeader
from tests.amounts import long_after
from tests.writers.dumps import Injection, network, write_dump

Array = NDArray[Any]


class Held:
    """A dump of outputs held in memory, one for each (name, type, scope), in this order."""

    def __init__(self, operators: list[tuple[str, str, str]], values: list[Array] | None = None) -> None:
        self.values = values or [np.zeros(1, np.float32) for _ in operators]
        plain = {"rank": 0, "graph": 0, "iteration": 0, "io": "output", "slot": 0, "file": "x.npy", "part": "rank_0"}
        rows = []
        for place, (name, kind, scope) in enumerate(operators):
            told = plain | {"name": name, "type": kind, "scope": scope, "recorded": name, "time_ns": place, "order": place}
            told["occurrence"] = [one[0] for one in operators[:place]].count(name)
            missing = {column.name: "" if column.dtype in ("category", "str") else -1 for column in DUMP_TENSORS.columns}
            rows.append(tuple((missing | told)[column] for column in DUMP_TENSORS.names))
        self.tensors = frame_of_rows(DUMP_TENSORS, rows)

    def pieces(self, row: int) -> Iterator[Array]:
        yield self.values[row].reshape(-1)

    def header(self, row: int) -> TensorHeader:
        return TensorHeader(str(self.values[row].dtype), self.values[row].shape)

    def measured(self, rows: Any, *, computed: bool = False) -> StatisticsTable:
        return StatisticsTable(len(self.tensors))


def matched(one: list[tuple[str, str, str]], two: list[tuple[str, str, str]]) -> pd.DataFrame:
    return DUMP_PAIRS.check(pairs(Side(Held(one), 0, 0), Side(Held(two), 0, 0)))


def side(folder: Path, iteration: int, rank: int = 0) -> Side:
    return Side(open_run(folder).dump, rank, iteration)


def compared(this: Side, other: Side) -> pd.DataFrame:
    return DUMP_DIFFERENCES.check(compare_pairs(this, other, pairs(this, other)))


# Matching ------------------------------------------------------------------------------------------------------------------


def test_names_come_before_names_without_op_and_these_before_scopes() -> None:
    one = [("a/X-op1", "X", "a"), ("a/X-op2", "X", "a"), ("b/Y-op0", "Y", "b"), ("c/Z-op0", "Z", "c"), ("d/W", "W", "d")]
    two = [("b/Other-op3", "Y", "b"), ("a/X-op2", "X", "a"), ("a/X-op9", "X", "a"), ("c/Z-op0", "Z", "c"), ("e/V", "V", "e")]
    found = matched(one, two)
    told = found[["name", "how", "other_name"]].astype(str).values.tolist()
    assert told == [
        ["a/X-op1", "without_op", "a/X-op9"], ["a/X-op2", "name", "a/X-op2"], ["b/Y-op0", "scope", "b/Other-op3"],
        ["c/Z-op0", "name", "c/Z-op0"], ["d/W", "", ""], ["", "", "e/V"],
    ]  # fmt: skip
    assert found["row"].tolist() == [0, 1, 2, 3, 4, -1]
    assert found["other_row"].tolist() == [2, 1, 0, 3, -1, 4]


def test_names_of_files_without_a_graph_are_names_with_one() -> None:
    found = matched([("Default/net/fc-Dense/MatMul-op0", "MatMul", "Default/net/fc-Dense")],
                    [("Default_net_fc-Dense_MatMul-op0", "MatMul", "")])  # fmt: skip
    assert found["how"].tolist() == ["name"]


def test_what_runs_several_times_goes_with_itself_in_order() -> None:
    loop = [("a/Cast-op0", "Cast", "a"), ("a/Add-op0", "Add", "a")] * 3
    found = matched(loop, [loop[0], *loop])
    assert found["other_row"].tolist() == [0, 2, 1, 4, 3, 6, 5]
    assert found["row"].tolist() == [0, 1, 2, 3, 4, 5, -1]


def test_forward_and_backward_are_never_matched_by_scope() -> None:
    found = matched([("Torch.log.0.forward", "log", "bad")], [("Functional.log.0.backward", "log", "bad")])
    assert found["how"].tolist() == ["", ""]


def test_parameters_are_matched_by_name_only(tmp_path: Path) -> None:
    write_dump(tmp_path / "a", iterations=1, layers=1)
    write_dump(tmp_path / "b", iterations=1, layers=1)
    folder = tmp_path / "b/rank_0/Net/0/0"
    for path in list(folder.glob("Parameter.fc0_bias*")):
        path.rename(folder / path.name.replace("fc0_bias", "other"))
    found = pairs(side(tmp_path / "a", 0), side(tmp_path / "b", 0))
    left = found[(found["row"] < 0) | (found["other_row"] < 0)]
    assert left[["name", "other_name"]].astype(str).values.tolist() == [["fc0.bias", ""], ["", "other"]]


NAMES = st.lists(
    st.tuples(st.sampled_from(["a", "b/c", "Gradients/a"]), st.sampled_from(["MatMul", "Add"]), st.integers(0, 3)),
    max_size=12,
).map(lambda found: [(f"{scope}/{kind}-op{number}", kind, scope) for scope, kind, number in found])


@given(NAMES, NAMES)
def test_every_tensor_has_at_most_one_partner(one: list[tuple[str, str, str]], two: list[tuple[str, str, str]]) -> None:
    found = matched(one, two)
    both = found[(found["row"] >= 0) & (found["other_row"] >= 0)]
    assert sorted(found["row"][found["row"] >= 0]) == list(range(len(one)))
    assert sorted(found["other_row"][found["other_row"] >= 0]) == list(range(len(two)))
    for name, how, other in both[["name", "how", "other_name"]].astype(str).values.tolist():
        same = {"name": name == other, "without_op": name.split("-op")[0] == other.split("-op")[0]}
        assert same.get(how, name.rpartition("/")[0] == other.rpartition("/")[0])
    for kind in {(scope, kind) for _, kind, scope in one}:  # of one scope and type as many are matched as can be
        here, there = (sum(told[1:] == kind[::-1] for told in told_of) for told_of in (one, two))
        of = (both["type"] == kind[1]) & np.array([name.rpartition("/")[0] == kind[0] for name in both["name"]], bool)
        assert of.sum() == min(here, there)


@given(st.permutations(range(8)))
def test_numbers_of_operators_do_not_matter(numbers: list[int]) -> None:
    one = [(f"net/X-op{number}", "X", "net") for number in range(8)]
    found = matched(one, [(f"net/X-op{100 + number}", "X", "net") for number in numbers])
    assert found["other_row"].tolist() == list(range(8))


# Differences ---------------------------------------------------------------------------------------------------------------


def by_numpy(one: Array, two: Array) -> tuple[float, float, float]:
    this, other = one.astype(np.float64).ravel(), two.astype(np.float64).ravel()
    gap, norms = np.linalg.norm(this - other), (np.linalg.norm(this), np.linalg.norm(other))
    cosine = float(this @ other / norms[0] / norms[1]) if min(norms) and len(this) > 1 else math.nan
    return float(gap / max(norms)) if gap else 0.0, cosine, float(np.abs(this - other).max())


def test_differences_as_numpy_computes_them(tmp_path: Path) -> None:
    write_dump(tmp_path / "a", iterations=3, seed=1)
    write_dump(tmp_path / "b", iterations=3, seed=2)
    this, other = side(tmp_path / "a", 1), side(tmp_path / "b", 2)
    found = compared(this, other)
    assert len(found) == (this.dump.tensors["iteration"] == 1).sum()
    assert set(found["by"]) == {"values"}
    dumps = open_run(tmp_path / "a").dump, open_run(tmp_path / "b").dump
    for one in found.to_dict("records"):
        values = dumps[0].tensor(one["row"]), dumps[1].tensor(one["other_row"])
        difference, cosine, greatest = by_numpy(*values)
        assert one["difference"] == pytest.approx(difference, rel=1e-9, abs=1e-15)
        assert one["cosine"] == pytest.approx(cosine, rel=1e-9, nan_ok=True)
        assert one["max_absolute"] == greatest
        assert one["count"] == values[0].size


def test_a_dump_is_like_itself(tmp_path: Path) -> None:
    write_dump(tmp_path, iterations=5, injection=Injection(2, 4, "nan"))
    found = compared(side(tmp_path, 4), side(tmp_path, 4))
    assert (found["difference"] == 0).all()
    assert first_difference(found, 0.0) is None
    assert (found["unlike"] == 0).all()


@pytest.mark.parametrize("seed", long_after(3, range(12)))
@pytest.mark.parametrize("kind", ["nan", "inf", "exploding", "vanishing"])
def test_the_operator_that_was_made_different_is_the_first(tmp_path: Path, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    place = int(rng.integers(len(network(rng).operators)))
    write_dump(tmp_path / "good", iterations=2, seed=seed, layers=2)
    place %= len(network(rng, 2).operators)
    bad = Injection(1, place, kind)
    net = write_dump(tmp_path / "bad", iterations=2, seed=seed, layers=2, injection=bad, graph=seed % 2 == 0)
    found = compared(side(tmp_path / "good", 1), side(tmp_path / "bad", 1))
    first = first_difference(found, 1e-3)
    assert first is not None
    one = found.iloc[first]
    assert one["name"] == net.operators[place].name
    assert one["how"] == "name"
    if kind in ("nan", "inf"):
        assert one["difference"] == math.inf
        assert one["unlike"] == 1
    before = inputs_of(found, first)
    assert len(before) == len(net.operators[place].inputs)
    changed = (0, 1) if net.operators[place].in_place else ()
    assert not differing(before[~before["slot"].isin(changed)], 0.0).any()


def test_a_tolerance_hides_small_differences() -> None:
    values: list[Array] = [np.ones(100, np.float32), np.ones(100, np.float32)]
    near: list[Array] = [np.full(100, 1.0005, np.float32), np.full(100, 1.01, np.float32)]
    operators = [("a/X-op0", "X", "a"), ("a/Y-op0", "Y", "a")]
    found = compared(Side(Held(operators, values), 0, 0), Side(Held(operators, near), 0, 0))
    assert [first_difference(found, tolerance) for tolerance in (0.0, 1e-3, 0.1)] == [0, 1, None]
    assert found["cosine"].tolist() == pytest.approx([1.0, 1.0])


def test_other_shapes_and_damage_are_named(tmp_path: Path) -> None:
    operators = [("a/X-op0", "X", "a"), ("a/Y-op0", "Y", "a")]
    one: list[Array] = [np.ones((4, 8), np.float32), np.ones((1, 6), np.float32)]
    two: list[Array] = [np.ones((8, 4), np.float32), np.ones(6, np.float32)]
    found = compared(Side(Held(operators, one), 0, 0), Side(Held(operators, two), 0, 0))
    assert found["why"].tolist() == ["shapes differ", ""]
    assert first_difference(found, 0.0) is None
    write_dump(tmp_path / "a", iterations=1)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    path = next((tmp_path / "b/rank_0/Net/0/0").glob("Square*output*"))
    os.chmod(path, 0o600)
    path.write_bytes(path.read_bytes()[:140])
    found = compared(side(tmp_path / "a", 0), side(tmp_path / "b", 0))
    assert found[found["why"] != ""][["type", "io", "why"]].values.tolist() == [["Square", "output", "unreadable"]]


UNLIKE: list[tuple[Array, Array, str]] = [
    (np.ones(4, np.complex64), np.ones(4, np.float32), "types differ"),
    (np.ones(4, np.float64), np.ones(4, np.complex128), "types differ"),
    (np.ones(4, np.int64), np.ones(4, np.complex64), "types differ"),
    (np.array(["a", "b"]), np.ones(2, np.float32), "types differ"),
    (np.ones(2, np.bool_), np.array([b"a", b"b"]), "types differ"),
    (np.array(["a", "b"]), np.array(["a", "c"]), "no numbers"),
    (np.ones((2, 3), np.float32), np.ones((3, 2), np.float32), "shapes differ"),
    (np.ones(0, np.float32), np.ones(1, np.float32), "shapes differ"),
]
"""Two tensors without a difference of values, and the reason."""


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_that_cannot_be_compared_is_one_row_with_a_reason(seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = 148 - len(UNLIKE)
    plain: list[Array] = [rng.normal(size=int(rng.integers(2, 9))) for _ in range(others)]
    near: list[Array] = [value * (1.0 + 10.0 ** -rng.integers(1, 9)) for value in plain]
    order = rng.permutation(148).tolist()
    one = [[*plain, *(pair[0] for pair in UNLIKE)][place] for place in order]
    two = [[*near, *(pair[1] for pair in UNLIKE)][place] for place in order]
    wanted = [[*("" for _ in plain), *(pair[2] for pair in UNLIKE)][place] for place in order]
    operators = [(f"net/X-op{place}", "X", "net") for place in range(148)]
    found = compared(Side(Held(operators, one), 0, 0), Side(Held(operators, two), 0, 0))
    assert found["why"].tolist() == wanted
    assert np.isnan(found["difference"][found["why"] != ""]).all()
    for row, this, other in zip(found.to_dict("records"), one, two, strict=True):
        if not row["why"]:
            assert row["difference"] == pytest.approx(by_numpy(this, other)[0], rel=1e-6)


def test_types_of_one_kind_are_compared() -> None:
    values = np.array([0.0, 1.0, 1.0, 3.0])
    dtypes = [np.float16, np.float32, np.float64, np.int32, np.uint8, np.int64]
    operators = [(f"a/X-op{place}", "X", "a") for place in range(len(dtypes))]
    one = [values.astype(dtype) for dtype in dtypes]
    found = compared(Side(Held(operators, one), 0, 0), Side(Held(operators, one[::-1]), 0, 0))
    assert (found["difference"] == 0).all()


@pytest.mark.parametrize(("this", "other"), [(2.3, 9.9), (2.3, -2.3), (1e-30, 1e30), (4.0, 4.0), (0.0, 1.0)])
def test_a_single_value_has_no_cosine(this: float, other: float) -> None:
    operators = [("a/X-op0", "X", "a"), ("a/Y-op0", "Y", "a"), ("a/Z-op0", "Z", "a")]
    one: list[Array] = [np.array(this), np.array([[this]]), np.array([this, np.nan])]
    two: list[Array] = [np.array(other), np.array([[other]]), np.array([other, np.nan])]
    found = compared(Side(Held(operators, one), 0, 0), Side(Held(operators, two), 0, 0))
    assert np.isnan(found["cosine"]).all()
    assert found["difference"].tolist() == pytest.approx([abs(this - other) / max(abs(this), abs(other))] * 3)


def test_a_single_complex_value_has_two_parts() -> None:
    operators = [("a/X-op0", "X", "a")]
    found = compared(Side(Held(operators, [np.array([1j])]), 0, 0), Side(Held(operators, [np.array([1 + 1j])]), 0, 0))
    assert found["cosine"].tolist() == pytest.approx([math.sqrt(0.5)])


def test_statistics_of_complex_values_are_not_compared_with_those_of_real_ones(tmp_path: Path) -> None:
    for name, dtype in (("a", "torch.complex64"), ("b", "torch.float32")):
        stated = {"type": "torch.Tensor", "dtype": dtype, "shape": [4], "Max": 1.0, "Min": 1.0, "Mean": 1.0, "Norm": 2.0}
        folder = tmp_path / name / "step0/rank0"
        folder.mkdir(parents=True)
        both = [stated | {"dtype": "torch.float32"}, stated]
        entries = {f"Torch.mul.{at}.forward": {"output": [told]} for at, told in enumerate(both)}
        head = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
        (folder / "dump.json").write_text(json.dumps(head | {"data": entries}))
    found = compared(side(tmp_path / "a", 0), side(tmp_path / "b", 0))
    assert found["why"].tolist() == ["", "types differ"]


def test_progress_tells_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parsers.analysis.dumps.two_dumps._TELL_SECONDS", -1.0)
    write_dump(tmp_path, iterations=2, layers=1)
    this, other = side(tmp_path, 0), side(tmp_path, 1)
    told: list[tuple[int, int, Any]] = []
    whole = compare_pairs(this, other, pairs(this, other), lambda *one: told.append(one))
    assert [one[0] for one in told] == list(range(1, len(whole) + 1))
    partial = [one[2] for one in told if one[2] is not None]
    assert partial
    assert (partial[0]["io"] != "input").all()
    assert set(partial[0]["row"]) <= set(whole["row"])


# Real dumps ----------------------------------------------------------------------------------------------------------------


def test_two_ranks_of_statistics(real_data: Path) -> None:
    folder = real_data / "msprobe/torch/stat_ddp"
    this, other = side(folder, 1), side(folder, 1, 1)
    found = compared(this, other)
    assert set(found["by"]) == {"statistics"}
    dump = open_run(folder).dump
    stated = dump.statistics
    for one in found[found["difference"].between(1e-12, 1e9)].to_dict("records"):
        a, b = stated.iloc[one["row"]], stated.iloc[one["other_row"]]
        size = max(abs(side_[name]) for side_ in (a, b) for name in ("max", "min", "mean"))
        parts = [abs(a[name] - b[name]) / size for name in ("max", "min", "mean")]
        norm = max(a["l2"], b["l2"])
        assert one["difference"] == pytest.approx(max(*parts, abs(a["l2"] - b["l2"]) / norm if norm else 0.0), rel=1e-12)
    reduced = found[found["name"].str.contains("all_reduce") & (found["io"] == "output")]
    assert (reduced["difference"] == 0).all()


def test_hashes_tell_what_is_the_same(real_data: Path) -> None:
    folder = real_data / "msprobe/torch/stat_xor"
    found = compared(side(folder, 1), side(folder, 1))
    assert set(found["by"]) == {"hash", ""}
    assert (found["difference"][found["by"] == "hash"] == 0).all()


def test_values_and_their_statistics_agree(real_data: Path) -> None:
    found = compared(side(real_data / "msprobe/torch/tensor_mix", 1), side(real_data / "msprobe/torch/stat_mix", 1))
    assert set(found["by"]) == {"statistics"}
    assert first_difference(found, 1e-5) is None


def test_frameworks_are_matched_by_scope_and_type(real_data: Path) -> None:
    found = pairs(side(real_data / "msprobe/torch/stat_mix", 1), side(real_data / "msprobe/mindspore/stat_mix", 1))
    first = found[found["other_row"] >= 0].iloc[0]
    assert first[["name", "how", "other_name"]].tolist() == [
        "Functional.conv2d.0.forward", "scope", "Primitive.conv2d.Conv2D.0.forward",
    ]  # fmt: skip


def test_iterations_of_one_run(real_data: Path) -> None:
    dump: RunDump = open_run(real_data / "dump/out_nan").dump
    found = compared(Side(dump, 0, 0), Side(dump, 0, 1))
    assert (found["how"] == "name").all()
    square = found[found["name"].str.endswith("Square-op0") & (found["io"] == "output")].iloc[0]
    assert (square["difference"], square["unlike"]) == (math.inf, 12)
