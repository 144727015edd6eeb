"""The configuration of a search: the predecessor's file unchanged, what is new, and every kind of mistake with its line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from parsers import FormatError, SourceError
from parsers.tuning import HyperConfig
from parsers.tuning.config import ConfigError, read_tuning
from parsers.tuning.description import Pruning, Target, TunedParameter
from parsers.tuning.expressions import parse_constraint

HEAD = "summary_base_dir: runs\ncommand: python train.py\ntarget: {name: loss}\n"


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "search.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def mistakes(tmp_path: Path, text: str) -> list[str]:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_tuning(path)
    return [line.removeprefix(f"{path}, ") for line in caught.value.mistakes]


def test_the_file_of_mindoptimizer_is_read_unchanged() -> None:
    base = os.environ.get("MINDSCOPE_TEST_DATA")
    if not base:
        pytest.skip("MINDSCOPE_TEST_DATA is not set")
    found = read_tuning(os.path.join(base, "tuner", "config.yaml"))
    assert (found.study, found.sampler, found.method) == ("config", "gp", "ucb")
    assert found.command[0] == "env"
    assert found.command[-1] == "train.py"
    assert found.targets == (Target("Accuracy", "metric", "maximize"),)
    rate, batch, momentum = found.parameters
    assert rate == TunedParameter("learning_rate", "float", 0.0001, 0.2, user_defined=False)
    assert (batch.kind, batch.choices, batch.user_defined) == ("choice", (16, 32, 64), False)
    assert (momentum.choices, momentum.user_defined) == ((0.5, 0.9), True)


def test_everything_that_is_new(tmp_path: Path) -> None:
    text = (
        HEAD.replace("{name: loss}", "{name: val/acc, goal: maximize, group: scalar, value: best}")
        + """
study: mine
tuner: {name: tpe, args: {startup_trials: 7}}
parameters:
  lr: {bounds: [1e-5, 1e-1], type: float, log: true}
  units: {bounds: [8, 129], type: int, step: 8}
  optimizer: {choice: [sgd, adam]}
  momentum: {bounds: [0.5, 1], type: float, step: 0.1, when: {optimizer: sgd}}
  layers: {choice: [[32, 32], [64], null, true]}
  dropout: {bounds: [0.123, 0.677], type: float, decimal: 2}
constraints: ["units * 2 <= 200", "model_size < 1e6"]
pruner: {name: median, startup_trials: 3, tag: loss, goal: minimize}
stop: {nan: true, plateau: on}
budget: {trials: 100, hours: 0.5}
time_limit: 60
seed: 3
import_runs: false
"""
    )
    found = read_tuning(written(tmp_path, text))
    by_name = {one.name: one for one in found.parameters}
    assert (by_name["lr"].low, by_name["lr"].high, by_name["lr"].log) == (1e-5, 0.1, True)
    assert (by_name["units"].low, by_name["units"].high, by_name["units"].step) == (8, 128, 8)
    assert by_name["momentum"].values == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert by_name["momentum"].applies({"optimizer": "sgd"})
    assert not by_name["momentum"].applies({"optimizer": "adam"})
    assert by_name["layers"].choices == ([32, 32], [64], None, True)
    assert (by_name["dropout"].low, by_name["dropout"].high, by_name["dropout"].step) == (0.13, 0.67, 0.01)
    assert found.targets == (Target("val/acc", "scalar", "maximize", best=True),)
    assert found.pruning == Pruning("median", "loss", "minimize", startup_trials=3)
    assert [one.names for one in found.constraints] == [("units",), ("model_size",)]
    assert (found.study, found.trials, found.hours, found.time_limit, found.seed) == ("mine", 100, 0.5, 60.0, 3)
    assert (found.end_on_nan, found.end_on_plateau, found.import_runs, found.startup_trials) == (True, True, False, 7)
    assert read_tuning(found.path, study="other").study == "other"


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("{bounds: [0, 2], type: float}", "line 5: parameters.learning_rate.bounds: expected bounds above 0, found [0, 2]"),
        ("{choice: [1.0]}", "expected numbers above 0 and below 1, found 1.0"),
        ("{bounds: [1e-3, 0.1], type: int}", "parameters.learning_rate.bounds: expected an integer from"),
    ],
)
def test_what_mindspore_records_itself_is_checked(tmp_path: Path, parameter: str, said: str) -> None:
    found = mistakes(tmp_path, f"{HEAD}parameters:\n  learning_rate: {parameter}\n")
    assert said in found[0]


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        ("{}", "line 5: parameters.x: expected one of bounds and choice, found neither"),
        ("3", "parameters.x: expected a mapping, found 3"),
        (
            "{bounds: [], type: float}",
            "parameters.x.bounds: expected a list of a lower and an upper bound, found an empty list",
        ),
        ("{bounds: [2, 1], type: float}", "expected an upper bound above the lower one, found [2, 1]"),
        ("{bounds: [.nan, 1], type: float}", "expected two finite numbers, found [nan, 1]"),
        ("{bounds: [0.1, 0.9], type: int}", "expected an integer from the lower bound to below the upper one"),
        ("{bounds: [1, 2]}", "parameters.x.type: expected int or float beside bounds, found none"),
        ("{bounds: [1, 2], choice: [1], type: int}", "expected one of bounds and choice, found both"),
        ("{choice: []}", "expected a list of at least one value, found an empty list"),
        ("{choice: [1, true]}", "expected each value once (true is 1, and 1.0 is 1), found 1 twice"),
        ("{choice: [1, 2.5], type: int}", "expected numbers of type int, found 2.5"),
        ("{choice: [1, 2], log: true}", "parameters.x.log: expected it beside bounds only, found it beside choice"),
        ("{bounds: [0, 1], type: float, log: true}", "expected bounds above 0 for a log scale, found [0, 1]"),
        ("{bounds: [1, 9], type: float, log: true, step: 2}", "expected a log scale without step and decimal, found both"),
        ("{bounds: [0.11, 0.12], type: float, decimal: 1}", "expected a number with 1 decimal places between them"),
        ("{bounds: [1, 9], type: float, when: {y: 1}}", "expected the name of a parameter above x, found 'y'"),
        ("{bounds: [1, 9], type: float, colour: 1}", "parameters.x.colour: expected one of bounds, choice, type"),
        ("!!python/object:os.system {}", "expected a value without a tag of its own, found tag:yaml.org,2002:python"),
    ],
)
def test_a_parameter_that_is_wrong(tmp_path: Path, parameter: str, said: str) -> None:
    assert said in "\n".join(mistakes(tmp_path, f"{HEAD}parameters:\n  x: {parameter}\n"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pruner: {name: median}\ntarget: [{name: a}, {name: b}]", "expected no pruner, since trials can be compared"),
        ("pruner: {name: median, patience: 3}", "pruner.patience: expected it with patient only, found it with median"),
        ("tuner: {name: grid}", "parameters.x.bounds: expected a step or choices, since the tuner is grid"),
        ("tuner: {name: tpe, args: {method: ucb}}", "tuner.args.method: expected no acquisition function for tpe, found 'ucb'"),
        ("tuner: {name: gp, args: {method: x}}", "expected one of ucb, pi, ei, found 'x'"),
        ("tuner: {name: cmaes}\ntarget: [{name: a}, {name: b}]", "for several targets, found cmaes"),
        ("budget: {trials: 0}", "budget.trials: expected a whole number of at least 1, found 0"),
        ("constraints: ['__import__(1) < 2']", "constraints: expected names, numbers, + - * / // % ** and comparisons"),
        ("constraints: [1 + 2]", "expected a comparison with <=, <, >=, >, == or !=, found '1 + 2'"),
        ("study: ../x", "study: expected at most 100 letters"),
        ("target: {name: acc, group: system_defined}", "target.group: expected metric or scalar for 'acc'"),
        ("target: {name: acc, goal: up}", "target.goal: expected one of minimize, maximize, found 'up'"),
        ('command: "python \'x"', 'command: expected a command line, found "python \'x" (No closing quotation)'),
        ("sed: 3", "line 5: sed: expected one of summary_base_dir, command"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, line: str, said: str) -> None:
    text = HEAD + "parameters: {x: {bounds: [0, 1], type: float}}\n" + line
    keys = [part.partition(":")[0] for part in line.splitlines()]
    kept = "\n".join(part if part.partition(":")[0] not in keys else "" for part in text.splitlines()[:4])
    assert said in "\n".join(mistakes(tmp_path, f"{kept}\n{line}\n"))


def test_nothing_to_read(tmp_path: Path) -> None:
    expected = "a mapping with summary_base_dir, command, target and parameters"
    assert mistakes(tmp_path, "") == [f"line 1: expected {expected}, found nothing"]
    assert len(mistakes(tmp_path, "{}")) == 4
    with pytest.raises(SourceError, match="No such file"):
        read_tuning(str(tmp_path / "none.yaml"))


def test_bombs_are_refused_at_once(tmp_path: Path) -> None:
    levels = ["a0: &a0 [1,1,1,1,1,1,1,1,1]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    for text in ("\n".join(levels), "[" * 10_000, "a: &a\n  b: *a\n", "- x\n" * 600_000, "a: b: c"):
        path = written(tmp_path, text)
        with pytest.raises(ConfigError, match=r"search\.yaml"):
            read_tuning(path)
    (tmp_path / "search.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="expected UTF-8"):
        read_tuning(str(tmp_path / "search.yaml"))


def aliases(levels: int, times: int) -> str:
    """Lists within lists, each of which has the one before this many times."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * times)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (aliases(6, 9), "20,000 values with what its aliases repeat"),  # 74,000, which would not take long
        (aliases(2, 20_100), "20,000 values"),
        ("".join(f"{' ' * n}a:\n" for n in range(60)), "levels"),
        ("a: &a\n  b: *a\n", "levels"),
        ("a: [" + "1," * 30_000 + "]", "20,000 values"),
        ("# " + "x" * (1 << 20), "expected at most 1,048,576 bytes, found 1,048,578"),
    ],
    ids=["multiplied", "repeated", "deep", "circle", "many", "long"],
)
def test_each_limit_of_a_configuration_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_tuning(written(tmp_path, text))
    assert said in str(caught.value)


def test_constraints() -> None:
    size = parse_constraint("layers * width ** 2 <= 4096")
    assert size.names == ("layers", "width")
    assert size.violation({"layers": 4, "width": 32}) == 0
    assert size.violation({"layers": 5, "width": 32}) == 1024
    assert parse_constraint("1 < x < 3").violation({"x": 2}) == -1
    assert parse_constraint("x < 3").violation({"x": 3}) > 0
    assert parse_constraint("name == 'sgd' or x > 2").violation({"name": "sgd", "x": 0}) <= 0
    assert parse_constraint("x ** y ** 9 < 3").violation({"x": 99, "y": 99}) > 0
    assert parse_constraint("'%99999999999d' % x < 'a'").violation({"x": 1}) > 0
    with pytest.raises(KeyError):
        size.violation({"layers": 4})
    for text in ("open('x') < 1", "x.y < 1", "[x] < 1", "x < 9 ** 99 or (lambda: 1) < 2", "x <", "1 < 2", "x < " + "9" * 400):
        with pytest.raises(FormatError, match="expected"):
            parse_constraint(text)


def test_a_script_reads_its_settings() -> None:
    text = json.dumps({"params": {"lr": 0.1, "net": None}, "summary_dir": "/r/1", "custom_lineage_data": {"net": "None"}})
    for name in ("MINDSCOPE_HYPER_CONFIG", "MINDINSIGHT_HYPER_CONFIG"):
        found = HyperConfig({name: text})
        assert (found.params.lr, found.params["net"], dict(found.params)) == (0.1, None, {"lr": 0.1, "net": None})
        assert (found.summary_dir, found.custom_lineage_data) == ("/r/1", {"net": "None"})
    with pytest.raises(AttributeError, match="expected one of the settings lr, net, found 'momentum'"):
        _ = found.params.momentum


@pytest.mark.parametrize("text", ["", "{", "[]", '{"params": 3}', '{"params": {}}', "[" * 50_000, " " * 100_001])
def test_settings_that_are_none(text: str) -> None:
    with pytest.raises(FormatError, match="expected"):
        HyperConfig({"MINDSCOPE_HYPER_CONFIG": text})
