"""The plain routes, read back with csv, json and pandas."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import threading

import numpy as np
import pandas as pd
import pytest
from werkzeug.http import parse_options_header

from app.routes import exports as routes
from app.routes import unread_runs
from parsers import LineageRow, Series

HOSTILE = (
    "=cmd|'/C calc'!A0", "+1", "-1", "@x", "'quoted", 'a"b,c', "<b>x</b>", "line\nbreak", "carriage\rreturn", "训练/损失",
    "😀" * 60, "a/b%2Fc",
)  # fmt: skip


def rows(answer) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def unquoted(cell: str) -> str:
    """What the documentation says: one apostrophe at the beginning of a run or tag is ours."""
    return cell.removeprefix("'")


@pytest.fixture
def source(source):
    """The runs of the common source and one run and tag for each hostile name."""
    one = Series(*(column[:1] for column in source.curves.series("a", "acc")))
    source.data |= {name: {"scalar": {name: one}} for name in HOSTILE}
    return source


def test_everything_comes_back_bit_for_bit(client, source) -> None:
    got = rows(client.get("/api/scalars.csv?superseded=1"))
    wanted = [
        (run, tag, int(step), wall, value)
        for run, content in source.data.items() for tag, s in content["scalar"].items()
        for step, wall, value in zip(s.step, s.wall_time, s.value, strict=True)
    ]  # fmt: skip
    names = [(unquoted(r["run"]), unquoted(r["tag"]), int(r["step"]), float(r["wall_time"])) for r in got]
    assert names == [w[:4] for w in wanted]
    np.testing.assert_array_equal([float(r["value"]) for r in got], [w[4] for w in wanted])


def test_no_cell_is_a_formula(client) -> None:
    for row in rows(client.get("/api/scalars.csv")):
        assert not row["run"].startswith(("=", "+", "-", "@"))
        assert not row["tag"].startswith(("=", "+", "-", "@"))


def test_pandas_reads_it(client) -> None:
    frame = pd.read_csv(io.BytesIO(client.get("/api/scalars.csv?run=a&tag=loss").data))
    assert frame["value"][0] == 0.1
    assert math.isnan(frame["value"][1])
    assert frame["value"][2] == -math.inf


def test_json_is_json(client, source) -> None:
    answer = client.get("/api/scalars.json?superseded=1")
    got = json.loads(answer.text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert len(got) == sum(len(s.step) for content in source.data.values() for s in content["scalar"].values())
    assert [(r["step"], r["value"]) for r in got[:3]] == [(1, 0.1), (2, "NaN"), (3, "-Infinity")]
    assert {r["run"] for r in got} == set(source.data)


def test_nothing_is_still_csv_and_json(client) -> None:
    assert rows(client.get("/api/scalars.csv?tags=no-such")) == []
    assert client.get("/api/scalars.json?tags=no-such").json == []


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"run": "a", "tag": "loss"}, [("a", "loss", 1), ("a", "loss", 2), ("a", "loss", 3)]),
        ({"run": "a", "tag": ["loss", "acc"], "to": "1"}, [("a", "loss", 1), ("a", "acc", 1)]),
        ({"runs": "^(a|dir/b)$", "tag": "loss", "from": "3"},
         [("a", "loss", 3), ("dir/b", "loss", 5)]),
        ({"runs": "^(a|dir/b)$", "tag": "loss", "from": "3", "superseded": "1"},
         [("a", "loss", 3), ("dir/b", "loss", 2**60), ("dir/b", "loss", 5)]),
        ({"run": "dir/b", "tags": "^l.ss$", "from": "5", "to": "5"}, [("dir/b", "loss", 5)]),
        ({"run": "a", "tags": "cc"}, [("a", "acc", 1), ("a", "acc", 2)]),
        ({"run": "a/b%2Fc"}, [("a/b%2Fc", "a/b%2Fc", 1)]),
        ({"run": "line\nbreak"}, [("line\nbreak", "line\nbreak", 1)]),
        ({"run": "a", "tag": "acc", "from": str(-(10**18))}, [("a", "acc", 1), ("a", "acc", 2)]),
    ],
)
def test_selection(client, query, wanted) -> None:
    got = rows(client.get("/api/scalars.csv", query_string=query))
    assert [(r["run"], r["tag"], int(r["step"])) for r in got] == wanted


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"run": "nope"}, 404, "no such run: 'nope'"),
        ({"run": "../../etc/passwd"}, 404, "no such run"),
        ({"run": "a", "tag": "nope"}, 404, "no such tag in these runs: 'nope'"),
        ({"runs": "("}, 400, "expected a regular expression"),
        ({"tags": "[z-a]"}, 400, "expected a regular expression"),
        ({"tags": "a" * 1001}, 400, "at most 1000 characters"),
        ({"from": "x"}, 400, "from: expected a step, found 'x'"),
        ({"to": "1e5"}, 400, "to: expected a step"),
        ({"to": ["1", "2"]}, 400, "to: expected this parameter once, found it 2 times"),
        ({"steps": "1"}, 400, "expected the parameters run, runs, tag, tags, from, to, expr, superseded, found 'steps'"),
    ],
)
def test_refusals(client, query, status, said) -> None:
    for suffix in ("csv", "json"):
        answer = client.get(f"/api/scalars.{suffix}", query_string=query)
        assert answer.status_code == status
        assert said in answer.json["error"]


def test_a_pattern_that_never_ends_is_stopped(client, source) -> None:
    source.data["a" * 60 + "!"] = source.data["a"]
    answer = client.get("/api/scalars.csv", query_string={"runs": "^(a+)+$"})
    assert answer.status_code == 400
    assert "longer than 1 s and was stopped" in answer.json["error"]


@pytest.mark.parametrize("path", ["/api/scalars.csv?run=a", "/api/histograms.csv?run=a", "/api/insights.csv?run=a"])
def test_a_run_of_which_nothing_is_read_yet_is_waited_for(client, source, monkeypatch, path) -> None:
    monkeypatch.setattr(unread_runs, "READING_PATIENCE", 0.1)
    source.data["a"]["row"] = {"state": "waiting", "tags": {}}
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert source.wanted == ["a"]


@pytest.mark.parametrize("path", [
    "/api/scalars.csv?run=a", "/api/scalars.json?run=a", "/api/scalars-final.csv?run=a", "/api/insights.csv?run=a",
])  # fmt: skip
def test_what_has_been_read_of_a_growing_run_is_answered_with_its_last_step(client, source, monkeypatch, path) -> None:
    monkeypatch.setattr(unread_runs, "READING_PATIENCE", 0.1)
    whole = client.get(path)
    assert "X-Read-To-Step" not in whole.headers
    source.data["a"]["row"] = {"state": "loading"}
    answer = client.get(path)
    last = max(int(series.step[-1]) for series in source.data["a"]["scalar"].values())
    assert (answer.status_code, answer.headers["X-Read-To-Step"]) == (200, f"a={last}")
    assert answer.data == whole.data


def test_many_runs_that_are_being_read_are_named_safely(client, source, monkeypatch) -> None:
    monkeypatch.setattr(unread_runs, "READING_PATIENCE", 0.0)
    monkeypatch.setattr(unread_runs, "MOST_NAMED", 2)
    for name in HOSTILE[-6:]:
        source.data[name]["row"] = {"state": "loading"}
    named = client.get("/api/scalars.csv").headers["X-Read-To-Step"].split(", ")
    assert len(named) == 3
    assert named[-1] == "..."
    assert all(name.isascii() and name.isprintable() for name in named)


@pytest.mark.parametrize("run", [*HOSTILE, "", "a", "..", ".hidden", "x" * 300, 'a"; filename="evil.exe', "a\r\nX-Evil: 1"])
def test_file_names_are_ours(run) -> None:
    header = routes.disposition(wanted(run), "csv")
    assert header.isascii()
    assert header.isprintable()
    kind, options = parse_options_header(header)
    assert kind == "attachment"
    assert options["filename"].endswith("scalars.csv")
    assert not set(options["filename"]) & set('/\\"\n\r:;')
    assert not options["filename"].startswith((".", "-"))
    assert len(options["filename"]) < 120


def test_a_file_name_keeps_what_it_can() -> None:
    _, options = parse_options_header(routes.disposition(wanted("训练/run 1"), "json"))
    assert options["filename"] == "训练_run_1-scalars.json"
    assert 'filename="run_1-scalars.json"' in routes.disposition(wanted("训练/run 1"), "json")


def test_it_is_sent_while_it_is_made(make_app, source) -> None:
    count = 200_000
    steps, values = np.arange(count), np.linspace(0.0, 1.0, count)
    source.data = {"long": {"scalar": {"loss": Series(steps, values, values, np.zeros(count, np.int32), steps)}}}
    answer = make_app().server.test_client().get("/api/scalars.csv", buffered=False)
    pieces = iter(answer.response)
    assert len(next(pieces)) + len(next(pieces)) < 2_000_000


def test_compressed_where_asked(client) -> None:
    import brotli

    plain = client.get("/api/scalars.csv").data
    packed = client.get("/api/scalars.csv", headers={"Accept-Encoding": "br"})
    assert packed.headers["Content-Encoding"] == "br"
    assert brotli.decompress(packed.data) == plain


def test_runs_and_health(client) -> None:
    assert [run["key"] for run in client.get("/api/runs.json").json][:2] == ["a", "dir/b"]
    assert client.get("/api/health").json["status"] == "ok"


def test_runs_come_in_pages(client, source, monkeypatch) -> None:
    every = [run["key"] for run in client.get("/api/runs.json").json]
    assert len(every) > 2
    found, url = [], "?limit=2"
    while url:
        answer = client.get("/api/runs.json" + url)
        assert answer.headers["X-Total-Count"] == str(len(every))
        assert len(answer.json) <= 2
        found += [run["key"] for run in answer.json]
        link = answer.headers.get("Link", "")
        url = link.split(">")[0].removeprefix("<")
    assert found == every
    assert client.get(f"/api/runs.json?from={len(every)}").json == []


@pytest.mark.parametrize("query", ["from=-1", "from=x", "limit=0", "limit=1001", "limit=1&limit=2", "page=2", "from=²"])
def test_a_page_of_runs_is_asked_for_in_whole_numbers(client, query) -> None:
    assert client.get(f"/api/runs.json?{query}").status_code == 400


@pytest.mark.parametrize(("value", "text"), [
    (0.5, 0.5), (None, None), (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"),
])  # fmt: skip
def test_values_of_runs_that_json_has_no_number_for(client, source, value, text) -> None:
    for content in source.data.values():
        content["row"] = {"main_value": value}
    assert {run["main_value"] for run in client.get("/api/runs.json").json} == {text}


@pytest.mark.parametrize("path", ["/api/scalars.csv", "/api/scalars.csv?run=a", "/api/scalars.json", "/api/runs.json"])
def test_nothing_is_answered_before_the_first_look(client, source, monkeypatch, path) -> None:
    source.read_at = None
    monkeypatch.setattr(unread_runs, "PATIENCE", 0.1)
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert "still scanning" in answer.json["error"]
    monkeypatch.setattr(unread_runs, "PATIENCE", 10.0)
    threading.Timer(0.2, setattr, (source, "read_at", 5.0)).start()
    assert client.get(path).status_code == 200


def test_a_look_that_failed_is_told(client, source) -> None:
    source.failed = "PermissionError: /secret"
    answer = client.get("/health")
    assert (answer.status_code, answer.json) == (503, {"status": "failed"})
    answer = client.get("/api/health")
    assert (answer.status_code, answer.json["status"], answer.json["failed"]) == (503, "failed", source.failed)
    assert client.get("/api/runs.json").status_code == 200
    source.read_at = None
    assert client.get("/api/runs.json").status_code == 503


@pytest.mark.parametrize(
    ("change", "status"),
    [({"missing": True}, "missing"), ({"age": 15.1}, "stale"), ({"age": 14.9}, "ok"), ({"age": 1e6, "interval": 0}, "ok"),
     ({"missing": True, "failed": "an error"}, "failed")],
)  # fmt: skip
def test_a_source_that_is_stale_or_missing_is_not_well(client, source, monkeypatch, change, status) -> None:
    found = dataclasses.replace(source.runs.status(), **change)
    monkeypatch.setattr(source.runs, "status", lambda: found)
    code = 200 if status == "ok" else 503
    for path in ("/health", "/api/health"):
        answer = client.get(path)
        assert (answer.status_code, answer.json["status"]) == (code, status)


def wanted(*runs: str, tags: tuple[str, ...] = ("a", "b")) -> routes.ExportSelection:
    return routes.ExportSelection(tuple((run, tag) for run in runs for tag in tags), routes.ALL_STEPS)


def test_a_file_is_named_after_what_is_in_it() -> None:
    assert 'filename="2-runs-loss-scalars.csv"' in routes.disposition(wanted("r1", "r2", tags=("loss",)), "csv")
    assert 'filename="r1-loss-scalars.csv"' in routes.disposition(wanted("r1", tags=("loss",)), "csv")
    assert 'filename="2-runs-scalars.csv"' in routes.disposition(wanted("r1", "r2"), "csv")
    part = routes.ExportSelection((("r1", "loss"),), (5, 90))
    assert 'filename="r1-loss-scalars-steps5-90.json"' in routes.disposition(part, "json")


def test_settings_of_runs_are_exported_as_asked(client, source, monkeypatch) -> None:
    described = (
        LineageRow("a", "/a", {"optimizer": "=1+1", "loss": math.nan, "metric/acc": 0.5}, {}),
        LineageRow("b", "/b", {"user_defined/n": 3}, {}),
    )
    monkeypatch.setattr(source.lineage, "rows", lambda: described)
    text = client.get("/api/lineage.csv?col=loss&col=optimizer&col=user_defined/n&run=b&run=a").text
    assert text == "run,loss,optimizer,user_defined/n\nb,,,3\na,NaN,'=1+1,\n"
    whole = client.get("/api/lineage.json").json
    assert whole[0] == {"run": "a", "path": "/a", "optimizer": "=1+1", "loss": "NaN", "metric/acc": 0.5}
    assert whole[1] == {"run": "b", "path": "/b", "user_defined/n": 3}
    for query in ("col=nothing", "run=nobody"):
        assert client.get(f"/api/lineage.csv?{query}").status_code == 404
    assert client.get("/api/lineage.csv?tag=loss").status_code == 400


# Derived curves ---------------------------------------------------------------------------------------------------------


def test_derived_curves_are_exported_under_the_name_of_their_expression(client, source) -> None:
    acc, loss = source.curves.series("a", "acc"), source.curves.series("a", "loss")
    wanted = pd.Series(acc.value, acc.step) / pd.Series(loss.value, loss.step)[acc.step]
    for query in ({"expr": "acc / loss"}, {"tag": "=acc / loss"}):
        got = rows(client.get("/api/scalars.csv", query_string=query | {"run": "a"}))
        assert {(r["run"], unquoted(r["tag"]), r["file"], r["order"]) for r in got} == {("a", "=acc / loss", "-1", "-1")}
        assert [int(r["step"]) for r in got] == wanted.index.tolist()
        np.testing.assert_array_equal([float(r["value"]) for r in got], wanted.to_numpy())
    query = {"expr": ["acc / loss", "2 * acc"], "run": "a", "tag": "acc", "from": 2}
    got = client.get("/api/scalars.json", query_string=query).json
    assert list(dict.fromkeys(row["tag"] for row in got)) == ["acc", "=acc / loss", "=2 * acc"]
    assert [row["step"] for row in got] == [2, 2, 2]
    got = rows(client.get("/api/scalars-final.csv", query_string={"expr": "log10(acc)", "run": "a"}))
    found = [(unquoted(r["tag"]), float(r["last"]), float(r["best"])) for r in got]
    assert found == [("=log10(acc)", np.log10(1 / 3), np.log10(0.5))], "best is the highest, as for acc"


@pytest.mark.parametrize("path", ["scalars.csv", "scalars.json", "scalars-final.csv"])
@pytest.mark.parametrize("name", ["expr", "tag"])
def test_an_invalid_expression_is_refused_with_its_column(client, path: str, name: str) -> None:
    answer = client.get(f"/api/{path}", query_string={name: ("=" if name == "tag" else "") + "acc - * loss", "run": "a"})
    assert (answer.status_code, answer.json) == (
        400, {"error": "expression, column 7: expected a tag, a number, a function or (; found '*'"},
    )  # fmt: skip


def test_an_expression_that_no_run_has_is_404_and_says_why(client) -> None:
    answer = client.get("/api/scalars.csv", query_string={"expr": "acc - 'no such'", "run": "a"})
    assert answer.status_code == 404
    assert answer.json == {"error": "no run has all tags of \"=acc - 'no such'\"; missing: 'no such'"}
    assert client.get("/api/histograms.csv", query_string={"expr": "acc"}).status_code == 400


def test_an_expression_is_checked(client) -> None:
    answer = client.get("/api/expression.json", query_string={"expr": "acc / 'x y' - loss", "run": "a"})
    tags = ["acc", "x y", "loss"]
    assert answer.json == {"expression": "acc / 'x y' - loss", "tags": tags, "missing": ["x y"], "error": None}
    wrong = client.get("/api/expression.json?expr=mean(acc").json["error"]
    chinese = "第 9 列：应为逗号和第二个参数，实际为结尾。"
    assert wrong == {"column": 9, "text": ["Column 9: expected a comma and the second argument; found the end.", chinese]}
    assert client.get("/api/expression.json").status_code == 400
    assert client.get("/api/expression.json?expr=a&expr=b").status_code == 400
    assert client.get("/api/expression.json?expr=a&run=nope").status_code == 404
