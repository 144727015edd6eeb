from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import LINEAGE, Run, discover, open_run
from parsers.events.messages import message_class
from parsers.lineage.description import Description, LocatedEvent
from parsers.lineage.mindspore import metrics, train_lineage, user_defined
from parsers.snapshot import dump, load
from tests.parsers.events.event_reference import framed
from tests.parsers.lineage.lineage_reference import custom, lineage_event, lineage_files, same, settings_of, write_run
from tests.recorded import RECORDED

TRAIN = {
    "hyper_parameters": {"optimizer": "Adam", "learning_rate": 0.1, "epoch": 3, "batch_size": 32, "device_num": 8},
    "train_dataset": {"train_dataset_path": "/data", "train_dataset_size": 60000},
    "algorithm": {"network": "LeNet5", "loss": math.nan},
    "model": {"path": '{"ckpt": "/a/b.ckpt"}', "size": 5 << 32},
}


def train(**more: object) -> bytes:
    return lineage_event(train_lineage={**TRAIN, **more})


def evaluation(metric: str) -> bytes:
    return lineage_event(evaluation_lineage={"metric": metric, "valid_dataset": {"valid_dataset_size": 10}})


def runs_with_lineage(base: Path) -> dict[str, Run]:
    leaves = [leaf for source in discover(base) for leaf in source.leaves]
    return {leaf.path: Run(leaf) for leaf in leaves if any(file.kind == "lineage" for file in leaf.files)}


def test_real_runs_give_what_protobuf_gives(real_data: Path) -> None:
    found = runs_with_lineage(real_data / "summary")
    assert len(found) == 22
    compare(found)
    assert sum(any(name.startswith("metric/") for name in run.settings) for run in found.values()) == 19


def test_recorded_runs_give_what_protobuf_gives() -> None:
    found = runs_with_lineage(RECORDED)
    assert len(found) == 6
    compare(found)


def compare(found: dict[str, Run]) -> None:
    """Compare what runs say with what protobuf reads of their files."""
    for path, run in found.items():
        run.refresh()
        wanted = settings_of(lineage_files(path))
        got = dict(run.settings)
        mark = got.pop("dataset_mark", None)
        assert (mark is not None) == (run.dataset_graph is not None)
        assert got.keys() == wanted.keys()
        assert all(same(got[name], wanted[name]) for name in wanted), (got, wanted)
        assert run.problems == ()
        frame = LINEAGE.check(run.lineage)
        assert len(frame) == 1
        assert all(frame[name][0] == value or value != value for name, value in got.items())
        assert frame[[name for name in LINEAGE.names[2:-1] if name not in wanted]].isna().all().all()


def test_the_committed_file_of_custom_data_alone() -> None:
    run = open_run(Path(__file__).parents[2] / "data/mindspore/2.10/events.out.events.summary.1795217862.0.vm_lineage")
    names = {"learner": "svm", "学习": "值", "empty": "", "n": -5, "c": 0.1}
    assert dict(run.settings) == {f"user_defined/{name}": value for name, value in names.items()}


def test_a_run_without_lineage(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path / "run", b""))
    assert dict(run.settings) == {}
    assert run.dataset_graph is None
    frame = LINEAGE.check(run.lineage)
    assert frame.loc[0, ["run", "path"]].tolist() == [".", str(tmp_path / "run")]
    assert frame.iloc[0, 2:].isna().all()


def test_settings_have_the_types_they_were_recorded_in(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, train() + evaluation('{"acc": 1, "loss": NaN}') + custom(a=1, b=1.0, c="1")))
    assert math.isnan(run.settings["loss"])
    assert run.settings["learning_rate"] == 0.1  # not 0.10000000149011612
    assert run.settings["model_path"] == "/a/b.ckpt"
    assert run.settings["model_size"] == 5 << 32
    types = {name: str(dtype) for name, dtype in run.lineage.dtypes.items()}
    assert types["epoch"] == types["metric/acc"] == types["user_defined/a"] == "Int64"
    assert types["metric/loss"] == types["user_defined/b"] == "float64"
    assert types["user_defined/c"] == "str"


# Which event counts ------------------------------------------------------------------------------------------------


def test_the_last_event_of_a_kind_counts(tmp_path: Path) -> None:
    later = {**TRAIN["hyper_parameters"], "epoch": 9}
    events = [train(), evaluation('{"a": 1}'), train(hyper_parameters=later), evaluation('{"b": 2}')]
    run = open_run(write_run(tmp_path, b"".join(events)))
    assert run.settings["epoch"] == 9
    assert {name for name in run.settings if name.startswith("metric/")} == {"metric/b"}


def test_a_file_with_a_training_replaces_and_one_with_an_evaluation_adds(tmp_path: Path) -> None:
    first, second = train() + custom(a=1), lineage_event(train_lineage={"algorithm": {"network": "Other"}}) + custom(b=2)
    files = [evaluation('{"acc": 0.5}'), first, evaluation('{"acc": 0.75}'), second, evaluation('{"f1": 0.25}')]
    run = open_run(write_run(tmp_path, *files))
    assert dict(run.settings) == {
        "network": "Other", "user_defined/b": 2, "metric/f1": 0.25, "test_dataset_count": 10
    }  # fmt: skip


def test_custom_data_alone_is_kept_by_a_training_that_follows(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, custom(a=1, b="x"), train() + custom(b="y"), custom(c=0.5)))
    found = {name: value for name, value in run.settings.items() if name.startswith("user_defined/")}
    assert found == {"user_defined/a": 1, "user_defined/b": "y", "user_defined/c": 0.5}


def test_files_count_by_the_times_in_their_names_not_by_their_order_on_disk(tmp_path: Path) -> None:
    for stamp, content in ((9, custom(a="old")), (10, custom(a="new"))):
        (tmp_path / f"x.summary.{stamp}.0.h_lineage").write_bytes(content)
    assert open_run(tmp_path).settings["user_defined/a"] == "new"


def test_the_lineage_grows_with_its_file(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, train()))
    assert "metric/acc" not in run.settings
    before = run.version
    [path] = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(evaluation('{"acc": 0.5}'))
    assert run.refresh()
    assert run.version > before
    assert run.settings["metric/acc"] == 0.5
    assert not run.refresh()


# Damage ------------------------------------------------------------------------------------------------------------


def test_a_file_cut_at_every_byte_keeps_what_is_whole(tmp_path: Path) -> None:
    events = [custom(a=1), train(), evaluation('{"acc": 0.5}')]
    whole = b"".join(events)
    ends = [len(b"".join(events[:count])) for count in range(1, 4)]
    path = write_run(tmp_path, b"") / "events.out.events.summary.1700000000.0.host_lineage"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        run = open_run(tmp_path)
        seen = ("user_defined/a" in run.settings, "optimizer" in run.settings, "metric/acc" in run.settings)
        assert seen == tuple(size >= end for end in ends)
        assert {problem.kind for problem in run.problems} <= {"empty_file"}


def test_every_flipped_byte_is_a_problem_and_costs_one_event(tmp_path: Path) -> None:
    events = [custom(a=1), train(), evaluation('{"acc": 0.5}')]
    path = write_run(tmp_path, b"") / "events.out.events.summary.1700000000.0.host_lineage"
    whole = b"".join(events)
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        run = open_run(tmp_path)
        assert run.problems
        seen = ("user_defined/a" in run.settings, "optimizer" in run.settings, "metric/acc" in run.settings)
        assert sum(seen) >= 2  # a flipped length is mended, its data being intact


@pytest.mark.parametrize(
    ("metric", "wanted"),
    [("accuracy 0.5", "expected JSON"), ("[1, 2]", "a JSON object"), ('{"a": 1', "expected JSON"),
     ("[" * 20000, "expected JSON"),
     ('{"a": ' + "9" * 5000 + "}", "expected JSON"), ('{"a":' * 200 + "1" + "}" * 200, "levels")],
)  # fmt: skip
def test_metrics_that_are_no_json_object_are_a_problem(tmp_path: Path, metric: str, wanted: str) -> None:
    run = open_run(write_run(tmp_path, train() + evaluation(metric)))
    assert run.settings["test_dataset_count"] == 10
    assert run.settings["optimizer"] == "Adam"
    assert not [name for name in run.settings if name.startswith("metric/")]
    [problem] = run.problems
    assert (problem.kind, problem.offset) == ("bad_value", len(train()))
    assert wanted in problem.text
    assert len(problem.text) < 400


def test_metrics_written_as_text_and_nested_ones() -> None:
    found = metrics('{"a": "NaN", "b": "-Infinity", "c": "nan ", "d": {"e": 1, "f": [1, null]}, "h": true, "i": null}')
    assert math.isnan(float(found["a"]))
    assert math.isnan(float(found["c"]))
    assert found["b"] == -math.inf
    assert {name: found[name] for name in found if name not in "abc"} == {"d.e": 1, "d.f": "[1, null]", "h": True}


def test_names_of_any_kind(tmp_path: Path) -> None:
    names = ["a/b", "a:b", "学习率", "x" * 10_000, "", "a.b", "user_defined/a", "<b>", "new\nline", "'=1+1"]
    run = open_run(write_run(tmp_path, custom(**{name: number for number, name in enumerate(names)})
                             + evaluation(json.dumps(dict.fromkeys(names, 0.5)))))  # fmt: skip
    frame = LINEAGE.check(run.lineage)
    for number, name in enumerate(names):
        assert frame[f"user_defined/{name}"].tolist() == [number]
        assert frame[f"metric/{name}"].tolist() == [0.5]


def test_half_a_surrogate_pair_in_a_name_can_be_written_again(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, evaluation('{"\\ud800": "\\udfff", "l": ["\\ud800"]}')))
    assert run.lineage.to_csv().encode()
    assert run.settings["metric/\\ud800"] == "\\udfff"


def test_too_many_values_are_bounded_and_told(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, evaluation(json.dumps({f"m{n}": n for n in range(5000)}))))
    assert len([name for name in run.settings if name.startswith("metric/")]) == 2000
    [problem] = run.problems
    assert "5,000" in problem.text


def test_a_training_that_cannot_be_decoded_gives_way_to_the_one_before(tmp_path: Path) -> None:
    event = message_class("mindspore.LineageEvent")(wall_time=1.0).SerializeToString() + b"\x32\x03\x0a\x05\x00"
    run = open_run(write_run(tmp_path, train() + framed(event)))
    assert run.settings["optimizer"] == "Adam"
    [problem] = run.problems
    assert (problem.kind, problem.offset) == ("bad_value", len(train()))


@given(data=st.binary(max_size=60))
def test_any_bytes_give_settings_or_an_error_of_ours(data: bytes) -> None:
    made = Description()
    for tag in ("train_lineage", "evaluation_lineage", "dataset_graph", "user_defined_info"):
        made.add_lineage([LocatedEvent("f", 0, 0, tag, lambda: memoryview(data))])
    made.add_hparams([LocatedEvent("f", 0, 0, "_hparams_/x", lambda: memoryview(data))])
    assert all(isinstance(value, bool | int | float | str) for value in made.settings.values())
    assert all(problem.kind == "bad_value" for problem in made.problems)


WORDS = st.text(max_size=8)


@given(
    values=st.dictionaries(WORDS, st.one_of(st.integers(-(2**31), 2**31 - 1), st.floats(), WORDS), max_size=6),
    optimizer=WORDS, rate=st.floats(width=32), epoch=st.integers(-(2**31), 2**31 - 1),
)  # fmt: skip
def test_what_protobuf_writes_is_read(values: dict[str, object], optimizer: str, rate: float, epoch: int) -> None:
    kinds = {int: "map_int32", str: "map_str", float: "map_double"}
    info = {"user_info": [{kinds[type(value)]: {name: value}} for name, value in values.items()]}
    data = message_class("mindspore.UserDefinedInfo")(**info).SerializeToString()
    found = user_defined(memoryview(data))
    assert found.keys() == values.keys()
    assert all(same(found[name], values[name]) for name in values)
    train_data = message_class("mindspore.TrainLineage")(
        hyper_parameters={"optimizer": optimizer, "learning_rate": rate, "epoch": epoch}
    ).SerializeToString()
    read = train_lineage(memoryview(train_data))
    assert (read["optimizer"], read["epoch"]) == (optimizer, epoch)
    assert pd.isna(read["learning_rate"]) if rate != rate else read["learning_rate"] == pytest.approx(rate, rel=1e-6, abs=1e-44)


def test_what_was_read_stays_until_the_next_look_and_is_not_read_again(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, train()))
    before = dict(run.settings)
    [path] = tmp_path.iterdir()
    path.write_bytes(custom(a=1))
    assert run.settings.keys() == before.keys()
    run.refresh()
    assert dict(run.settings) == {"user_defined/a": 1}
    assert "replaced" in [problem.kind for problem in run.problems]


@pytest.mark.parametrize("value", [0x00, 0x7F, 0xFF])
def test_every_byte_of_real_messages_replaced_gives_settings_or_a_problem(real_data: Path, value: int) -> None:
    run = open_run(real_data / "summary/ranks/rank_0")
    for kind, tag in [("dataset_graph", "dataset_graph"), *(("lineage", tag) for tag in run.tags("lineage"))]:
        data = bytes(run.raw(kind, tag, -1))
        for at in range(len(data)):
            changed = data[:at] + bytes([value]) + data[at + 1 :]
            made = Description()
            made.add_lineage([LocatedEvent("f", 0, 0, tag, lambda changed=changed: memoryview(changed))])  # type: ignore[misc]
            assert made.settings or made.problems or made.datasets or not tag.endswith("graph")
            assert all(isinstance(one, bool | int | float | str) for one in made.settings.values())
            assert all(problem.kind == "bad_value" for problem in made.problems)


def test_problems_come_back_from_the_index_without_reading(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path, train() + evaluation("no JSON")))
    parts = dump(list(run.states.values()))
    assert parts is not None
    again = Run(run.source)
    again.restore(load(b"".join(bytes(part) for part in parts)))
    assert not again.refresh()
    assert again.problems == run.problems
    assert [problem.kind for problem in again.problems] == ["bad_value"]
    assert again.settings.keys() == run.settings.keys()


def test_a_directory_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/run\xff"
    os.mkdir(folder)
    with open(folder + b"/x.summary.1.0.h_lineage", "wb") as file:
        file.write(train())
    [source] = discover(tmp_path)
    run = Run(source)
    run.refresh()
    assert LINEAGE.check(run.lineage)["path"][0].endswith("run\\xff")
    assert run.lineage.to_csv().encode()
