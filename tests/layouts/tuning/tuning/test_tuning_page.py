"""The tuning page against journals whose numbers are written here."""

from __future__ import annotations

import base64
import json
import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.store.store import Store
from layouts.kit.state import BadInput
from layouts.tuning.tuning import figures, sections
from layouts.tuning.tuning.page import answer_curves, answer_study
from layouts.tuning.tuning.study_style import best_so_far
from parsers.recording import EventWriter
from parsers.tuning.repeating import command_of
from tests.sources import MemorySource
from tests.writers.studies import SEARCH, begun, line, trial, write_study


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return write_study(tmp_path / "runs" / "search" / "journal.log")


@pytest.fixture
def store(journal: Path) -> Iterator[Store]:
    made = Store([journal.parents[1]], interval=0.01).start()
    made.studies.wait()
    yield made
    made.stop()


def decoded(spec: Any) -> list[float]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(spec["dtype"])).tolist()


def text_of(content: Any) -> str:
    """The English texts of plain lists (`layouts.kit.plain_html`)."""
    if isinstance(content, str):
        return content
    if len(content) == 3 and isinstance(content[1], dict):
        return "" if content[1].get("class") == "zh" else text_of(content[2])
    return " ".join(filter(None, map(text_of, content)))


def traces(figure: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {trace["meta"]["role"]: trace for trace in figure["data"]}


def test_no_study() -> None:
    answer = answer_study(MemorySource(), {})
    assert (answer["state"], answer["studies"]) == ("none", [])
    assert answer_curves(MemorySource(), {})["state"] == "missing"


def test_a_study_is_found_and_its_target_drawn_with_the_best_so_far(store: Store) -> None:
    answer = answer_study(store, {})
    assert answer["state"] == "ready"
    assert answer["studies"] == [["search", "search", 6, 1]]
    drawn = traces(answer["figures"]["progress"])
    assert decoded(drawn["complete"]["y"]) == [3.0, 1.0, 2.0]
    assert decoded(drawn["pruned"]["y"]) == [8.5]
    best = decoded(drawn["best"]["y"])
    assert best == [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    said = text_of(answer["sections"]["head"])
    assert "Best of this search: trial 1 with loss = 1." in said
    assert "3 complete" in said
    assert "1 running" in said


def test_the_sentence_ends_as_its_language_does(store: Store) -> None:
    said = json.dumps(answer_study(store, {})["sections"]["head"], ensure_ascii=False)
    assert "3 次完成" in said
    (paragraph,) = re.findall(r'3 次完成.*?最佳', said)
    assert "。" in paragraph
    assert '. "' not in re.sub(r'\["span", \{[^}]*"class": "en"[^]]*\]', "", paragraph)


def test_the_table_has_the_best_trial_first_and_the_reason_of_a_failure(store: Store) -> None:
    answer = answer_study(store, {})
    rows = json.dumps(answer["sections"]["trials"])
    places = [rows.index(f'"data-trial": "{number}"') for number in (1, 2, 0)]
    assert places == sorted(places)
    assert "exit code 3" in rows
    newest = json.dumps(answer_study(store, {"sort": ["newest"]})["sections"]["trials"])
    places = [newest.index(f'"data-trial": "{number}"') for number in (5, 4, 3, 2, 1, 0)]
    assert places == sorted(places)
    failed = json.dumps(answer_study(store, {"show": ["failed"]})["sections"]["trials"])
    assert failed.count('"data-trial"') == 1


def test_rows_that_are_kept_change_with_their_trial(store: Store, journal: Path) -> None:
    """Rows of a study that has grown are those of the same journal read for the first time."""
    before = answer_study(store, {"trial": ["1"]})["sections"]["trials"]
    with journal.open("a") as file:
        file.write(line(7, trial_id=5, step=9, intermediate_value=0.5))
        file.write(line(6, trial_id=5, state=1, values=[0.5], datetime_complete="2026-01-01T00:06:30"))
    store.studies.wait()
    kept = answer_study(store, {"trial": ["5"]})["sections"]["trials"]
    assert kept != before
    sections._line.cache_clear()
    assert answer_study(store, {"trial": ["5"]})["sections"]["trials"] == kept


def test_true_and_one_are_different_settings() -> None:
    told = [("bool", True), ("int", 1), ("float", 1.0), ("NoneType", None)]
    shown = [text_of(sections._line(0, "complete", True, (), (one,), None, -1, "", False, "").content) for one in told]
    assert [text.split()[2] for text in shown] == ["True", "1", "1", "–"]


def test_curves_of_pruned_trials_are_faint_and_the_best_one_stands_out(store: Store) -> None:
    drawn = traces(answer_curves(store, {})["figure"])
    assert set(drawn) == {"pruned", "complete", "running", "best"}
    assert drawn["pruned"]["opacity"] < drawn["complete"]["opacity"] < drawn["best"]["opacity"]
    assert decoded(drawn["best"]["y"])[:3] == [3.0, 2.0, 1.0]
    assert decoded(drawn["pruned"]["y"])[:2] == [9.0, 8.5]


def test_a_growing_journal_is_followed(store: Store, journal: Path) -> None:
    before = store.runs.status().version
    with journal.open("a") as file:
        file.write(trial(6, "complete", [0.25]))
    store.studies.wait()
    assert store.runs.status().version > before
    assert "trial 6 with loss = 0.25" in text_of(answer_study(store, {})["sections"]["head"]).replace("\u00a0", " ")


def test_a_damaged_line_is_reported_and_the_rest_is_shown(store: Store, journal: Path) -> None:
    with journal.open("a") as file:
        file.write('{"op_code": 4, "stu\n' + trial(6, "complete", [0.25]))
    store.studies.wait()
    answer = answer_study(store, {})
    assert answer["damaged"]
    assert "a damaged line" in text_of(answer["sections"]["problems"])
    assert answer["studies"] == [["search", "search", 7, 1]]


def test_the_command_repeats_a_trial(store: Store) -> None:
    said = text_of(answer_study(store, {"trial": ["1"]})["sections"]["trial"])
    command = said[said.index("MINDSCOPE_HYPER_CONFIG") :].strip()
    words = shlex.split(command)
    name, _, config = words[0].partition("=")
    assert name == "MINDSCOPE_HYPER_CONFIG"
    assert words[1:] == ["python", "train.py"]
    found = json.loads(config)
    assert found["params"] == {"x": 0.2, "y": 0.01, "mode": ["b", 1]}
    assert found["custom_lineage_data"] == {"y": 0.01, "mode": '["b", 1]'}


def test_settings_that_do_not_apply_are_not_in_the_command() -> None:
    words = shlex.split(command_of(SEARCH, {"x": 0.5, "y": math.nan, "mode": None}, "it's"))
    assert json.loads(words[0].partition("=")[2]) == {"params": {"x": 0.5}, "summary_dir": "it's", "custom_lineage_data": {}}
    assert command_of({}, {"x": 1.0}, "d") == ""


def test_a_study_of_another_program_is_shown_without_a_command(tmp_path: Path) -> None:
    (tmp_path / "other.log").write_text(begun("other", (2, 1), search=None) + trial(0, "complete", [1.0, 2.0]))
    store = Store([tmp_path], interval=0.01).start()
    store.studies.wait()
    answer = answer_study(store, {})
    assert answer["targets"] == ["target 0", "target 1"]
    assert "cannot be repeated" in text_of(answer["sections"]["trial"])
    store.stop()


def test_two_studies_of_one_name_have_keys_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_study(tmp_path / name / "journal.log")
    store = Store([tmp_path], interval=0.01).start()
    store.studies.wait()
    assert [row.key for row in store.studies.rows()] == ["search", "search~2"]
    assert store.studies.open("search~2").study.row.path.endswith("b/journal.log")  # type: ignore[union-attr]
    assert store.studies.open("nothing").state == "missing"
    store.stop()


def test_best_so_far_passes_over_what_is_not_finite_or_not_feasible() -> None:
    values = np.array([math.nan, 5.0, 2.0, math.inf, 3.0, 4.0])
    feasible = np.array([True, True, False, True, True, True])
    low = best_so_far(values, feasible, "minimize").tolist()
    assert math.isnan(low[0])
    assert low[1:] == [5.0, 5.0, 5.0, 3.0, 3.0]
    assert best_so_far(values, feasible, "maximize").tolist()[1:] == [5.0] * 5


def test_thinned_curves_keep_their_extremes() -> None:
    values = np.sin(np.arange(5000.0))
    values[777], values[3333] = 9.0, -9.0
    x, y = figures.thinned(np.arange(5000.0), values)
    assert len(x) <= figures.MOST_POINTS + 2
    assert (y.max(), y.min(), x[0], x[-1]) == (9.0, -9.0, 0.0, 4999.0)


def test_spans_of_one_worker_that_overlap_are_in_rows_of_their_own(tmp_path: Path) -> None:
    text = begun() + "".join(trial(number, worker="w") for number in range(3)) + line(4, study_id=0, datetime_start=None)
    (tmp_path / "journal.log").write_text(text)
    store = Store([tmp_path], interval=0.01).start()
    store.studies.wait()
    [drawn] = answer_study(store, {})["figures"]["workers"]["data"]
    assert sorted(set(decoded(drawn["y"]))) == [0.0, 1.0, 2.0]
    store.stop()


@pytest.mark.parametrize("ask", [{"sort": ["worst"]}, {"trial": ["x"]}, {"show": ["?"]}, {"study": [1]}])
def test_malformed_asks_are_refused(store: Store, ask: Any) -> None:
    with pytest.raises(BadInput):
        answer_study(store, ask)


def test_the_next_settings_with_what_the_sampler_predicts(store: Store, journal: Path) -> None:
    def said(**noted: Any) -> str:
        shown = {"trial": 6, "settings": {"x": 0.123456, "mode": ["b", 1]}, "sampler": "gp", "why": "", "at": 1.0} | noted
        with journal.open("a") as file:
            file.write(line(2, study_id=0, user_attr={"mindscope:next": shown}))
        store.studies.wait()
        return " ".join(text_of(answer_study(store, {})["sections"]["head"]).split())

    assert "The next settings are not known" in text_of(answer_study(store, {})["sections"]["head"])
    settings = 'Proposed for trial 6, which has not run: x = 0.1235, mode = ["b", 1] .'
    assert f"{settings} gp predicts loss = 0.5000 (95 % interval 0.2500 to 0.7500)." in said(mean=0.5, low=0.25, high=0.75)
    assert f"{settings} gp predicts values only after its first trials" in said(why="start")
    assert f"{settings} tpe predicts no value." in said(sampler="tpe", why="sampler", mean="high")
    assert "The next settings are not known" in said(trial=5)
    assert "The next settings are not known" in said(settings=[1])
    with journal.open("a") as file:  # the last trial ends, and the search with it
        file.write(line(6, trial_id=5, state=1, values=[4.0], datetime_complete="2026-01-01T00:00:00"))
    assert "The next settings" not in said(settings=[1])


def test_curves_that_were_not_reported_are_those_of_the_runs(tmp_path: Path) -> None:
    """A study without a pruner: the compared scalar is read from the runs of its trials; a run that is gone has no curve."""
    runs = tmp_path / "runs"
    text = begun()
    for number in range(3):
        directory = runs / f"train_{number}"
        text += trial(number, "complete", [float(number)], run=str(directory), curve=[7.0, 8.0] if number == 2 else ())
        if number == 1:
            continue
        directory.mkdir(parents=True)
        with EventWriter(str(directory / "events.out.events.summary.1700000000.0.host_MS"), "mindspore") as writer:
            for step in range(1, 5):
                writer.add(step, {"loss": float(number + 10 * step), "other": 1.0})
    (runs / "search").mkdir(parents=True)
    (runs / "search" / "journal.log").write_text(text)
    store = Store([runs], interval=0.01).start()
    assert store.wait(30)
    store.studies.wait()
    drawn = [one for one in answer_curves(store, {})["figure"]["data"] if "y" in one]
    store.stop()
    points: dict[int, list[tuple[float, float]]] = {number: [] for number in range(3)}
    for trace in drawn:
        for x, y, of in zip(decoded(trace["x"]), decoded(trace["y"]), trace["text"], strict=True):
            if math.isfinite(y):
                points[int(of)].append((x, y))
    assert points[0] == [(1.0, 10.0), (2.0, 20.0), (3.0, 30.0), (4.0, 40.0)]
    assert points[1] == []
    assert points[2] == [(0.0, 7.0), (1.0, 8.0)]  # what was reported counts
