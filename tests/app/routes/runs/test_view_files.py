"""View files by HTTP: an address as a file, a file as an address, and what is refused."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

TOKEN = {"Authorization": "Bearer " + "t" * 43}


def test_a_page_becomes_a_file_and_a_file_a_page(noting: FlaskClient) -> None:
    answer = noting.get("/api/view-file.toml?place=scalars%3Frun%3Done%26smooth%3D0.6", headers=TOKEN)
    assert answer.status_code == 200
    assert answer.mimetype == "application/toml"
    assert answer.headers["Content-Disposition"] == "attachment; filename=view.toml"
    text = answer.get_data(as_text=True)
    assert text.endswith('page = "scalars"\nruns = ["^one$"]\n\n[state]\nsmooth = 0.6\n')
    opened = noting.post("/api/view-file", json={"text": text}, headers=TOKEN)
    assert opened.json == {"place": "scalars?run=one&smooth=0.6", "card": ""}


@pytest.mark.parametrize(("text", "said"), [
    ("smoth = 1", "expected a key of view files"), ('runs = ["two"]', "expected a view of runs, found none"),
    ("x" * 300_000, "at most 200,000 characters"),
])  # fmt: skip
def test_a_wrong_file_is_refused_with_the_reason(refusing: FlaskClient, text: str, said: str) -> None:
    answer = refusing.post("/api/view-file", json={"text": text}, headers=TOKEN)
    assert answer.status_code == 400
    assert said in answer.json["error"]


def test_what_is_no_request(refusing: FlaskClient) -> None:
    assert refusing.get("/api/view-file.toml?place=//evil.example/", headers=TOKEN).status_code == 400
    assert refusing.get("/api/view-file.toml?other=1", headers=TOKEN).status_code == 400
    assert refusing.post("/api/view-file", json={"text": 3}, headers=TOKEN).status_code == 400
    assert refusing.post("/api/view-file", data='{"text": ""}', headers=TOKEN).status_code == 415
    assert refusing.post("/api/view-file", json={"text": ""}).status_code == 401
    foreign = {**TOKEN, "Origin": "http://evil.example"}
    assert refusing.post("/api/view-file", json={"text": ""}, headers=foreign).status_code == 403
