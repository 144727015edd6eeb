"""Target against settings: compared with pandas and with definitions written out."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.store.store import Store
from layouts.tuning.tuning import settings_figures
from layouts.tuning.tuning.page import answer_settings, answer_study
from tests.writers.studies import begun, trial, write_study

LOOK: dict[str, Any] = {"language": "en", "dark": False}


def decoded(spec: Any) -> list[float]:
    return np.frombuffer(base64.b64decode(spec["bdata"]), np.dtype(spec["dtype"])).tolist()


def opened(path: Path, text: str) -> Store:
    (path / "s").mkdir(parents=True)
    (path / "s" / "journal.log").write_text(text)
    store = Store([path], interval=0.01).start()
    store.studies.wait()
    return store


@pytest.fixture
def random(tmp_path: Path) -> Iterator[Store]:
    """40 complete trials whose loss is x ** 2 + a little of y, and a running one."""
    rng = np.random.default_rng(3)
    text = begun()
    for number in range(40):
        x, y = float(rng.random()), float(10 ** -rng.uniform(0, 4))
        text += trial(number, "complete", [x**2 + 0.01 * y], x=x, y=y, mode=number % 2)
    store = opened(tmp_path, text + trial(40, x=0.5))
    yield store
    store.stop()


def test_association_is_that_of_pandas(random: Store) -> None:
    study = random.studies.open("search").study
    assert study is not None
    table = settings_figures.ranked(study, "loss").set_index("setting")
    frame = study.trials[study.trials["state"] == "complete"]
    for name in ("x", "y"):
        ranks = frame[f"parameter/{name}"].rank().corr(frame["target/loss"].rank())
        assert table.loc[name, "spearman"] == pytest.approx(abs(ranks), abs=1e-9)
    assert next(iter(table.index)) == "x"
    figure = settings_figures.importance_figure(study, "loss", **LOOK)
    assert figure is not None
    assert figure["layout"]["yaxis"]["ticktext"][-1] == "x"
    assert "&lt;" not in figure["layout"]["xaxis"]["title"]["text"]


def test_the_surest_settings_are_shown_by_default_and_others_on_request(random: Store) -> None:
    assert answer_settings(random, {})["shown"] == ["x", "y"]
    answer = answer_settings(random, {"x": ["mode"], "y": ["x"]})
    assert answer["shown"] == ["mode", "x"]
    [points] = answer["figures"]["contour"]["data"]  # no surface over a choice
    assert len(points["customdata"]) == 40
    assert answer["figures"]["slice"]["layout"]["xaxis"]["ticktext"] == ['["b", 1]', "a"]


def test_the_slice_has_every_complete_trial_where_it_was(random: Store) -> None:
    study = random.studies.open("search").study
    assert study is not None
    figure = answer_settings(random, {"x": ["y"]})["figures"]["slice"]
    assert figure["layout"]["xaxis"]["type"] == "log"
    frame = study.trials[study.trials["state"] == "complete"]
    assert decoded(figure["data"][0]["x"]) == pytest.approx(frame["parameter/y"].tolist(), rel=1e-12)
    assert decoded(figure["data"][0]["y"]) == frame["target/loss"].tolist()


def test_the_surface_meets_its_points_and_leaves_out_what_none_supports() -> None:
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 10.0, 0.0, 10.0])
    _, _, found = settings_figures.surface(x, y, np.array([1.0, 2.0, 3.0, 4.0]))
    assert [found[0, 0], found[-1, 0], found[0, -1], found[-1, -1]] == pytest.approx([1, 2, 3, 4], abs=1e-6)
    assert np.isnan(found[20, 20])
    assert np.nanmin(found) >= 1.0
    assert np.nanmax(found) <= 4.0


@pytest.mark.parametrize("goals", [["minimize", "minimize"], ["minimize", "maximize"], ["maximize", "maximize"]])
def test_the_front_is_what_nothing_dominates(goals: list[str]) -> None:
    values = np.random.default_rng(5).integers(0, 12, (60, 2)).astype(np.float64)
    values[7, 1] = np.nan

    def better(one: float, other: float, goal: str) -> bool:
        return one < other if goal == "minimize" else one > other

    def dominates(one: Any, other: Any) -> bool:
        worse = any(better(b, a, goal) for a, b, goal in zip(one, other, goals, strict=True))
        return not worse and any(better(a, b, goal) for a, b, goal in zip(one, other, goals, strict=True))

    known = [at for at in range(60) if at != 7]
    wanted = [at for at in known if not any(dominates(values[other], values[at]) for other in known)]
    assert np.flatnonzero(settings_figures.front_of(values, goals)).tolist() == wanted


def test_two_targets_have_a_front_and_one_has_none(tmp_path: Path, random: Store) -> None:
    assert answer_settings(random, {})["figures"]["pareto"] is None
    text = begun("two", (1, 2), search=None)
    for number, values in enumerate([(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]):
        text += trial(number, "complete", values)
    store = opened(tmp_path / "two", text)
    data = {one["meta"]["role"]: one for one in answer_settings(store, {"study": ["two"]})["figures"]["pareto"]["data"]}
    assert (data["front"]["customdata"], data["others"]["customdata"]) == ([0, 1], [2])
    assert answer_study(store, {"study": ["two"], "target": ["target 1"]})["target"] == "target 1"
    store.stop()


def test_a_study_without_a_complete_trial_has_no_such_figures(tmp_path: Path) -> None:
    store = opened(tmp_path, begun() + trial(0))
    answer = answer_settings(store, {})
    assert answer["state"] == "ready"
    assert set(answer["figures"].values()) == {None}
    store.stop()


def test_every_figure_has_its_alternative_in_both_languages(random: Store) -> None:
    figures = {**answer_settings(random, {})["figures"], **answer_study(random, {})["figures"]}
    for name, figure in figures.items():
        if figure is not None:
            english, chinese = figure["layout"]["meta"]["alternative"]
            assert len(english) > 60, name
            assert chinese != english, name


def test_files_have_the_frames(tmp_path: Path) -> None:
    from app import create_app

    write_study(tmp_path / "s" / "journal.log")
    store = Store([tmp_path], interval=0.01).start()
    store.studies.wait()
    client = create_app(store).server.test_client()
    answer = client.get("/api/study/trials.csv?study=search")
    assert answer.status_code == 200
    lines = answer.get_data(as_text=True).splitlines()
    assert len(lines) == 7
    assert client.get("/api/study/values.csv?study=search").get_data(as_text=True).count("\n") == 1 + 9 + 2 + 1
    assert client.get("/api/study/trials.csv?study=../x").status_code == 400
    assert client.get("/api/study/trials.csv?study=search&path=x").status_code == 400
    store.stop()


def test_journals_behind_links_out_of_the_directory_are_left_out_on_request(tmp_path: Path) -> None:
    journal = write_study(tmp_path / "elsewhere" / "journal.log")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "linked").symlink_to(journal.parent)
    (tmp_path / "runs" / "train.log").write_text("epoch 1\n")
    for inside, wanted in ((False, 1), (True, 0)):
        store = Store([tmp_path / "runs"], interval=0.01, stay_inside=inside).start()
        store.studies.wait()
        assert len(store.studies.rows()) == wanted
        store.stop()


def test_the_workspace_has_studies_too(tmp_path: Path) -> None:
    write_study(tmp_path / "studies" / "one" / "journal.log")
    (tmp_path / "runs").mkdir()
    store = Store([tmp_path / "runs"], interval=0.01, studies_directory=str(tmp_path / "studies")).start()
    store.studies.wait()
    assert [row.name for row in store.studies.rows()] == ["search"]
    assert isinstance(store.studies.open("search").study.trials, pd.DataFrame)  # type: ignore[union-attr]
    store.stop()
