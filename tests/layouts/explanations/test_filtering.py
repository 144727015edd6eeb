"""Filters and order against a plain loop over the records."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from layouts.explanations.colours import table, tables
from layouts.explanations.explanation_choice import ExplanationChoice, read_choice
from layouts.explanations.filtering import matching
from layouts.explanations.listing import listing
from layouts.explanations.open_explanations import OpenExplanations
from layouts.explanations.tables import MOST_LABELS, sample_cards, sample_table
from layouts.kit.state import BadInput
from parsers import open_run
from parsers.explanations.snapshot import Explanations
from parsers.recording import ExplanationWriter, Uncertainty
from tests.amounts import each_once, long_after

LABELS = 5


@pytest.fixture(scope="module", params=[False, True], ids=["recorded above one half", "all labels recorded"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Explanations:
    folder = tmp_path_factory.mktemp("run") / "run"
    rng = np.random.default_rng(11)
    with ExplanationWriter(str(folder), labels=list("abcde"), explainers=["A"], seconds=5) as writer:
        for sample in range(60):
            truth = sorted(rng.choice(LABELS, rng.integers(0, 3), replace=False).tolist())
            p = np.round(rng.random(LABELS), 2)
            kept = [label for label in range(LABELS) if request.param or label in truth or p[label] > 0.5]
            sure = {label: Uncertainty(float(np.round(rng.random(), 3)), 0.0, 1.0) for label in kept}
            writer.sample(
                sample * 3, np.zeros((2, 2), np.uint8), truth=truth, probabilities={label: float(p[label]) for label in kept},
                uncertainty=sure if sample % 4 else None,
            )  # fmt: skip
            writer.heat_map(sample * 3, "A", 0, np.eye(2))
    return open_run(str(folder)).explanations.snapshot()


def plain(found: Explanations, choice: ExplanationChoice) -> list[int]:
    """The samples a choice keeps, by id, one after the other."""
    kept = []
    for sample, image in zip(found.samples["sample"], found.samples["image"], strict=True):
        rows = found.predictions[found.predictions["sample"] == sample]
        recorded = {
            int(r.label): (r.probability, r.sd, bool(r.truth)) for r in rows.itertuples()
        }

        def inside(p: float, sd: float) -> bool:
            of_p = choice.probability is None or choice.probability[0] <= p <= choice.probability[1]
            return of_p and (choice.sd is None or choice.sd[0] <= sd <= choice.sd[1])

        chosen = {
            label: one for label, one in recorded.items()
            if (not choice.labels or label in choice.labels) and inside(one[0], one[1])
        }  # fmt: skip
        if (choice.probability or choice.sd) and not chosen:
            continue
        told = {label for label, (p, _, true) in chosen.items() if true or p >= choice.threshold}
        if choice.labels and not choice.outcomes and not told:
            continue
        if choice.predicted and not any(recorded.get(label, (0, 0, 0))[0] >= choice.threshold for label in choice.predicted):
            continue
        if choice.truth and not any(recorded.get(label, (0, 0, False))[2] for label in choice.truth):
            continue
        if choice.text and choice.text.lower() not in f"{sample}\n{image}".lower():
            continue
        if choice.outcomes:
            if not any(one[2] for one in recorded.values()):
                continue
            outcomes = {
                ("tp" if p >= choice.threshold else "fn") if true else ("fp" if p >= choice.threshold else "tn")
                for p, _, true in chosen.values()
            }
            whole = choice.labels or range(LABELS)
            if choice.probability is None and choice.sd is None and any(label not in recorded for label in whole):
                outcomes.add("tn")
            if outcomes.isdisjoint(choice.outcomes):
                continue
        kept.append(int(sample))
    return kept


CHOICES = [
    ExplanationChoice("r"),
    ExplanationChoice("r", labels=(1,)),
    ExplanationChoice("r", labels=(1, 4), outcomes=("fp",)),
    ExplanationChoice("r", outcomes=("tp",)),
    ExplanationChoice("r", outcomes=("fn",), threshold=0.8),
    ExplanationChoice("r", outcomes=("fp", "fn"), threshold=0.6),
    ExplanationChoice("r", outcomes=("tn",), labels=(0,)),
    ExplanationChoice("r", outcomes=("tn",), threshold=0.0),
    ExplanationChoice("r", outcomes=("tp", "fn", "fp", "tn"), threshold=1.0),
    ExplanationChoice("r", truth=(2,)),
    ExplanationChoice("r", truth=(0, 3), outcomes=("fn",), threshold=0.3),
    ExplanationChoice("r", text="12"),
    ExplanationChoice("r", text="IMAGES/0/9"),
    ExplanationChoice("r", text="nowhere"),
    ExplanationChoice("r", probability=(0.4, 0.6)),
    ExplanationChoice("r", probability=(0.2, 0.9), labels=(3,), outcomes=("fp", "tn"), threshold=0.55),
    ExplanationChoice("r", sd=(0.0, 0.1)),
    ExplanationChoice("r", labels=(77,)),
    ExplanationChoice("r", labels=(1,), threshold=0.9),
    ExplanationChoice("r", labels=(1, 2), threshold=0.2),
    ExplanationChoice("r", labels=(0, 3), outcomes=("tn", "fn")),
    ExplanationChoice("r", predicted=(2,)),
    ExplanationChoice("r", predicted=(0, 4), threshold=0.85),
    ExplanationChoice("r", predicted=(1,), truth=(2,), threshold=0.6),
    ExplanationChoice("r", predicted=(77,)),
]


@pytest.mark.parametrize("choice", long_after(12, CHOICES), ids=str)
def test_filters_keep_what_a_loop_keeps(found: Explanations, choice: ExplanationChoice) -> None:
    rows = matching(found, choice)
    assert found.samples["sample"].to_numpy()[rows.rows].tolist() == plain(found, choice)
    assert rows.total == 60


@pytest.mark.parametrize("labels", [(), (2,), (0, 1)])
@pytest.mark.parametrize("sort", long_after(2, ["confidence", "uncertainty_up", "confidence_up", "uncertainty"]))
def test_order_is_by_the_extreme_of_the_labels_then_by_id(found: Explanations, sort: str, labels: tuple[int, ...]) -> None:
    column, worst = ("probability" if sort.startswith("confidence") else "sd"), (min if sort.endswith("_up") else max)
    table_of = found.predictions

    def key(sample: int) -> tuple[float, int]:
        rows = table_of[table_of["sample"] == sample]
        kept = [one.label for one in rows.itertuples() if one.label in labels and (one.truth or one.probability >= 0.5)]
        values = [
            value for label, value in zip(rows["label"], rows[column], strict=True)
            if (not labels or label in kept) and not np.isnan(value)
        ]  # fmt: skip
        if not values:
            return (np.inf, sample)
        return (worst(values) if sort.endswith("_up") else -worst(values), sample)

    choice = ExplanationChoice("r", labels=labels, sort=sort)
    wanted = sorted(plain(found, choice), key=key)
    assert found.samples["sample"].to_numpy()[matching(found, choice).rows].tolist() == wanted


@pytest.mark.parametrize(("share", "whole"), each_once([0.01, 0.1, 0.5], [False, True]))
def test_a_label_filter_keeps_what_is_predicted_or_true_of_a_thousand(share: float, whole: bool, tmp_path: Path) -> None:
    """All labels of 1,000 samples are recorded, so each sample has a probability of 'cat'; a share of them are cats."""
    rng = np.random.default_rng(5)
    cats, taken = rng.random(1000) < share, rng.random(1000) < share
    p = np.where(taken, rng.uniform(0.5, 1.0, 1000), rng.uniform(0.0, 0.49, 1000)).round(3)
    with ExplanationWriter(str(tmp_path / "run"), labels=["cat", "dog"], seconds=1) as writer:
        for sample in range(1000):
            every = {0: float(p[sample]), 1: float(1 - p[sample])}
            recorded = {label: one for label, one in every.items() if whole or one > 0.5 or label == 1 - cats[sample]}
            writer.sample(sample, np.zeros((2, 2), np.uint8), truth=[1 - int(cats[sample])], probabilities=recorded)
    found = open_run(str(tmp_path / "run")).explanations.snapshot()
    for threshold in (0.5, 0.75, 1.0):
        reached = p >= threshold
        wanted = {"labels": cats | reached, "truth": cats, "predicted": reached}
        for name, marks in wanted.items():
            kept = matching(found, ExplanationChoice("r", threshold=threshold, **{name: (0,)})).rows  # type: ignore[arg-type]
            assert kept.tolist() == np.flatnonzero(marks).tolist(), (name, threshold)
    opened = SimpleNamespace(open=lambda run: OpenExplanations("ready", found))
    said = listing(SimpleNamespace(explanations=opened), ExplanationChoice("r"))  # type: ignore[arg-type]
    assert said["labels"][0] == [0, "cat", (cats | (p >= 0.5)).sum(), cats.sum(), (p >= 0.5).sum()]


def test_filtered_labels_are_always_among_those_that_are_sent(tmp_path: Path) -> None:
    with ExplanationWriter(str(tmp_path / "run"), labels=[f"label {n}" for n in range(500)], seconds=1) as writer:
        writer.sample(0, np.zeros((2, 2), np.uint8), truth=[3], probabilities={n: n / 500 for n in range(500)})
    found = open_run(str(tmp_path / "run")).explanations.snapshot()
    for name in ("labels", "predicted"):
        (card,) = sample_cards(found, np.array([0]), ExplanationChoice("r", **{name: (7, 260)}))  # type: ignore[arg-type]
        numbers = [label[0] for label in card["labels"]]
        assert {3, 7, 260} <= set(numbers)
        assert len(numbers) == MOST_LABELS


def test_order_by_disagreement_has_unknown_samples_last(found: Explanations) -> None:
    values = np.full(60, np.nan)
    values[[5, 9, 30]] = 0.2, 1.7, 0.2
    assert matching(found, ExplanationChoice("r", sort="disagreement"), values).rows[:5].tolist() == [9, 5, 30, 0, 1]
    assert matching(found, ExplanationChoice("r", sort="disagreement_up"), values).rows[:4].tolist() == [5, 30, 9, 0]
    assert matching(found, ExplanationChoice("r", sort="disagreement")).rows.tolist() == list(range(60))


def test_the_table_has_a_row_for_each_label(found: Explanations) -> None:
    rows = np.array([7, 3])
    made = sample_table(found, rows, ExplanationChoice("r", threshold=0.3))
    table_of = found.predictions
    wanted = [row for sample in (21, 9) for row in table_of[table_of["sample"] == sample].itertuples()]
    with_labels = made[made["label"] != ""]
    assert [(one.sample, one.label, one.probability) for one in with_labels.itertuples()] == [
        (one.sample, one.label, one.probability) for one in wanted
    ]
    assert made["sample"].unique().tolist() == [21, 9]
    outcomes = found.outcomes(0.3).set_index(["sample", "label"])["outcome"]
    for one in made[made["label"] != ""].itertuples():
        if (one.sample, one.label) in outcomes.index:
            assert one.outcome == outcomes[one.sample, one.label]
        else:
            assert one.outcome == ""


def test_cards_have_the_most_probable_labels_first(found: Explanations) -> None:
    for card in sample_cards(found, np.arange(60), ExplanationChoice("r")):
        p = [label[1] for label in card["labels"]]
        assert p == sorted(p, reverse=True)
        assert card["maps"] == [[0, 0]]
        assert card["more"] == 0


def test_a_sample_with_ten_thousand_labels_sends_some(tmp_path: Path) -> None:
    names = [f"label {n}" for n in range(10_000)]
    with ExplanationWriter(str(tmp_path / "run"), labels=names, seconds=1) as writer:
        writer.sample(0, np.zeros((2, 2), np.uint8), truth=[9_999, 3], probabilities={n: n / 10_000 for n in range(10_000)})
    found = open_run(str(tmp_path / "run")).explanations.snapshot()
    (card,) = sample_cards(found, np.array([0]), ExplanationChoice("r"))
    assert len(card["labels"]) == MOST_LABELS
    assert card["more"] == 10_000 - MOST_LABELS
    # True labels are never left out.
    assert [label[0] for label in card["labels"]] == [*range(9_999, 10_000 - MOST_LABELS, -1), 3]
    assert len(sample_table(found, np.array([0]), ExplanationChoice("r"))) == 10_000


def test_nothing_recorded(tmp_path: Path) -> None:
    with ExplanationWriter(str(tmp_path / "run"), labels=["a"], seconds=1):
        pass
    found = open_run(str(tmp_path / "run")).explanations.snapshot()
    for choice in CHOICES:
        assert matching(found, choice).rows.tolist() == []
    assert len(sample_table(found, np.array([], np.int64), ExplanationChoice("r"))) == 0


# What the browser sends ------------------------------------------------------------------------------------------------


def test_a_state_becomes_a_choice() -> None:
    assert read_choice({}) is None
    assert read_choice(None) is None
    state = {"of": ["run"], "label": ["3", "4"], "outcome": ["fp"], "truth": ["1"], "predicted": ["6"],
             "q": ["x"], "t": ["0.25"], "p": ["0.1,0.2"],
             "sd": ["0,1"], "sort": ["uncertainty_up"], "sample": ["17"], "explainer": ["A", "B"]}  # fmt: skip
    assert read_choice(state) == ExplanationChoice(
        "run", "", (3, 4), ("fp",), (1,), "x", 0.25, (0.1, 0.2), (0.0, 1.0), "uncertainty_up", 17, ("A", "B"), (6,)
    )


@pytest.mark.parametrize(("key", "value"), [
    ("t", "2"), ("t", "nan"), ("t", "x"), ("label", "a"), ("label", "1e400"), ("outcome", "xx"), ("sort", "up"), ("p", "0.3"),
    ("p", "1,0"), ("sd", "a,b"), ("sample", "one"), ("q", "x" * 5000),
])  # fmt: skip
def test_bad_values_are_refused(key: str, value: str) -> None:
    with pytest.raises(BadInput):
        read_choice({"of": ["run"], key: [value]})


# Colours --------------------------------------------------------------------------------------------------------------


def test_the_purple_map_is_that_of_the_reference() -> None:
    found = table(("#371956", "#ffff00"))
    s = np.arange(256)[:, None] / 255
    assert np.abs(found[:, :3] - (s * [255, 255, 0] + (1 - s) * [55, 25, 86])).max() <= 0.5
    assert found[:, 3].tolist() == list(range(256))
    assert set(tables()) == {"purple", "viridis", "cividis", "grey"}
