"""Routes whose modules are not imported yet: the table is what the modules add."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from flask import Flask

from app.routes.all_routes import GET, POST, LaterRoutes, blueprint
from tests.sources import MemorySource

ROOT = Path(__file__).resolve().parents[3]


class Added:
    """The routes that a module adds: method -> rules."""

    def __init__(self) -> None:
        self.rules: dict[str, list[str]] = {"GET": [], "POST": []}

    def add_url_rule(self, rule: str, endpoint: str, view: object, methods: tuple[str, ...] = ("GET",)) -> None:
        [method] = methods
        assert endpoint
        assert callable(view)
        self.rules[method].append(rule)


@pytest.mark.parametrize("module", sorted({*GET, *POST}))
def test_the_table_has_the_routes_of_a_module(module: str) -> None:
    added = Added()
    import_module(f"app.routes.{module}").add_routes(added, MemorySource({}))
    assert sorted(added.rules["GET"]) == sorted(GET.get(module, ()))
    assert sorted(added.rules["POST"]) == sorted(POST.get(module, ()))


def test_every_module_with_routes_is_in_the_table() -> None:
    folder = ROOT / "app" / "routes"
    having = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py") if "def add_routes(" in path.read_text(encoding="utf-8")
    }
    assert having - {"runs.listing"} == {*GET, *POST}


def test_a_route_answers_its_method_only_and_no_other_name() -> None:
    server = Flask("test")
    server.register_blueprint(blueprint(MemorySource({}), "routes"), url_prefix="/api")
    client = server.test_client()
    assert client.get("/api/note").status_code == 405
    assert {*client.get("/api/note").headers["Allow"].split(", ")} == {"OPTIONS", "POST"}
    assert client.post("/api/scalars.csv").status_code == 405
    assert {*client.options("/api/timeline/view").headers["Allow"].split(", ")} == {"GET", "HEAD", "OPTIONS"}
    assert client.get("/api/scalars.csv").status_code == 200
    assert client.get("/api/timeline/view").is_json, "refused by its module"
    for missing in ("/api/scalars", "/api/timeline", "/api/timeline/", "/api/timeline/view/x", "/api/study/view"):
        assert client.get(missing).status_code == 404, missing


def test_the_module_of_a_route_is_imported_by_its_first_request() -> None:
    code = (
        "import sys\n"
        "from flask import Flask; from tests.sources import MemorySource; from app.routes.all_routes import blueprint\n"
        "server = Flask('x'); name = 'app.routes.jobs.pipeline'; before = name in sys.modules\n"
        "server.register_blueprint(blueprint(MemorySource({}), 'x'), url_prefix='/api')\n"
        "server.test_client().get('/api/pipeline/view'); print(before, name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_route_that_its_module_lacks_is_no_route() -> None:
    with pytest.raises(KeyError, match="/image2"):
        LaterRoutes("app.routes.values.media", MemorySource({})).view("/image2")
