"""Picture files: what is decoded equals Pillow's own answer, what is not a picture is refused before it is decoded."""

from __future__ import annotations

import io
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from parsers.errors import FormatError, MediaError, PayloadError
from parsers.explanations.pictures import PictureFiles, file_below
from parsers.payloads import pictures
from parsers.payloads.pictures import checked_picture, grey_picture

RNG = np.random.default_rng(7)
GREY = RNG.integers(0, 256, (40, 60), np.uint8)
SMOOTH = np.add.outer(np.arange(96), np.arange(128)).astype(np.uint8)


def encoded(picture: np.ndarray, kind: str, **options: int) -> bytes:
    out = io.BytesIO()
    Image.fromarray(picture).save(out, kind, **options)
    return out.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A PNG of some kB that would be width x height pixels, with correct checksums."""
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1 << 20))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_a_png_has_exactly_its_values() -> None:
    found = grey_picture(encoded(GREY, "PNG"))
    assert (found.values == GREY).all()
    assert found.problem == ""
    with Image.open(io.BytesIO(found.png())) as again:
        assert again.mode == "L"
        assert (np.asarray(again) == GREY).all()


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_colours_become_the_luma_of_pillow(kind: str) -> None:
    data = encoded(RNG.integers(0, 256, (30, 20, 3), np.uint8), kind)
    with Image.open(io.BytesIO(data)) as picture:
        wanted = np.asarray(picture.convert("L"))
    assert (grey_picture(data).values == wanted).all()


def test_sixteen_bits_keep_the_upper_half() -> None:
    wide = RNG.integers(0, 1 << 16, (5, 6)).astype(np.uint16)
    assert (grey_picture(encoded(wide, "PNG")).values == wide >> 8).all()


def test_a_cut_jpeg_is_shown_as_far_as_it_goes_and_named() -> None:
    data = encoded(SMOOTH, "JPEG", quality=95)
    found = grey_picture(data[: len(data) * 2 // 3])
    assert "cut" in found.problem
    assert found.values.shape == SMOOTH.shape
    assert np.abs(found.values[:32].astype(int) - SMOOTH[:32]).max() <= 8
    assert checked_picture(data).problem == ""


@pytest.mark.parametrize("data", [
    b"", b"<svg xmlns='x'><script>alert(1)</script></svg>", b"<!DOCTYPE html><html></html>", b"%PDF-1.7", b"\x7fELF",
    b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n",
])  # fmt: skip
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError):
        checked_picture(data)
    with pytest.raises(FormatError):
        grey_picture(data)


def test_other_types_are_refused() -> None:
    with pytest.raises(MediaError, match="PNG or JPEG"):
        checked_picture(encoded(GREY, "GIF"))


def test_a_bomb_is_refused_by_its_header(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(Image, "open", opened)
    with pytest.raises(FormatError, match="25,000,000 pixels"):
        grey_picture(bomb(40_000, 40_000 // 16))
    monkeypatch.setattr(pictures, "MOST_BYTES", 100)
    with pytest.raises(FormatError, match="at most 100 bytes"):
        grey_picture(encoded(GREY, "PNG"))


def test_damaged_rows_are_an_error_and_no_crash() -> None:
    data = bytearray(encoded(GREY, "PNG"))
    data[60:90] = bytes(30)
    with pytest.raises(FormatError, match="cannot be decoded"):
        grey_picture(bytes(data))


# Files --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run" / "maps"
    folder.mkdir(parents=True)
    (folder / "a.png").write_bytes(encoded(GREY, "PNG"))
    (tmp_path / "secret.png").write_bytes(encoded(GREY, "PNG"))
    (tmp_path / "run2").mkdir()
    (tmp_path / "run2" / "b.png").write_bytes(encoded(GREY, "PNG"))
    return tmp_path / "run"


@pytest.mark.parametrize("path", [
    "", "/etc/passwd", "../secret.png", "maps/../../secret.png", "..\\secret.png", "\\\\host\\share", "maps/a.png\0",
    "C:/x.png/..", "../run2/b.png", "/", "..",
])  # fmt: skip
def test_paths_that_leave_the_run_are_refused(run: Path, path: str) -> None:
    with pytest.raises(PayloadError, match=r"expected a (path|file)"):
        file_below(str(run), path)


def test_links_are_followed_within_the_run_only(run: Path) -> None:
    (run / "inside.png").symlink_to(run / "maps" / "a.png")
    (run / "out.png").symlink_to(run.parent / "secret.png")
    (run / "beside").symlink_to(run.parent / "run2")
    (run / "round").symlink_to(run / "round")
    files = PictureFiles(str(run))
    assert (files.heat_map("inside.png").values == GREY).all()
    for path in ("out.png", "beside/b.png"):
        with pytest.raises(PayloadError, match="leaves it"):
            files.picture(path)
    with pytest.raises(PayloadError):
        files.picture("round")


def test_a_run_that_is_a_link_itself_has_its_pictures(run: Path) -> None:
    linked = run.parent / "linked"
    linked.symlink_to(run)
    assert PictureFiles(str(linked)).picture("maps/a.png").width == 60


def test_an_error_names_no_object_in_memory() -> None:
    whole = bytearray(encoded(GREY, "PNG"))
    whole[11] ^= 0x55
    with pytest.raises(FormatError) as found:
        grey_picture(bytes(whole))
    assert "object at 0x" not in str(found.value)


def test_devices_pipes_and_directories_are_refused(run: Path) -> None:
    os.mkfifo(run / "pipe.png")
    (run / "zero.png").symlink_to("/dev/zero")
    for path in ("pipe.png", "zero.png", "maps", "missing.png"):
        with pytest.raises(PayloadError, match=path):
            PictureFiles(str(run)).heat_map(path)


def test_a_picture_is_read_once_until_its_file_changes(run: Path) -> None:
    files = PictureFiles(str(run))
    assert files.heat_map("maps/a.png") is files.heat_map("maps/a.png")
    other = np.flipud(GREY)[:20]
    (run / "maps" / "a.png").write_bytes(encoded(other, "PNG"))
    assert (files.heat_map("maps/a.png").values == other).all()
    assert (files.grey_values("maps/a.png") == other).all()


def test_a_scan_of_a_jpeg_that_is_written_again_and_again_is_not_decoded() -> None:
    """Each takes as long as decoding all pixels, and 42 bytes."""
    out = io.BytesIO()
    Image.fromarray(np.zeros((64, 64), np.uint8)).save(out, "JPEG", progressive=True)
    data = out.getvalue()
    begin = data.rindex(b"\xff\xda")
    scan, end = data[begin:-2], data[-2:]
    assert grey_picture(data).problem == grey_picture(data[:-2] + scan * 50 + end).problem == ""
    with pytest.raises(FormatError, match="at most 100 scans"):
        grey_picture(data[:-2] + scan * 1000 + end)
    with pytest.raises(FormatError, match="at most 100 scans"):  # within what would be the length of a marker that has none
        grey_picture(data[:-2] + b"\xff\x01" + scan * 1000 + end)
    with pytest.raises(FormatError, match="at most 100 scans"):
        grey_picture(data[:2] + b"\xff\xfe\x00\x02" * 20_000 + data[2:])
