"""Files of gates and baselines: what was written is read, and anything else is refused by name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from parsers.analysis.curves import gate_files
from parsers.analysis.curves.gate_files import TAG, baseline_text, read_baseline, read_metrics
from parsers.analysis.curves.gates import HIGHER, LOWER, Margin, RunValue
from parsers.errors import FormatError, SourceError

KEY = (TAG, "val/loss", "last", "")
RUN: dict[str, Any] = {
    "run": "a", "value": 0.5, "last_step": 9, "bad": 0, "first_bad": -1, "missing": "", "incomplete": False, "source": "",
}  # fmt: skip


def text_of(**changes: Any) -> str:
    """A baseline of one run with these changes."""
    return json.dumps({"mindscope_baseline": 1, "metrics": [{"metric": list(KEY), "runs": [RUN | changes]}]})


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    runs = [
        RunValue("a", 0.5, 9), RunValue("b", math.inf, 7, 2, 3, incomplete=True), RunValue("c", -math.inf, 8, 1, 8),
        RunValue("d", 5.0, source="step_times"),
    ]  # fmt: skip
    (tmp_path / "base.json").write_text(baseline_text({KEY: runs}), encoding="utf-8")
    assert read_baseline(str(tmp_path / "base.json")) == {KEY: runs}


def test_a_number_that_is_missing_stays_missing(tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(baseline_text({KEY: [RunValue("a", math.nan, missing="no curve")]}), encoding="utf-8")
    ((found,),) = read_baseline(str(tmp_path / "base.json")).values()
    assert math.isnan(found.value)
    assert found.missing == "no curve"


@pytest.mark.parametrize("incomplete", [False, True, 1, "true", None])
def test_only_true_is_incomplete(tmp_path: Path, incomplete: object) -> None:
    (tmp_path / "base.json").write_text(text_of(incomplete=incomplete), encoding="utf-8")
    ((found,),) = read_baseline(str(tmp_path / "base.json")).values()
    assert found.incomplete is (incomplete is True)


@pytest.mark.parametrize("changes", [
    {"value": "many"}, {"value": True}, {"value": 10**400}, {"value": None}, {"last_step": 1.5}, {"last_step": 1 << 63},
    {"bad": True}, {"run": 3}, {"missing": None}, {"source": []},
])  # fmt: skip
def test_a_part_that_is_none_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "base.json"
    path.write_text(text_of(**changes), encoding="utf-8")
    with pytest.raises(FormatError, match=r"base\.json: expected a whole baseline, found a part that is none"):
        read_baseline(str(path))


@pytest.mark.parametrize(("text", "said"), [
    ("", "expected a baseline in JSON"), ("[" * 100_000, "expected a baseline in JSON"), ("[]", "found other JSON"),
    ("{}", "found other JSON"), ('{"mindscope_baseline": 2}', "expected a baseline of version 1, found version 2"),
    ('{"mindscope_baseline": 1}', "expected a whole baseline"),
    ('{"mindscope_baseline": 1, "metrics": ["a"]}', "expected a whole baseline"),
])  # fmt: skip
def test_other_files_are_no_baselines(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "base.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        read_baseline(str(tmp_path / "base.json"))


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "base.json"
    path.write_text(text_of(), encoding="utf-8")
    monkeypatch.setattr(gate_files, "LARGEST", path.stat().st_size)
    assert list(read_baseline(str(path))) == [KEY]
    path.write_text(text_of() + " ", encoding="utf-8")
    with pytest.raises(FormatError, match=r"expected a JSON file of at most .* bytes, found more"):
        read_baseline(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"gates\.toml: expected a readable TOML file, found none"):
        read_metrics(str(tmp_path / "gates.toml"), {})


def test_metrics_have_what_the_file_says_and_else_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "gates.toml"
    path.write_text(
        '[[metric]]\ntag = "val/loss"\nbetter = "lower"\nvalue = "mean:100"\nmargin = "2%"\n\n'
        '[[metric]]\nmeasure = "steps_per_second"\nmargin = 5\nrobust = true\n\n'
        '[[metric]]\nmeasure = "check_dump"\nwatch = "points.toml"\n', encoding="utf-8",
    )  # fmt: skip
    loss, speed, dump = read_metrics(str(path), {"alpha": 0.01})
    assert (loss.key, loss.name) == ((TAG, "val/loss", "mean:100", ""), "val/loss (mean:100)")
    assert (loss.gate.better, loss.gate.margin, loss.gate.alpha, loss.gate.robust) == (LOWER, Margin(0.02, True), 0.01, False)
    assert (speed.name, speed.gate.better, speed.gate.margin) == ("steps per second", HIGHER, Margin(5.0, False))
    assert speed.gate.robust
    assert dump.watch == str(tmp_path / "points.toml")
