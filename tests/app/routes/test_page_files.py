"""What a saved page is made of: plotly.js that unpacks to what its hash allows, and nothing for a page without figures."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os

import pytest

import app
from app import create_app
from app.routes.page_files import policy_hash
from app.web.bundles import CARTESIAN, all_charts_file, assets_directory
from app.web.modules import PAGE_FILE
from tests.sources import MemorySource


def asked(query: str):
    return create_app(MemorySource({})).server.test_client().get(f"/api/page-file.json{query}")


def hash_of(script: bytes) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode() + "'"


@pytest.mark.parametrize("charts", ["flat", "all"])
def test_plotly_and_the_script_are_those_of_the_hashes(charts: str) -> None:
    found = asked(f"?charts={charts}").get_json()
    path = os.path.join(assets_directory(), CARTESIAN) if charts == "flat" else all_charts_file()
    with open(path, "rb") as stream:
        bundle = stream.read().replace(b"\r\n", b"\n")
    assert gzip.decompress(base64.b64decode(found["plotly"])) == bundle
    assert found["hashes"] == [hash_of(found["loader"].encode()), hash_of(bundle)]
    with open(os.path.join(assets_directory(), PAGE_FILE), encoding="utf-8") as stream:
        assert found["loader"] == stream.read()
    assert "</script" not in found["loader"].lower()
    assert found["version"] == app.__version__


def test_a_page_without_figures_needs_neither() -> None:
    assert asked("").get_json() == {"version": app.__version__, "loader": "", "plotly": "", "hashes": []}


def test_the_hash_is_the_one_of_the_standard() -> None:
    # https://www.w3.org/TR/CSP3/#strict-dynamic-usage: the hash of alert('Hello, world.');
    assert policy_hash(b"alert('Hello, world.');") == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"


@pytest.mark.parametrize("query", ["?charts=../secret", "?charts=flat&run=a"])
def test_other_questions_are_refused(query: str) -> None:
    answer = asked(query)
    assert answer.status_code == 400
    assert "expected" in answer.get_json()["error"]
