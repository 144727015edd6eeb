"""Images and texts over plain routes: the bytes as recorded and nothing that runs."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from flask.testing import FlaskClient
from werkzeug.http import parse_options_header

from app import create_app
from app.store.store import Store
from app.web.embedding import EmbeddedPage
from layouts import PAGES
from parsers.recording import EventWriter, Image, Text
from parsers.recording.wire import delimited, float64, number, record

HOSTILE = '"><script>alert(1)</script>/../%2F训练 😀'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def png(grey: int, width: int = 2, height: int = 2) -> bytes:
    """An 8-bit grey PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes([grey]) * width for _ in range(min(height, 64)))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


GIF = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x0b\x08\0\x07\0\x05\x01\x01\x11\0\xff\xd9"
WEBP = b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0"


def written(tmp_path: Path) -> Path:
    """Write one MindSpore run with good and bad images, one TensorBoard run with texts; return their directory."""
    folder = tmp_path / "runs" / "shots"
    folder.mkdir(parents=True)
    recorded: list[tuple[int, str, bytes]] = [
        *((step, "digit", png(step)) for step in (1, 2, 3, 2, 5)),
        (1, HOSTILE, png(9)), (1, "gif", GIF), (1, "jpeg", JPEG), (1, "webp", WEBP), (1, "svg", SVG),
        (1, "huge", png(1, 100_000, 100_000)), (1, "cut", png(1)[:20]), (1, "empty", b""),
    ]  # fmt: skip
    with EventWriter(folder / "events.out.events.summary.1700000000.1.vm_MS", "mindspore") as writer:
        for step, tag, data in recorded:
            writer.add(step, {tag: Image(data, 2, 2)})
    notes = tmp_path / "runs" / "notes"
    notes.mkdir()
    with EventWriter(notes / "events.out.tfevents.1700000000.vm", "tensorboard") as writer:
        writer.add(1, {"note": Text("# <b>title</b>")})
        writer.add(2, {"note": Text("第二 <script>alert(1)</script>")})
    return tmp_path / "runs"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = Store([written(tmp_path_factory.mktemp("media"))], interval=0).start()
    assert made.wait(30)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def client(store: Store) -> FlaskClient:
    return create_app(store).server.test_client()


def get(client: FlaskClient, tag: str = "digit", *, headers: dict[str, str] | None = None, **query: object):
    return client.get("/api/image", query_string={"run": "shots", "tag": tag, **query}, headers=headers)


@pytest.mark.parametrize(
    ("query", "grey"),
    [({"place": 0}, 1), ({"place": 1}, 2), ({"place": 4}, 5), ({"step": 3}, 3), ({"step": 2}, 2), ({"place": 3, "step": 2}, 2)],
)
def test_the_very_bytes_that_were_recorded(client: FlaskClient, query: dict[str, int], grey: int) -> None:
    answer = get(client, **query)
    assert (answer.status_code, answer.data) == (200, png(grey))
    assert answer.content_type == "image/png"
    assert answer.headers["Mindscope-Images"] == "1"


def test_a_hostile_tag_is_a_name(client: FlaskClient) -> None:
    answer = get(client, HOSTILE, place=0, download=1)
    assert answer.data == png(9)
    kind, options = parse_options_header(answer.headers["Content-Disposition"])
    assert kind == "attachment"
    assert not set(options["filename"]) & set('/\\"<>:\r\n')
    assert options["filename"].endswith("_1.png")


@pytest.mark.parametrize(("tag", "media"), [("gif", "image/gif"), ("jpeg", "image/jpeg"), ("webp", "image/webp")])
def test_the_type_is_what_the_first_bytes_say(client: FlaskClient, tag: str, media: str) -> None:
    answer = get(client, tag, place=0)
    assert (answer.status_code, answer.content_type) == (200, media)


def test_nothing_in_it_can_run(client: FlaskClient) -> None:
    headers = get(client, place=0).headers
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert set(headers["Cache-Control"].split(", ")) == {"private", "no-cache"}


def test_a_browser_that_has_it_is_not_sent_it_again(client: FlaskClient) -> None:
    tag = get(client, place=0).headers["ETag"]
    again = get(client, place=0, headers={"If-None-Match": tag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
    assert get(client, place=1, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ({"run": "nope", "place": 0}, 404, "no such run: 'nope'"),
        ({"run": "../shots", "place": 0}, 404, "no such run"),
        ({"tag": "nope", "place": 0}, 404, "has no image 'nope'"),
        ({"place": 5}, 404, "place 5 does not exist"),
        ({"place": -1}, 404, "place -1 does not exist"),
        ({"step": 4}, 404, "step 4 does not exist"),
        ({"place": 0, "step": 2}, 404, "place 0 and step 2 does not exist"),
        ({"place": 0, "index": 1}, 404, "expected an index below 1, found 1"),
        ({"place": "x"}, 400, "place: expected a whole number, found 'x'"),
        ({"place": "9" * 19}, 400, "expected a whole number"),
        ({}, 400, "expected the parameter place or step"),
        ({"place": [0, 1]}, 400, "place: expected this parameter once"),
        ({"place": 0, "path": "/etc/passwd"}, 400, "expected the parameters"),
        ({"tag": "svg", "place": 0}, 415, "expected a PNG, JPEG, GIF or WebP"),
        ({"tag": "empty", "place": 0}, 415, "found 0 bytes"),
        ({"tag": "huge", "place": 0}, 422, "found 100,000 x 100,000"),
        ({"tag": "cut", "place": 0}, 422, "expected a whole image/png header"),
    ],
)
def test_refusals_say_why(client: FlaskClient, query: dict[str, object], status: int, said: str) -> None:
    answer = client.get("/api/image", query_string={"run": "shots", "tag": "digit", **query})
    assert answer.status_code == status
    assert answer.content_type == "application/json"
    assert said in answer.json["error"]
    assert b"\n" not in answer.data.strip()
    if status in (415, 422):
        assert "record at byte" in answer.json["error"]


def test_a_file_that_vanished_or_changed(tmp_path: Path) -> None:
    base = written(tmp_path)
    store = Store([base], interval=0).start()
    try:
        assert store.wait(30)
        client = create_app(store).server.test_client()
        (path,) = (base / "shots").iterdir()
        content = path.read_bytes()
        path.write_bytes(content.replace(png(3), png(4)))
        answer = get(client, place=2)
        assert answer.status_code == 422
        assert "record at byte" in answer.json["error"]
        path.unlink()
        assert get(client, place=2).status_code == 422
        assert "Traceback" not in get(client, place=2).text
    finally:
        store.stop()


def test_each_image_of_a_batch_in_one_record(tmp_path: Path) -> None:
    """TensorBoard keeps a batch as strings of a tensor: width, height, and the encoded images."""
    (path := tmp_path / "run" / "events.out.tfevents.1700000000.vm").parent.mkdir()
    EventWriter(str(path), "tensorboard").close()
    tensor = number(1, 7) + b"".join(delimited(8, text) for text in (b"2", b"2", png(1), png(2), png(3)))
    value = delimited(1, b"batch") + delimited(8, tensor) + delimited(9, delimited(1, delimited(1, b"images")))
    with path.open("ab") as file:
        file.write(record(float64(1, 1.7e9) + number(2, 4) + delimited(5, delimited(1, value))))
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    client = create_app(store).server.test_client()
    for index in range(3):
        answer = client.get(f"/api/image?run=run&tag=batch&step=4&index={index}")
        assert (answer.data, answer.headers["Mindscope-Images"]) == (png(index + 1), "3")
    assert client.get("/api/image?run=run&tag=batch&step=4&index=3").status_code == 404
    store.stop()


def test_a_cut_image_is_sent_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with EventWriter(str(tmp_path / "run" / "events.out.events.summary.1700000000.1.vm_MS"), "mindspore") as writer:
        writer.add(1, {"whole": Image(png(1), 2, 2), "cut": Image(png(1)[:-8], 2, 2)})
    store = Store([tmp_path], interval=0).start()
    assert store.wait(30)
    client = create_app(store).server.test_client()
    assert client.get("/api/image?run=run&tag=whole&place=0").headers["Mindscope-Problem"] == ""
    assert "is cut" in unquote(client.get("/api/image?run=run&tag=cut&place=0").headers["Mindscope-Problem"])
    store.stop()


def test_a_text_is_plain_text(client: FlaskClient) -> None:
    answer = client.get("/api/text?run=notes&tag=note&place=1")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert answer.text == "第二 <script>alert(1)</script>"
    assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    known = {"If-None-Match": answer.headers["ETag"]}
    assert client.get("/api/text?run=notes&tag=note&step=2", headers=known).status_code == 304
    assert client.get("/api/text?run=shots&tag=digit&place=0").status_code == 404


def test_embedded_pages_have_the_routes_too(store: Store) -> None:
    import dash

    host = dash.Dash("host")
    host.layout = dash.html.Div()
    for name in ("one", "two"):
        EmbeddedPage(PAGES[0], store, id=name).register(host)
    for name in ("one", "two"):
        answer = host.server.test_client().get(f"/_mindscope/{name}/image?run=shots&tag=digit&place=0")
        assert answer.data == png(1)
        assert answer.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
