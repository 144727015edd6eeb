"""The application as a whole: its routes, its index page, its files, and that it keeps to itself."""

from __future__ import annotations

import contextvars
import gzip
import html
import json
import os
import re
from pathlib import Path

import brotli
import dash
import pytest
from dash import Input, Output, _callback
from flask import Flask

import app
from app.web import bundles, server
from app.web.modules import Assets
from layouts import PAGES
from layouts.kit.page import Ids

ROUTES = {
    "/": {"GET"},
    "/<path:path>": {"GET"},
    "/_dash-component-suites/<string:package_name>/<path:fingerprinted_path>": {"GET"},
    "/_dash-dependencies": {"GET"},
    "/_dash-layout": {"GET"},
    "/_dash-update-component": {"POST"},
    "/_favicon.ico": {"GET"},
    "/_reload-hash": {"GET"},
    "/api/communication/contention.csv": {"GET"},
    "/api/job/what_if.csv": {"GET"},
    "/api/communication/links.csv": {"GET"},
    "/api/communication/matrix": {"GET"},
    "/api/communication/matrix.csv": {"GET"},
    "/api/communication/operation.csv": {"GET"},
    "/api/communication/packets.csv": {"GET"},
    "/api/communication/totals.csv": {"GET"},
    "/api/pipeline/bands.csv": {"GET"},
    "/api/pipeline/moment": {"GET"},
    "/api/pipeline/summary.csv": {"GET"},
    "/api/pipeline/view": {"GET"},
    "/api/dump.csv": {"GET"},
    "/api/dump.npy": {"GET"},
    "/api/dump-about": {"GET"},
    "/api/dump-bad": {"GET"},
    "/api/dump-values": {"GET"},
    **{f"/api/efficiency/{name}.csv": {"GET"} for name in ("figures", "types", "shapes", "slow", "roofline")},
    "/api/explanation/calibration.csv": {"GET"},
    "/api/explanation/cell.csv": {"GET"},
    "/api/explanation/changes.csv": {"GET"},
    "/api/explanation/confusion.csv": {"GET"},
    **{f"/api/conversion/{name}.csv": {"GET"} for name in ("nodes", "values", "weights")},
    **{f"/api/study/{name}.csv": {"GET"} for name in ("trials", "values", "parameters", "workers")},
    "/api/explanation/counterfactuals.csv": {"GET"},
    "/api/explanation/frame.csv": {"GET"},
    "/api/explanation/heatmap": {"GET"},
    "/api/explanation/image": {"GET"},
    "/api/explanation/labels.csv": {"GET"},
    "/api/explanation/outcome": {"GET"},
    "/api/explanation/samples.csv": {"GET"},
    "/api/explanation/scores.csv": {"GET"},
    "/api/expression.json": {"GET"},
    "/api/health": {"GET"},
    "/api/histograms.csv": {"GET"},
    "/api/image": {"GET"},
    "/api/landscape.npz": {"GET"},
    "/api/dataset.json": {"GET"},
    "/api/insights.csv": {"GET"},
    "/api/lineage.csv": {"GET"},
    "/api/lineage.json": {"GET"},
    "/api/pipelines.csv": {"GET"},
    "/api/pipelines.json": {"GET"},
    "/api/fetch": {"POST"},
    "/api/board": {"POST"},
    "/api/board.json": {"GET"},
    "/api/colour": {"POST"},
    "/api/live": {"POST"},
    "/api/live.json": {"GET"},
    "/api/mark": {"POST"},
    "/api/shapes/executions.csv": {"GET"},
    "/api/shapes/operators.csv": {"GET"},
    "/api/shapes/shapes.csv": {"GET"},
    "/api/shapes/steps.csv": {"GET"},
    "/api/shapes/types.csv": {"GET"},
    "/api/check": {"POST"},
    "/api/watchpoints": {"POST"},
    "/api/note": {"POST"},
    "/api/page-file.json": {"GET"},
    "/api/pages/<name>.json": {"GET"},
    "/api/ranks/facts": {"GET"},
    "/api/ranks/memory": {"GET"},
    "/api/ranks/operator": {"GET"},
    "/api/ranks/operators.csv": {"GET"},
    "/api/ranks/ranks.csv": {"GET"},
    "/api/ranks/view": {"GET"},
    "/api/runs.json": {"GET"},
    "/api/status.json": {"GET"},
    "/api/scalars-final.csv": {"GET"},
    "/api/scalars-matrix.csv": {"GET"},
    "/api/scalars-groups.csv": {"GET"},
    "/api/scalars.csv": {"GET"},
    "/api/scalars.json": {"GET"},
    "/api/tensor": {"GET"},
    "/api/tensor-about": {"GET"},
    "/api/tensor-bad": {"GET"},
    "/api/tensor-histograms": {"GET"},
    "/api/tensor-statistics": {"GET"},
    "/api/tensor.csv": {"GET"},
    "/api/profile.csv": {"GET"},
    "/api/tensor.npy": {"GET"},
    "/api/text": {"GET"},
    "/api/timeline/critical": {"GET"},
    "/api/timeline/critical.csv": {"GET"},
    "/api/timeline/curve": {"GET"},
    "/api/timeline/flame": {"GET"},
    "/api/timeline/gaps": {"GET"},
    "/api/timeline/gaps.csv": {"GET"},
    "/api/timeline/difference": {"GET"},
    "/api/timeline/difference.csv": {"GET"},
    "/api/timeline/first": {"GET"},
    "/api/timeline/reading": {"GET"},
    "/api/timeline/related": {"GET"},
    "/api/timeline/names": {"GET"},
    "/api/timeline/range": {"GET"},
    "/api/timeline/range.csv": {"GET"},
    "/api/timeline/search": {"GET"},
    "/api/timeline/slice": {"GET"},
    "/api/timeline/strip": {"GET"},
    "/api/timeline/trace.json": {"GET"},
    "/api/timeline/tracks": {"GET"},
    "/api/timeline/view": {"GET"},
    "/api/scalars-points": {"POST"},
    "/api/view": {"POST"},
    "/api/view-file": {"POST"},
    "/api/view-file.toml": {"GET"},
    "/assets/<path:filename>": {"GET"},
    "/health": {"GET"},
}


def scripts(page: str) -> list[str]:
    return re.findall(r'<script[^>]* src="([^"]+)"', page)


def test_no_route_comes_unnoticed(make_app) -> None:
    found: dict[str, set[str]] = {}
    for rule in make_app().server.url_map.iter_rules():
        folder, _, names = rule.rule.partition("<any(")
        for name in re.findall(r'"([^"]+)"', names) or [rule.rule]:
            found.setdefault(f"{folder}{name}" if names else name, set()).update(rule.methods - {"HEAD", "OPTIONS"})
    assert found == ROUTES


@pytest.mark.parametrize("path", ["/", "/scalars", "/scalars/", "/scalars?embed=1&run=a"])
def test_pages(client, path) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert 'id="react-entry-point"' in answer.text


@pytest.mark.parametrize("path", [
    "/no-such-page", "/scalars/x", "/api", "/api/", "/api/nope", "/api/scalars.xml", "/_mcp", "/_dash-nope", "/assets/nope.js",
    "/assets/../pyproject.toml", "/assets/%2e%2e/pyproject.toml", "/assets/..%2fpyproject.toml", "/assets/", "/etc/passwd",
    "/_dash-component-suites/dash/../../os.py", "/_dash-component-suites/os/path", "/_dash-component-suites/app/cli.py",
    "/_dash-component-suites/dash/dash.py", "/_dash-component-suites/dash/%2e%2e/x.js", "/_dash-component-suites/plotly/x",
    "/static/x", "//", "/\\", "/%00", "/assets/%00", "/_dash-component-suites/dash/%00.js",
])  # fmt: skip
def test_what_is_not_there_is_404(client, path) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 308), path
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("former", "page"),
    [("texts", "text"), ("lineage", "model_lineage"), ("pipelines", "data_lineage"), ("target", "optimisation"),
     ("pair", "two_runs"), ("profile", "profile_overview"), ("runs", "")],
)  # fmt: skip
def test_former_addresses_of_pages_redirect_with_their_query(source, former: str, page: str) -> None:
    client = server.create_app(source, prefix="/one/", public_prefix="/seen/one/").server.test_client()
    answer = client.get(f"/one/{former}?run=a%26b&x=%E6%AD%A5", headers={"Host": "localhost"})
    assert (answer.status_code, answer.headers["Location"]) == (308, f"/seen/one/{page}?run=a%26b&x=%E6%AD%A5")
    assert client.get(f"/one/{former}", headers={"Host": "localhost"}).headers["Location"] == f"/seen/one/{page}"


def test_a_browser_gets_a_way_back_from_an_unknown_page(client) -> None:
    answer = client.get("/no-such-page", headers={"Accept": "text/html,application/xhtml+xml,image/avif,*/*;q=0.8"})
    assert answer.status_code == 404
    assert 'id="react-entry-point"' in answer.text


def test_only_the_libraries_of_a_page(client) -> None:
    runs, scalars = client.get("/").text, client.get("/scalars").text
    assert any("dash_ag_grid" in url for url in scripts(runs))
    assert not any("ag_grid" in url or "cytoscape" in url or "dash_table" in url for url in scripts(scalars))
    assert any("dash_ag_grid" in url for url in later(scalars)[""]["scripts"])
    assert not any("dash_table" in url for url in scripts(runs))


def test_no_page_begins_with_the_whole_of_plotly_but_each_knows_where_it_is(source) -> None:
    client = server.create_app(source).server.test_client()
    text = client.get("/landscape").text
    assert not any("plotly.v" in url for url in scripts(text))
    (url,) = re.findall(r'<meta name="mindscope-surfaces" content="([^"]*)"', text)
    answer = client.get(url, headers={"Accept-Encoding": "identity"})
    assert (answer.status_code, answer.cache_control.max_age) == (200, bundles.A_YEAR)
    assert b'"scatter3d"' in answer.data


def later(page: str) -> dict[str, dict[str, list[str]]]:
    (content,) = re.findall(r'<meta name="mindscope-pages" content="([^"]*)"', page)
    return json.loads(html.unescape(content))


def test_a_page_brings_its_own_files_and_names_those_of_the_others(source) -> None:
    client = server.create_app(source).server.test_client()
    page = client.get("/scalars").text
    own = [*scripts(page), *re.findall(r'<link rel="(?:stylesheet|modulepreload)" href="([^"]*)"', page)]
    names = {found[1] for url in own if (found := re.match(r"/assets/v-[0-9a-f]{16}/(.+)", url))}
    assert {"joined/shell/main.js", "joined/curves/scalars/page.js"} <= names
    assert {"kit.css", "kit/cards.css", "shell.css", "curves/scalars.css"} <= names
    foreign = [page.name for page in PAGES if page.name != "scalars"]
    assert not any(re.match(rf"(?!kit/)\w+/{other}[./]", name) for other in foreign for name in names)
    others = later(page)
    assert set(others) == {other.path for other in PAGES if other.name != "scalars"}
    for url in {url for needed in others.values() for urls in needed.values() for url in urls}:
        answer = client.get(html.unescape(url))
        assert (answer.status_code, answer.cache_control.max_age) == (200, bundles.A_YEAR), url


def test_dash_starts_after_our_modules(source) -> None:
    head, _, footer = server.create_app(source).server.test_client().get("/scalars").text.partition("<footer>")
    order = re.findall(r'<script( id="_dash-renderer")? type="module"(?: src="/assets/v-[^/]*/([^"]*)")?>', footer)
    assert [name or "Dash" for _, name in order] == ["joined/shell/main.js", "joined/curves/scalars/page.js", "Dash"]
    assert "plotly.min.js" in head
    assert footer.index("dash_renderer") < footer.index("modulepreload"), "the large files are asked for first"


def test_components_of_a_page_come_when_it_is_opened(source) -> None:
    client = server.create_app(source).server.test_client()
    assert len(client.get("/_dash-layout", headers={"Accept-Encoding": "br"}).data) < 8_000
    for page in PAGES:
        answer = client.get(f"/api/pages/{page.name}.json")
        assert answer.json["props"]["id"] == Ids(page.name)("frame")
        assert client.get(f"/api/pages/{page.name}.json", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
        assert f'as="fetch" crossorigin="anonymous" href="/api/pages/{page.name}.json"' in client.get(f"/{page.path}").text
    assert client.get("/api/pages/nope.json").status_code == 404


def test_callbacks_are_cached_and_those_of_the_browser_have_short_names(source) -> None:
    client = server.create_app(source).server.test_client()
    answer = client.get("/_dash-dependencies")
    tag = answer.headers["ETag"]
    assert client.get("/_dash-dependencies", headers={"If-None-Match": tag}).status_code == 304
    outputs = [callback["output"] for callback in answer.get_json()]
    assert len(set(outputs)) == len(outputs)
    unnamed = [callback for callback in answer.get_json() if callback["no_output"]]
    assert len(unnamed) > 100
    assert all(callback["clientside_function"] and len(callback["output"]) < 5 for callback in unnamed)


def test_the_styles_of_a_folder_are_one_file(client) -> None:
    directory = Path(bundles.assets_directory())
    sheet = client.get("/assets/curves/scalars.css").data
    names = ("page.css", "groups.css")
    assert sheet == b"\n".join((directory / "curves" / "scalars" / name).read_bytes() for name in names)
    assert client.get("/assets/curves/nothing.css").status_code == 404


def test_a_version_that_is_not_ours_is_answered_and_not_kept(client) -> None:
    old = client.get(f"/assets/v-{'0' * 16}/kit/dash.js")
    assert (old.status_code, old.cache_control.no_cache) == (200, True)
    assert client.get("/assets/v-0/kit/dash.js").status_code == 404


def test_scripts_are_ours_and_kept(client) -> None:
    for path in ("/", "/scalars"):
        for url in scripts(client.get(path).text):
            answer = client.get(url)
            assert url.startswith("/")
            assert answer.status_code == 200
            assert answer.cache_control.max_age == bundles.A_YEAR


def test_theme_and_language_come_first(client) -> None:
    page = client.get("/").text
    assert scripts(page.partition("</head>")[0])[0].endswith("/early/prefs.js")
    assert sum("/early/prefs.js" in url for url in scripts(page)) == 1


@pytest.mark.parametrize("path", ["/_dash-component-suites/plotly/package_data/plotly.min.js", "/assets/kit.css"])
def test_files_without_a_version_are_asked_for_again(client, path) -> None:
    first = client.get(path)
    assert first.cache_control.no_cache
    again = client.get(path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_encodings(client) -> None:
    path = "/assets/kit.css"
    plain = client.get(path)
    packed = client.get(path, headers={"Accept-Encoding": "gzip, br"})
    zipped = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert brotli.decompress(packed.data) == gzip.decompress(zipped.data) == plain.data
    assert len({answer.headers["ETag"] for answer in (plain, packed, zipped)}) == 3
    assert all("Accept-Encoding" in answer.headers["Vary"] for answer in (plain, packed, zipped))


def test_bundles_are_compressed_once(make_app, monkeypatch) -> None:
    client = make_app().server.test_client()
    calls = []
    real = brotli.compress
    monkeypatch.setattr(bundles.brotli, "compress", lambda data, **options: calls.append(1) or real(data, quality=1))
    for _ in range(3):
        client.get("/assets/kit.css", headers={"Accept-Encoding": "br"})
    assert len(calls) == 1


def test_a_changed_asset_is_read_again(tmp_path) -> None:
    (tmp_path / "a.css").write_text("a {}")
    assets = Assets(str(tmp_path))
    files = bundles.Bundles({}, assets)
    with Flask("test").test_request_context("/a.css"):
        assert files.asset("a.css").data == b"a {}"
        assert assets.current() is assets
        (tmp_path / "a.css").write_text("b {}")
        os.utime(tmp_path / "a.css", (1, 1))
        assert files.asset("a.css").data == b"b {}"
        assert assets.current().version != assets.version


def test_two_applications_in_one_process(make_app) -> None:
    first, second = make_app(prefix="/one"), make_app(prefix="/two")
    assert set(first.callbacks) == set(second.callbacks) != set()
    assert first.server.test_client().get("/one/scalars").status_code == 200
    assert second.server.test_client().get("/two/scalars").status_code == 200
    assert second.server.test_client().get("/one/scalars").status_code == 404


def test_two_applications_on_one_host(make_app) -> None:
    host = Flask("host")
    make_app(prefix="/one", server=host)
    make_app(prefix="/two.x", server=host)
    for path in ("/one/", "/two.x/", "/one/api/health", "/two.x/health"):
        assert host.test_client().get(path).status_code == 200


def test_callbacks_of_the_host_stay_the_hosts(make_app) -> None:
    @dash.callback(Output("theirs", "children"), Input("theirs", "n_clicks"))
    def theirs(clicks: int) -> int:
        return clicks

    try:
        ours = make_app()
        ours.server.test_client().get("/")
        assert "theirs.children" not in ours.callbacks
        assert "theirs.children" in _callback.GLOBAL_CALLBACK_MAP
    finally:
        _callback.GLOBAL_CALLBACK_MAP.clear()
        _callback.GLOBAL_CALLBACK_LIST.clear()


def test_the_current_application_of_the_host_stays(make_app) -> None:
    host = dash.Dash("host", server=Flask("host"))
    make_app(prefix="/ours", server=host.server)
    # Dash leaves the application of the last request in the context of the thread, here that of an earlier test.
    assert contextvars.Context().run(dash.get_app) is host
    assert dash.get_relative_path("/x") == "/x"


def test_hooks_of_other_packages_are_not_ours(make_app) -> None:
    dash.hooks.index()(lambda page: page + "<!-- hooked -->")
    try:
        assert "hooked" not in make_app().server.test_client().get("/").text
    finally:
        dash.hooks._ns["index"].clear()


def test_variables_of_dash_are_not_read(make_app, monkeypatch) -> None:
    for name in ("URL_BASE_PATHNAME", "REQUESTS_PATHNAME_PREFIX", "ASSETS_EXTERNAL_PATH", "APP_NAME"):
        monkeypatch.setenv(f"DASH_{name}", "/odd/")
    monkeypatch.setenv("DASH_MCP_ENABLED", "true")
    page = make_app().server.test_client().get("/").text
    assert "/odd/" not in page
    assert os.environ["DASH_APP_NAME"] == "/odd/"


def test_a_proxy_that_changes_the_prefix(make_app) -> None:
    application = make_app(prefix="/", public_prefix="/user/me/")
    assert all(url.startswith("/user/me/") for url in scripts(application.server.test_client().get("/scalars").text))


def test_what_sources_may_be(tmp_path, source) -> None:
    from parsers import discover

    assert server.frame_source(source) is source
    for given in (str(tmp_path), tmp_path, [tmp_path, str(tmp_path)], discover(tmp_path), ()):
        store = server.frame_source(given)
        assert store.runs.rows() == () or list(store.runs.rows()) == []
        store.stop()


def test_assets_are_found_from_a_checkout_and_from_a_wheel(tmp_path, monkeypatch) -> None:
    assert os.path.isfile(os.path.join(bundles.assets_directory(), "kit", "kit.css"))
    (tmp_path / "app" / "assets").mkdir(parents=True)
    monkeypatch.setattr(bundles, "__file__", str(tmp_path / "app" / "web" / "bundles.py"))
    assert bundles.assets_directory() == str(tmp_path / "app" / "assets")


def test_the_package_gives_create_app() -> None:
    assert app.create_app is server.create_app
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = app.nothing
