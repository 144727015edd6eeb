from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from parsers import LINEAGE, Run, deferred, discover, open_run
from parsers.lineage.configs import _loader, read_config
from parsers.lineage.values import flat
from tests.parsers.lineage.lineage_reference import custom, lineage_event, write_run

MINDFORMERS = """
seed: 0
run_mode: 'train'   # comment
use_parallel: True
runner_config: {epochs: 2, batch_size: 6, sink_mode: True}
optimizer: &optimizer
  type: AdamW
  betas: [0.9, 0.95]
  eps: 1.e-8
lr_schedule:
  type: CosineWithWarmUpLR
  learning_rate: 1e-5
train_dataset: &train_dataset
  data_loader:
    type: MindDataset
    dataset_dir: "/data/wiki"
train_dataset_task:
  dataset_config: *train_dataset
parallel_config: {data_parallel: 8, model_parallel: 1}
model:
  arch: {type: LlamaForCausalLM}
callbacks:
  - {type: MFLossMonitor}
nothing: null
"""


def run_with(folder: Path, **files: str | bytes) -> Run:
    write_run(folder, custom(a=1))
    for name, content in files.items():
        (folder / name.replace("_DOT_", ".")).write_bytes(content.encode() if isinstance(content, str) else content)
    return open_run(folder)


def test_a_mindformers_configuration_fills_the_columns(tmp_path: Path) -> None:
    run = run_with(tmp_path, run_llama_DOT_yaml=MINDFORMERS)
    wanted = {"epoch": 2, "batch_size": 6, "optimizer": "AdamW", "learning_rate": 1e-5, "network": "LlamaForCausalLM",
              "train_dataset_path": "/data/wiki"}  # fmt: skip
    assert {name: run.settings[name] for name in wanted} == wanted
    others = {"seed": 0, "run_mode": "train", "use_parallel": True, "runner_config.sink_mode": True, "a": 1,
              "optimizer.betas": "[0.9, 0.95]", "optimizer.eps": 1e-8, "parallel_config.data_parallel": 8,
              "callbacks": '[{"type": "MFLossMonitor"}]', "train_dataset_task.dataset_config.data_loader.type": "MindDataset"}
    assert {name: run.settings[f"user_defined/{name}"] for name in others} == others
    assert "user_defined/nothing" not in run.settings
    assert run.kinds()["config"] == 1
    assert run.problems == ()
    assert str(LINEAGE.check(run.lineage)["user_defined/use_parallel"].dtype) == "boolean"


def test_lineage_comes_first_and_what_differs_stands_beside(tmp_path: Path) -> None:
    write_run(tmp_path, lineage_event(train_lineage={"hyper_parameters": {"learning_rate": 0.1, "epoch": 3}}))
    (tmp_path / "config.json").write_text('{"lr": 0.1, "epochs": 5, "batch_size": "auto", "seed": 1}')
    (tmp_path / "more.yml").write_text("seed: 2\nlr: 0.1\nepochs: 5\n")
    assert dict(open_run(tmp_path).settings) == {
        "learning_rate": 0.1, "epoch": 3, "user_defined/epochs": 5, "user_defined/batch_size": "auto", "user_defined/seed": 1,
        "user_defined/seed~2": 2,
    }  # fmt: skip


def test_a_configuration_alone_makes_no_run_and_no_news(tmp_path: Path) -> None:
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "config.yaml").write_text("a: 1")
    assert discover(tmp_path) == []
    write_run(tmp_path / "run", custom(a=1))
    before = discover(tmp_path)[0].updated
    (tmp_path / "run" / "config.yaml").write_text("a: 1")
    assert discover(tmp_path)[0].updated == before


def test_a_configuration_is_read_anew_when_it_changes(tmp_path: Path) -> None:
    run = run_with(tmp_path, config_DOT_yaml="b: 1")
    version = run.version
    assert not run.refresh()
    (tmp_path / "config.yaml").write_text("b: 22")
    assert run.refresh()
    assert run.version > version
    assert run.settings["user_defined/b"] == 22
    (tmp_path / "config.yaml").unlink()
    assert run.refresh()
    assert "user_defined/b" not in run.settings
    assert run.kinds() == {"lineage": 1}


# Bad input ---------------------------------------------------------------------------------------------------------


def problem_of(folder: Path, **files: str | bytes) -> str:
    begin = time.process_time()
    run = run_with(folder, **files)
    assert run.settings["user_defined/a"] == 1
    assert time.process_time() - begin < 5
    [problem] = run.problems
    assert problem.kind == "bad_value"
    assert problem.path.endswith((".yaml", ".json"))
    return problem.text


def test_tags_make_nothing_and_all_else_is_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"x: 1\ny: !!python/object/apply:os.system ['touch {mark}']\nz: !custom 3\nw: 2\n"
    run = run_with(tmp_path / "run", config_DOT_yaml=text)
    assert not mark.exists()
    assert {name: run.settings[f"user_defined/{name}"] for name in "xw"} == {"x": 1, "w": 2}
    assert "user_defined/y" not in run.settings
    assert [problem.kind for problem in run.problems] == ["bad_value"] * 2
    assert "Line 2" in run.problems[0].text


def test_fifty_megabytes_are_not_read(tmp_path: Path) -> None:
    assert "found 50,000,000" in problem_of(tmp_path, config_DOT_yaml=b"a: 1\n" * 10_000_000)


@pytest.fixture(params=["C", "Python"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML with its reader in C, and as where it was built without."""
    if request.param == "Python":
        monkeypatch.delattr(deferred.yaml, "CSafeLoader", raising=False)  # it keeps what it was asked for before
        monkeypatch.delattr(yaml, "CSafeLoader")
        assert _loader() is yaml.SafeLoader
    else:
        assert _loader() is yaml.CSafeLoader


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: " + "[" * 3000, "levels"),
        ("a: [" + "1," * 30_000 + "]", "20,000 values with"),
        ("a: [" + "1," * 45_000 + "]", "20,000 values, found"),
        ("- 1\n- 2", "mapping"),
        ("text", "mapping"),
        ("a: [1", "expected YAML"),
        ("a: \tb: c:", "expected YAML"),
        ("a: 1\n---\nb: 2", "expected YAML"),
        (b"a: \xff", "UTF-8"),
        ("a: \x01", "expected YAML"),
        ("a0: &a0 [x,x,x]\n" + "".join(f"a{n}: &a{n} [" + f"*a{n - 1}," * 9 + "]\n" for n in range(1, 12)), "aliases"),
        ("a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n}\n  <<: [" + f"*a{n - 1}," * 9 + "]\n" for n in range(1, 12)), "aliases"),
        ("a: &a\n  b: *a", "levels"),
        ("a: *b", "expected YAML"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_taken_is_a_problem(tmp_path: Path, text: str | bytes, wanted: str) -> None:
    assert wanted in problem_of(tmp_path, config_DOT_yaml=text)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 50_000, '{"a": ' * 99 + "1" + "}" * 99, b"\xff\xfe"])
def test_json_that_cannot_be_taken_is_a_problem(tmp_path: Path, text: str | bytes) -> None:
    assert "No settings" in problem_of(tmp_path, config_DOT_json=text)


LONG = 450_000


@pytest.mark.parametrize("value", ["1" * LONG + "x", "1" * LONG, "1_" * LONG + "x", "1" + ":1" * LONG, "1." + "1" * LONG + "e"])
def test_a_long_value_takes_no_longer_than_its_length(tmp_path: Path, value: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"a: {value}\nb: 1\n")
    begin = time.process_time()
    assert read_config(str(path)).settings["b"] == 1
    assert time.process_time() - begin < 5


def test_an_empty_configuration_says_nothing(tmp_path: Path) -> None:
    assert run_with(tmp_path, config_DOT_yaml="# nothing yet\n").problems == ()


def test_more_settings_than_are_shown(tmp_path: Path) -> None:
    text = problem_of(tmp_path, config_DOT_yaml="".join(f"k{n}: {n}\n" for n in range(3000)))
    assert "2,000" in text


def test_many_files_are_bounded(tmp_path: Path) -> None:
    run = run_with(tmp_path, **{f"c{n:03}_DOT_yaml": f"v{n}: {n}" for n in range(50)})
    assert run.kinds()["config"] == 20
    (problem,) = run.problems
    assert problem.is_note
    assert "config, found 50; the first 20 by name" in problem.text


# Values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1", 1), ("-5", -5), ("1_000", 1000), ("0x1F", 31), ("010", 8), ("1.5", 1.5), ("1e-3", 0.001), ("5.e-5", 5e-5),
     (".5", 0.5), ("2E4", 2e4), (".inf", math.inf), ("-.INF", -math.inf), ("1:30", "1:30"), ("yes", True), ("off", False),
     ("True", True),
     ('"1"', "1"), ("'1e3'", "1e3"), ("2020-01-01", "2020-01-01"), ("9" * 5000, "9" * 5000), ("text", "text"), ("08", "08"),
     ('"\\ud800"', None)],
)  # fmt: skip
def test_scalars(tmp_path: Path, text: str, wanted: Any) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"a: {text}\n")
    found = read_config(str(path)).settings.get("a")
    if wanted is not None:
        assert (found, type(found)) == (wanted, type(wanted))
    assert str(found).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=6),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("aX_/:中", min_size=1, max_size=5), below, max_size=4),
    max_leaves=10,
)  # fmt: skip


@given(value=st.dictionaries(st.text("abc中", min_size=1, max_size=5), JSON, max_size=5))
def test_json_and_yaml_give_the_same(value: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "c.json").write_text(json.dumps(value))
    (folder / "c.yaml").write_text(yaml.safe_dump(value, allow_unicode=True))
    from_json, from_yaml = read_config(str(folder / "c.json")), read_config(str(folder / "c.yaml"))
    assert from_json.problems == from_yaml.problems == ()
    wanted = dict(reversed(list(flat(value))))
    assert from_json.settings == wanted
    assert from_yaml.settings.keys() == wanted.keys()
    # In lists, and where a text looks like a number, the two write differently.
    plain = {name for name, one in wanted.items() if not isinstance(one, str) or one[:1].isalpha()}
    assert {name: from_yaml.settings[name] for name in plain} == {name: wanted[name] for name in plain}


@given(data=st.binary(max_size=200))
def test_any_bytes_are_settings_or_a_problem(data: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("c.json", "c.yaml"):
        path = tmp_path_factory.getbasetemp() / name
        path.write_bytes(data)
        found = read_config(str(path))
        assert all(isinstance(value, bool | int | float | str) for value in found.settings.values())


def test_a_directory_of_that_name_is_no_configuration(tmp_path: Path) -> None:
    write_run(tmp_path, custom(a=1))
    (tmp_path / "config.yaml").mkdir()
    assert open_run(tmp_path).kinds() == {"lineage": 1}
