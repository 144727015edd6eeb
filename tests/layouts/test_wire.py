"""The types that scripts read what the server sends by, assets/types/generated.d.ts: made from Python, and true."""

from __future__ import annotations

import html
import json
import math
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.routes.runs.boards import as_json
from app.store.store import Store
from app.web.server import create_app
from layouts import PAGES
from layouts.curves.last_values import shown_last
from layouts.curves.scalars import insights, ranking, sheet
from layouts.curves.scalars.judging import judged
from layouts.curves.scalars.page import draw as draw_curves
from layouts.dumps.catalogue import catalogue as dump_catalogue
from layouts.dumps.dump_choice import DumpChoice as DumpChoice
from layouts.dumps.listing import listing
from layouts.explanations.explanation_choice import ExplanationChoice as ExplanationChoice
from layouts.explanations.listing import catalogue as explanation_catalogue
from layouts.explanations.listing import listing as explanation_listing
from layouts.graphs.conversion.listing import catalogue as conversion_catalogue
from layouts.graphs.conversion.listing import listing as conversion_listing
from layouts.kit.cards.catalogue import catalogue as tag_catalogue
from layouts.kit.cards.recorded import items_of, steps_of
from layouts.kit.page import Ids
from layouts.profiles.catalogue import catalogue as profile_catalogue
from layouts.profiles.profile_choice import ProfileChoice
from layouts.profiles.reading_progress import reading
from layouts.runs.boards import Board, BoardCard, LostField
from layouts.runs.guides import page as guides
from layouts.runs.notes import Mark, NamedView, Note
from layouts.runs.overview.head import head
from layouts.runs.overview.insights import entries
from layouts.runs.overview.page import shown_run
from layouts.runs.runs import columns
from layouts.runs.start import page as start
from layouts.runs.symptoms.answering import SymptomAnswers
from layouts.shell import run_list, shell
from layouts.tuning.tuning import page as tuning
from layouts.values.histogram_asks import VIEWS, HistogramRequest
from layouts.values.histogram_figures import draw, found_in
from parsers import open_run
from parsers.analysis.curves.final_values import LastValue
from parsers.names import EXPRESSION
from tests.converted import CONVERSION
from tests.js.wire_types import ELSEWHERE, TARGET, Types, Undeclared, generated
from tests.recorded import RECORDED
from tests.sources import MemorySource
from tests.waiting import when
from tests.writers.dumps import write_dump
from tests.writers.studies import begun, trial

ROOT = Path(__file__).resolve().parents[2]
DECLARED = re.sub(r"/\*\*.*?\*/|//[^\n]*", "", TARGET.read_text(encoding="utf-8"), flags=re.DOTALL)
EXPLAINED = ROOT / "tests" / "data" / "mindspore_xai" / "1.5"
PROFILED = ROOT / "tests" / "data" / "mindspore_profiler" / "2.0.0"
FIELD = re.compile(r"(\w+)(\??): ([^;]+);")
SPACES = {name: body for name, body in re.findall(r"namespace (\w+) \{(.*?)\n\}", DECLARED, re.DOTALL) if name != "Asked"}


def whole_names(kind: str, space: str) -> str:
    """A type in which the names of declarations have their namespace."""
    kind = re.sub("|".join(map(re.escape, ELSEWHERE.values())), "unknown", kind)
    return re.sub(r"(?<![\w.])[A-Z]\w+(?!\w*[<.])", lambda found: f"{space}.{found[0]}", kind)


INTERFACES = {
    f"{space}.{name}": [(field, optional, whole_names(of, space)) for field, optional, of in FIELD.findall(fields)]
    for space, body in SPACES.items() for name, fields in re.findall(r"interface (\w+) \{(.*?)\n  \}", body, re.DOTALL)
}  # fmt: skip
ALIASES = {
    f"{space}.{name}": whole_names(of, space)
    for space, body in SPACES.items() for name, of in re.findall(r"type (\w+) = ([^;]+);", body)
}  # fmt: skip
PLAIN: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,), "null": (type(None),)}


def wrong(value: Any, kind: str, where: str) -> Iterator[str]:
    """Where a value as JSON has it is not of a declared type."""
    kind = kind.strip()
    if kind == "unknown" or (value is None and kind.endswith(" | null")):
        return
    kind = kind.removesuffix(" | null")
    if kind.endswith(")[]"):
        yield from wrong_list(value, kind[1:-3], where)
    elif kind.startswith("Record<string, "):
        if not isinstance(value, dict):
            yield f"{where}: {value!r} is not {kind}"
            return
        for key, one in value.items():
            yield from wrong(one, kind.removeprefix("Record<string, ")[:-1], f"{where}.{key}")
    elif " | " in kind:
        if all(list(wrong(value, one, where)) for one in kind.split(" | ")):
            yield f"{where}: {value!r} is not {kind}"
    elif kind.startswith('"'):
        if value != kind[1:-1]:
            yield f"{where}: {value!r} is not {kind}"
    elif kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or (kind == "number" and isinstance(value, bool)):
            yield f"{where}: {value!r} is not {kind}"
    elif kind.endswith("[]"):
        yield from wrong_list(value, kind[:-2], where)
    elif kind.startswith("["):
        kinds = kind[1:-1].split(", ")
        if not isinstance(value, list) or len(value) != len(kinds):
            yield f"{where}: {value!r} is not {kind}"
        else:
            for at, (one, of) in enumerate(zip(value, kinds, strict=True)):
                yield from wrong(one, of, f"{where}[{at}]")
    elif kind in ALIASES:
        yield from wrong(value, ALIASES[kind], where)
    else:
        yield from wrong_fields(value, INTERFACES[kind], where)


def wrong_list(value: Any, kind: str, where: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{where}: {value!r} is no list"
    else:
        for at, one in enumerate(value):
            yield from wrong(one, kind, f"{where}[{at}]")


def wrong_fields(value: dict[str, Any], fields: list[tuple[str, str, str]], where: str) -> Iterator[str]:
    names = {name for name, _, _ in fields}
    needed = {name for name, optional, _ in fields if not optional}
    if not isinstance(value, dict) or not needed <= set(value) <= names:
        yield f"{where}: {sorted(value)} are not {sorted(names)}"
        return
    for name, _, kind in fields:
        if name in value:
            yield from wrong(value[name], kind, f"{where}.{name}")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    dumped, notes = tmp_path_factory.mktemp("dumped"), tmp_path_factory.mktemp("notes")
    write_dump(dumped / "dump", iterations=2)
    found = Store([RECORDED, PROFILED, EXPLAINED, dumped], notes_directory=str(notes), interval=0).start()
    assert found.wait(60)
    yield found
    found.stop()


def samples(store: Store) -> Iterator[tuple[str, Any]]:
    """(declared type, what the server sends)."""
    yield "Wire.RunChanges", run_list.listing(store)
    yield "Wire.Note", run_list.as_json(Note(remark="said", tags=("bug",)))
    yield "Wire.View", run_list.as_json(NamedView(key="k", name="n", place="scalars?run=a"))
    yield "Wire.Mark", run_list.as_json(Mark(key="k", name="n", session=".", rank=0, times=(1, 2)))
    yield "Wire.Board", as_json(Board("5" * 16, "Daily", (BoardCard("7" * 16, text="x"), BoardCard("8" * 16, "scalars"))), [
        LostField(key="7" * 16, name="text", value="y", number=1),
    ])
    yield from curves(store)
    yield from histograms(store)
    yield from studies()
    row = next(row for row in store.runs.rows() if store.runs.tags(row.members[0]))
    yield "Wire.StartParts", start.shown(store, {})
    yield "Wire.GuideParts", guides.shown(store, SymptomAnswers(store), {}, None)
    yield "Wire.RunHead", head(store, row.members[0], row)
    yield "Wire.NoRun", shown_run(store, {"run": [""]})[0]
    yield "Wire.InsightsLeft", entries(store, {"run": row.members[0], "version": 1})[1]
    yield "Wire.ColumnChoices", columns.choices(store, {})
    cells = {"run": [one.key for one in store.runs.rows()], "col": ["duration", "setting:lr", "last:loss", "last:=["]}
    yield "Wire.ColumnValues", columns.values(store, cells)
    yield "Wire.MatchedTexts", columns.matched(store, {"pattern": ["a"], "text": ["a", "b"]})
    yield "Wire.Problems", run_list.problems(store, 500)
    yield "Wire.TagCatalogue", tag_catalogue(store, "scalar", {})
    (run, tag) = next((run, tag) for row in store.runs.rows() for run in row.members for tag in store.runs.tags(run, "image"))
    yield "Wire.Recorded", steps_of(store, tag, items_of(store, "image", tag, {"run": [run]}))
    profiles = profile_catalogue(store, {})
    assert profiles
    yield "Wire.ProfileCatalogue", profiles
    (first, *_) = profiles["runs"]
    listed = store.profiles.rows(first["key"])[0]
    chosen = ProfileChoice(first["key"], listed.session, listed.rank, listed.mark)
    for name in listed.frames:
        yield "Wire.Reading", reading(store, chosen, None, [name])
    dumps = dump_catalogue(store, {})
    assert dumps
    yield "Wire.DumpCatalogue", dumps
    (dump, *_) = dumps["dumps"]
    chosen_dump = DumpChoice(dump[0], 0, None)
    yield "Wire.DumpListing", when(lambda: listing(store, chosen_dump), lambda found: found["state"] != "reading")
    yield "Wire.DumpListing", listing(store, chosen_dump, first["key"])
    explained = explanation_catalogue(store, {})
    assert explained
    yield "Wire.ExplanationCatalogue", explained
    of = ExplanationChoice(explained["runs"][0][0])
    yield "Wire.ExplanationListing", when(lambda: explanation_listing(store, of), lambda found: found["state"] != "reading")
    yield "Wire.ExplanationListing", explanation_listing(store, ExplanationChoice("no such run"))
    yield from conversions()
    app = create_app(store)
    client = app.server.test_client()
    (sent,) = re.findall(r'<meta name="mindscope-pages" content="([^"]*)"', client.get("/").text)
    for needed in json.loads(html.unescape(sent)).values():
        yield "Wire.Needed", needed
    yield "Wire.ShellPages", shell._pages(PAGES, Ids("shell"), "/")
    tick = next(found for found in app.callbacks if "status.data" in found)
    yield "Wire.Status", status_of(client, tick)


def curves(store: Store) -> Iterator[tuple[str, Any]]:
    """What the page of scalars is sent, with groups, baseline, threshold and derived curves."""
    runs = [run for row in store.runs.rows() for run in row.members if store.runs.tags(run)]
    tags = list(dict.fromkeys(tag for run in runs for tag in store.runs.tags(run)))[:20]
    yield "Curves.Judged", judged(store, {"run": runs, "tag": tags[:2]})
    state = {"run": runs, "tag": [*tags, f"{EXPRESSION}[no such] + 1", f"{EXPRESSION}["]}
    yield "Curves.RankingAnswer", ranking.ranking(store, {"run": runs})
    yield "Curves.Marks", insights.marks(store, {"run": runs, "tag": tags})
    for more in ({}, {"group": ["column:lr"]}, {"base": [f"run:{runs[0]}"], "settings": ["1"]}):
        yield "Curves.Sheet", {**sheet.sheet(store, state | more), "ask": state | more}
    for more in ({}, {"threshold": [">0"], "outliers": ["1"]}, {"base": [f"run:{runs[0]}"]}, {"right": tags[:1]}):
        yield "Curves.ChartMeta", draw_curves(store, state | more)["layout"]["meta"]
    yield "Wire.ShownLast", shown_last(LastValue(math.nan, 3, 0.5, 2))


def conversions() -> Iterator[tuple[str, Any]]:
    """The page about a model conversion."""
    source = MemorySource({"r": {"conversions": dict(open_run(CONVERSION).conversions)}})
    listed = conversion_catalogue(source, {})
    assert listed
    yield "Wire.ConversionCatalogue", listed
    for name in (*listed["runs"][0][3], "no such report"):
        yield "Wire.ConversionListing", conversion_listing(source, {"of": ["r"], "model": [name]})


def histograms(store: Store) -> Iterator[tuple[str, Any]]:
    """The facts of cards of histograms, in every view."""
    every = ((run, store.runs.tags(run, "histogram")) for row in store.runs.rows() for run in row.members)
    run, (tag, *_) = next((run, tags) for run, tags in every if tags)
    for view in VIEWS:
        ask = HistogramRequest.read({"tag": [tag], "run": [run], "view": [view]})
        yield "Wire.HistogramMeta", draw(store, ask, found_in(store, ask))["layout"]["meta"]


def studies() -> Iterator[tuple[str, Any]]:
    """The page about a search, without one and with one that has two targets."""
    yield "Tuning.PendingStudy", tuning.answer_study(MemorySource(), {})
    yield "Tuning.NoFigure", tuning.answer_curves(MemorySource(), {})
    with tempfile.TemporaryDirectory() as directory:
        text = begun("two", (1, 2), search=None) + trial(0, "complete", (1.0, 1.0)) + trial(1, "complete", (2.0, 3.0))
        (Path(directory) / "study").mkdir()
        (Path(directory) / "study" / "journal.log").write_text(text)
        store = Store([directory], interval=0.01).start()
        store.studies.wait()
        yield "Tuning.ReadyStudy", tuning.answer_study(store, {})
        yield "Tuning.ReadySettings", tuning.answer_settings(store, {})
        yield "Tuning.StudyFigure", tuning.answer_curves(store, {})
        store.stop()


def status_of(client: Any, output: str) -> Any:
    """What the callback that answers the clock of a page sends."""
    parts = [part.strip(".") for part in output.strip(".").split("...")]
    outputs = [{"id": part.rpartition(".")[0], "property": part.rpartition(".")[2]} for part in parts]
    frame = parts[0].rpartition("-")[0]
    body = {
        "output": output, "outputs": outputs, "changedPropIds": [f"{frame}-interval.n_intervals"],
        "inputs": [{"id": f"{frame}-interval", "property": "n_intervals", "value": 1},
                   {"id": f"{frame}-reload", "property": "data", "value": None}],
        "state": [{"id": f"{frame}-{part}", "property": "data", "value": None} for part in ("version", "mark")],
    }  # fmt: skip
    answer = client.post("/_dash-update-component", json=body).json
    return next(value["data"] for key, value in answer["response"].items() if key.endswith("-status"))


def test_what_is_sent_is_what_is_declared(store: Store) -> None:
    found = list(samples(store))
    complaints = [text for kind, value in found for text in wrong(json.loads(json.dumps(value, default=str)), kind, kind)]
    assert complaints == []


def test_the_types_are_those_that_python_declares() -> None:
    assert TARGET.read_text(encoding="utf-8") == generated(), "run `make types`"


def test_what_is_not_declared_has_no_type() -> None:
    with pytest.raises(Undeclared):
        Types({}).written(bytes, "Wire")
    kinds = Types({"Wire": {"Name": Note}})
    assert kinds.written(dict[str, list[Note | None]], "Curves") == "Record<string, (Wire.Name | null)[]>"
    assert kinds.written(tuple[str, ...], "Wire") == "string[]"


def test_every_declaration_is_checked(store: Store) -> None:
    """Directly, or as a part of what is."""
    checked = {kind for kind, _ in samples(store)}
    for _ in INTERFACES:
        kinds = " ".join(of for kind in checked for _, _, of in INTERFACES.get(kind, ()))
        kinds += " ".join(of for name, of in ALIASES.items() if name in kinds)
        checked |= set(re.findall(r"[\w.]+", kinds)) & set(INTERFACES)
    assert set(INTERFACES) - checked == set()


def test_a_difference_is_found() -> None:
    (missing,) = wrong({"remark": 1, "tags": []}, "Wire.Note", "Note")
    assert missing == "Note: ['remark', 'tags'] are not ['by', 'remark', 'tags', 'version']"
    note = {"remark": 1, "tags": ["a"], "by": "", "version": ""}
    assert list(wrong(note, "Wire.Note", "Note")) == ["Note.remark: 1 is not string"]
    assert list(wrong(True, "number", "n")) == ["n: True is not number"]
    assert list(wrong(None, "number | null", "n")) == []
    assert list(wrong("x", "number | null", "n")) == ["n: 'x' is not number"]
