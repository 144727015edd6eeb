"""View files: what they name among the runs, what is refused, and addresses that are written and read again."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.store.runs.matching import UserPatterns
from layouts import PAGES
from layouts.kit.user_input import InvalidInput, view_place
from layouts.runs.notes import Note, Notebook
from layouts.runs.view_files import ViewFile, place_of, read_view, view_text
from tests.amounts import examples, long_after
from tests.sources import MemorySource, row

NAMES = ["lenet_3", "lenet_2", "lenet_1", "resnet_1", "a.b", "axb"]


class Noted:
    """Notes of two runs."""

    def __init__(self, _source: MemorySource) -> None:
        self.book = Notebook(kept=True, notes={"lenet_1": Note("", ("baseline",)), "axb": Note("good", (":star", "baseline"))})

    def notebook(self) -> Notebook:
        return self.book


class Limited(MemorySource):
    """Runs whose names are matched as the application does."""

    patterns = UserPatterns()  # type: ignore[assignment]


def source(names: list[str] = NAMES) -> MemorySource:
    return Limited(rows=[row(name) for name in names], notes=Noted)


def meant(text: str) -> str:
    return place_of(read_view(text), source())


def test_nothing_is_the_list_of_runs() -> None:
    assert read_view("") == ViewFile()
    assert meant("") == ""
    assert meant('page = "runs"') == ""


@pytest.mark.parametrize(("text", "place"), [
    ('page = "scalars"', "scalars"),
    ('page = "texts"', "text"),  # its former name
    ('page = "scalars"\nruns = ["lenet_.*"]', "scalars?run=lenet_3&run=lenet_2&run=lenet_1"),
    ('page = "scalars"\nruns = "^a.b$"', "scalars?run=a.b&run=axb"),
    ('page = "scalars"\nruns = [\'^a\\.b$\']', "scalars?run=a.b"),
    ('page = "scalars"\nruns = ["1$", "lenet_2"]\nnewest = 2', "scalars?run=lenet_2&run=lenet_1"),
    ('page = "scalars"\nruns = [".*"]', "scalars?run=%2A"),
    ('page = "scalars"\nnewest = 1', "scalars?run=lenet_3"),
    ('page = "scalars"\nnewest = 100', "scalars?" + "&".join(f"run={name}" for name in NAMES)),
    ('page = "scalars"\ntagged = "baseline"', "scalars?run=lenet_1&run=axb"),
    ('page = "scalars"\ntagged = "baseline"\nruns = ["lenet"]', "scalars?run=lenet_1"),
    ('page = "scalars"\ntagged = ":star"', "scalars?run=axb"),
    ('page = "scalars"\n[state]\nsmooth = 0.6\nlog = true\npin = ["a b", "c&d"]\ncolumns = 3',
     "scalars?smooth=0.6&log=1&pin=a%20b&pin=c%26d&columns=3"),
])  # fmt: skip
def test_what_a_view_means(text: str, place: str) -> None:
    assert meant(text) == place


@pytest.mark.parametrize(("text", "said"), [
    ("page = ", "expected a view file in TOML, found an error"),
    ("a = " + "[" * 3000 + "]" * 3000, "expected a view file in TOML"),
    ('pages = "scalars"', "found 'pages' (did you mean page?)"),
    ('run = ["a"]', "found 'run' (did you mean runs?)"),
    ("smooth = 0.6", "found 'smooth' (it belongs into [state])"),
    ("xyzzy = 0.6", "found 'xyzzy' (one of page, runs, newest, tagged, card, state)"),
    ('page = "scalars"\n[state]\nsmoth = 1', "found state.'smoth' (did you mean state.smooth?)"),
    ('page = "scalars"\n[state]\nclip = 1', "found state.'clip' (a key of timeline)"),
    ('page = "scalars"\n[state]\nsample = 1', "(a key of saliency, confusion, scores, counterfactual and others)"),
    ("[state]\nsmooth = 1", "found state.'smooth' (a key of scalars)"),
    ("[state]\nzzzzzzzz = 1", "(no page of this version has it)"),
    ("card = 3", "card: expected the tag or title of a card, found '3'"),
    ('card = ""', "card: expected the tag or title of a card"),
    ('card = "a\\u202eb"', "card: expected the tag or title of a card"),
    ('[state]\nrun = "a"', "state.run: expected the runs as patterns in runs"),
    ('page = "scalar"', "page: expected the name of a page, found 'scalar' (did you mean scalars?)"),
    ('page = "../secret"', "page: expected the name of a page"),
    ("page = 1", "page: expected the name of a page, found '1'"),
    ("runs = [1]", "runs: expected a list of patterns"),
    ("runs = []", "runs: expected 1 to 10,000 patterns, found 0; leave runs out"),
    ('runs = [""]', "runs: expected a list of patterns"),
    ('runs = ["("]', "runs: '(': expected a regular expression"),
    ('runs = ["none_such"]', "found none of 6 with runs = ['none_such']"),
    ('runs = ["lenet"]\ntagged = "other"', "found none of 6 with runs = ['lenet'] and tagged = 'other'"),
    ("newest = 0", "newest: expected a whole number from 1"),
    ("newest = true", "newest: expected a whole number"),
    ("tagged = 3", "tagged: expected a tag"),
    ("state = 3", "state: expected a table"),
    ('page = "scalars"\n[state]\nsmooth = nan', "state.smooth: expected a text, a number"),
    ('page = "scalars"\n[state.smooth]\na = 1', "state.smooth: expected a text, a number"),
    ('[state]\nq = "a\\u202eb"', "state.q: expected texts"),
    (f'[state]\nq = "{"a" * 5000}"', "state.q: expected texts of at most 4,096"),
    ("runs = [" + ", ".join(f'"{n}.*"' for n in range(21)) + "]", "expected at most 20 patterns"),
    ("#" * 300_000, "expected a view file of at most 200,000 characters"),
])  # fmt: skip
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        meant(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("pattern", long_after(1, ["(a+)+$", "(a|aa)+$", "(.*a){25}$"]))
def test_a_pattern_that_would_match_for_ever_is_stopped(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(InvalidInput, match="took longer than 1 s and was stopped"):
        place_of(read_view(f'runs = ["{pattern}"]'), source(["a" * 60 + "b"]))
    assert time.process_time() - began < 1, "the match is in a process of its own"


def test_a_view_file_may_name_a_card() -> None:
    assert read_view('page = "scalars"\ncard = "loss"').card == "loss"
    assert read_view('page = "scalars"').card == ""
    assert meant('page = "scalars"\ncard = "loss"') == "scalars"


def test_what_the_page_ignores_is_not_written() -> None:
    text = view_text("scalars?run=lenet_1&smooth=0.6&clip=3&nonsense=1")
    assert "clip" not in text
    assert "nonsense" not in text
    assert meant(text) == "scalars?run=lenet_1&smooth=0.6"


def test_names_of_many_runs_need_no_process() -> None:
    names = [f"run ({n}) [x]" for n in range(500)]
    place = "scalars?" + "&".join(f"run={quote(name, safe='')}" for name in names[::2])
    assert place_of(read_view(view_text(place)), source(names)) == place


@pytest.mark.parametrize("page", [page.path for page in PAGES])
def test_every_page_has_a_view(page: str) -> None:
    assert place_of(read_view(view_text(page)), source()) == page


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.sampled_from(NAMES), unique=True, max_size=4),
    st.dictionaries(
        st.sampled_from(["smooth", "q", "pin", "x", "zoom"]),
        st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"]), min_size=1, max_size=20)
                 | st.sampled_from(["1", "0.6", "1e5", "007", "-0", "'", '"', "\\", "true", "1.0", "1.50", "9" * 20]),
                 min_size=1, max_size=3),
    ),
)  # fmt: skip
def test_what_is_written_is_read_again(runs: list[str], state: dict[str, list[str]]) -> None:
    runs = sorted(runs, key=NAMES.index)
    pairs = [("run", run) for run in runs] + [(key, value) for key, values in state.items() for value in values]
    place = "&".join(f"{key}={quote(value, safe='')}" for key, value in pairs)
    place = view_place(f"scalars?{place}" if place else "scalars")
    assert place_of(read_view(view_text(place)), source()) == place
