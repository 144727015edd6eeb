"""What a client of the server may send: query strings of every route, bodies of those that change something, and callbacks.

A case is JSON: {"path": ROUTE, "query": {NAME: [VALUE, ...]}}, {"path": ROUTE, "body": VALUE}, or the body of a callback. One
server over runs that were recorded answers all cases of a process. Whatever is sent, it is no fault of the server, its JSON is
JSON, and a file of remarks that is written can be read.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app import create_app
from app.routes.all_routes import GET
from app.store.runs.notes_format import decode
from app.store.store import Store
from app.web.server import Application
from tests.app.web.test_callbacks import ASK, requests_of, values_of
from tests.fuzz.corpus import ROOT, Files
from tests.fuzz.promises import Broken
from tests.recorded import RECORDED

_DATA = ROOT / "tests" / "data"
_READ = 64 << 10
"""Bytes of an answer that are read."""
_OTHERS = ("/runs.json", "/health")
_KNOWN = re.compile(r"expected the parameters ([\w, -]+);")
_RUN = "runs/lenet_landscape"
_USUAL = {
    "run": [_RUN, "runs/many_tags"], "tag": ["loss"], "from": ["0"], "to": ["5"], "expr": ["loss - 1"],
    "step": ["1"], "rank": ["0"], "limit": ["3"], "download": ["1"],
}  # fmt: skip
"""Values of a parameter, by its name: what pages send."""
_CARD = {
    "key": "0011223344556677",
    "place": "scalars?run=*",
    "part": "curves",
    "title": "t",
    "text": "",
    "x": 0,
    "y": 0,
    "w": 4,
    "h": 3,
}
_BOARD = {"format": "mindscope board", "version": 1, "name": "b", "cards": [_CARD]}
_BODIES: tuple[tuple[str, Any], ...] = (
    ("/note", {"run": _RUN, "remark": "good 训练", "was": "", "add": [":star", "paper"], "remove": [":bug"]}),
    ("/view", {"save": "Losses", "place": "scalars?run=a&smooth=0.6", "instead": None}),
    ("/view", {"rename": "v1", "name": "Other", "was": "x"}),
    ("/view", {"delete": "v1", "was": "x"}),
    ("/mark", {"save": "stall", "run": _RUN, "session": "profiler", "rank": 3, "times": [1200, 5600], "instead": None}),
    ("/mark", {"delete": "m1", "was": "x"}),
    ("/colour", {"colour": "#aabbcc", "run": _RUN}),
    ("/colour", {"colour": "#aabbcc", "by": "folder", "label": "ranks"}),
    ("/watchpoints", {"run": _RUN, "was": "", "watchpoints": [
        {"condition": "tensor_too_large", "limits": {"max_gt": 1e4}, "names": ["Default/a"], "pattern": "MatMul|Conv"},
    ]}),
    ("/board", {"create": "one", "key": "0123456789abcdef", "cards": [_CARD]}),
    ("/board", {"import": _BOARD}),
    ("/board", {"delete": "0123456789abcdef"}),
    ("/board", {"board": "0123456789abcdef", "name": "n", "change": [{"key": "0011223344556677", "x": 1}]}),
    ("/live", {"session": "s", "order": "continue", "steps": 1}),
)  # fmt: skip


@dataclass(frozen=True)
class _Server:
    """A server whose runs have been read, a client of it, the folder of its remarks, and a query for each route."""

    application: Application
    client: FlaskClient
    folder: str
    queries: tuple[dict[str, Any], ...]


@cache
def _server() -> _Server:
    """Return the server. It has no threads any more, so that processes that run cases may be copies of this one."""
    folder = os.path.join(tempfile.gettempdir(), f"mindscope-fuzz-notes-{os.getpid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    places = [RECORDED, *(_DATA / name for name in ("dumps", "mindspore_profiler", "mindspore_xai"))]
    store = Store(places, interval=0, notes_directory=folder).start()
    if not store.wait(120):
        raise RuntimeError("the runs were not read")
    application = create_app(store)
    application.server.config["PROPAGATE_EXCEPTIONS"] = True
    client = application.server.test_client()
    queries = tuple(_queries(client))
    store.stop()
    shutil.rmtree(folder)
    return _Server(application, client, folder, queries)


def _queries(client: FlaskClient) -> Iterator[dict[str, Any]]:
    """Yield a request for each route with the parameters that it knows, and those that it answers for some runs."""
    runs = [one["key"] for one in client.get("/api/runs.json").get_json()]
    for path in (*_OTHERS, *(rule for rules in GET.values() for rule in rules)):
        known = _KNOWN.search(client.get(f"/api{path}", query_string={"run": _RUN, "no-such": "1"}).get_data(as_text=True))
        names = known[1].split(", ") if known else list(_USUAL)
        yield {"path": path, "query": {name: _USUAL.get(name) or ASK.get(name, ["1"])[:2] for name in names}}
        for run in runs[::2]:
            query = {"run": [run], **({"tag": ["loss"]} if "tag" in names else {})}
            if _answered(client, path, query):
                yield {"path": path, "query": query}
                break


def _answered(client: FlaskClient, path: str, query: dict[str, list[str]]) -> bool:
    """Return whether a request is answered; what is read in the background for it is waited for."""
    for _ in range(20):
        answer = client.get(f"/api{path}", query_string=query)
        answer.close()
        if answer.status_code != 503:
            return answer.status_code == 200
        time.sleep(0.1)
    return False


def queries() -> Files:
    """Return requests for each route."""
    return tuple(json.dumps(one).encode() for one in _server().queries)


def bodies() -> Files:
    """Return a body for each thing that can be changed."""
    _server()
    return tuple(json.dumps({"path": path, "body": body}).encode() for path, body in _BODIES)


def callbacks() -> Files:
    """Return a request for each callback with values that pages send."""
    return tuple(json.dumps(one).encode() for one in _with_values(_server().application))


def _with_values(application: Application) -> Iterator[dict[str, Any]]:
    asked = "?" + "&".join(f"{name}={_RUN if name == 'run' else values[0]}" for name, values in ASK.items())
    for one in requests_of(application):
        for place in values_of(one):
            place["value"] = asked if place["property"] == "search" else None
        yield one


def ask(data: bytes, _folder: str) -> None:
    """Send one query."""
    sent = _json(data)
    if not isinstance(sent, dict):
        return
    query = sent.get("query")
    pairs = [(name, value) for name, values in query.items() for value in _texts(values)] if isinstance(query, dict) else []
    _check(_server().client.get(_path(sent), query_string=urlencode(pairs, errors="surrogatepass")))


def change(data: bytes, _folder: str) -> None:
    """Send one body to a server without remarks, and again to the one that has those of the first; read what was written."""
    sent = _json(data)
    if not isinstance(sent, dict):
        return
    client, folder = _server().client, _server().folder
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    body = json.dumps(sent.get("body")).encode("utf-8", "surrogatepass")
    for _ in range(2):
        _check(client.post(_path(sent), data=body, content_type="application/json"))
    for name in os.listdir(folder):
        if name.endswith(".jsonl"):
            with open(os.path.join(folder, name), "rb") as file:
                if not decode(file.read())[1]:
                    raise Broken("a file of remarks that was just written is damaged")
    _check(client.get("/api/runs.json"))


def call_back(data: bytes, _folder: str) -> None:
    """Send the body of one callback, whatever it is."""
    _check(_server().client.post("/_dash-update-component", data=data, content_type="application/json"))


def _path(sent: dict[str, Any]) -> str:
    return "/api" + re.sub(r"[^\w/.-]", "", str(sent.get("path")))[:200]


def _texts(values: Any) -> list[str]:
    return [str(value) for value in (values if isinstance(values, list) else [values])][:50]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _check(answer: TestResponse) -> None:
    if answer.status_code >= 500 and answer.status_code != 503:
        raise Broken(f"status {answer.status_code}")
    text = b""
    for part in answer.response:
        text += part
        if len(text) > _READ:  # an export of everything: it goes on for as long as its client reads
            break
    else:
        if answer.is_json and text:
            json.loads(text, parse_constant=_no_json)
    answer.close()
    if b"Traceback (most recent call last)" in text:
        raise Broken("a traceback in an answer")


def _no_json(name: str) -> Any:
    raise Broken(f"{name} is not JSON")
