"""The command `save`: a page as one HTML file, a picture, a drawing or a PDF, made by a Chromium without a window; or its data.

Exit codes: 0 saved; 1 the page could not be saved (no Chromium, no server, a full disk); 2 wrong options, an existing file;
3 saved, but something was missing in the page after all patience, or could not be read.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from urllib.parse import parse_qsl, unquote

from app.commands import serving
from app.commands.roots import roots_of
from app.commands.settings import SettingError, Settings, seconds_of
from app.commands.terminal import printable
from app.saving.output import PATIENCE, TABLES, SaveError, is_url, kind_of, refuse_existing
from app.saving.saving import Saved, is_view_file, read_view_file, server_of
from app.saving.saving import save as save_page

UNFINISHED = 3
_TABLE_PAGE = "scalars"
_TOKEN = "MINDSCOPE_TOKEN"  # noqa: S105 - the name of a variable


def save(options: argparse.Namespace, settings: Settings) -> int:
    """Save a page, say what was written, and return the exit code."""
    try:
        kind = kind_of(options.out)
        refuse_existing(options.out, force=options.force)
    except (ValueError, FileExistsError) as error:
        raise SettingError(f"--out: {error}") from None
    try:
        if kind in TABLES:
            return _save_table(options, settings, kind)
        saved = _save_page(options, settings)
    except SaveError as error:
        print(f"mindscope: {printable(str(error))}", file=sys.stderr)
        return 1
    print(f"{saved.size_bytes:,} bytes written to {printable(saved.path)}")
    for line in saved.warnings:
        print(f"mindscope: {printable(line)}", file=sys.stderr)
    return UNFINISHED if saved.warnings else 0


# Pages ---------------------------------------------------------------------------------------------------------------


def _save_page(options: argparse.Namespace, settings: Settings) -> Saved:
    chosen = {
        "width": _whole("--width", options.width), "height": _whole("--height", options.height), "theme": options.theme,
        "lang": options.lang, "card": options.card, "force": options.force, "chromium": options.chromium,
        "patience": seconds_of("--patience", options.patience),
    }  # fmt: skip
    place, server = options.page, options.directory
    if is_url(place) and not server:
        server = server_of(place)
    try:
        if is_url(server):
            return save_page(server, place, options.out, token=os.environ.get(_TOKEN, ""), **chosen)
        if is_url(place):
            raise SettingError(f"ADDRESS: expected a page of the runs in {server!r}, found the address of a server, {place!r}")
        if not is_view_file(place):
            _refuse_unknown_page(place)
        roots = roots_of(settings.summary_base_dir)
        directories = serving.prepare_directories(settings, roots)
        with serving.no_garbage(), serving.open_store(settings, roots, directories.workspace) as store:
            return save_page(store, place, options.out, **chosen)
    except LookupError as error:
        raise SettingError(f"--card: {error.args[0]}") from None
    except FileExistsError as error:
        raise SettingError(f"--out: {error}") from None
    except ValueError as error:
        raise SettingError(str(error)) from None


def _refuse_unknown_page(place: str) -> None:
    from layouts import PAGES

    name = _page_of(place)
    paths = [page.path for page in PAGES]
    if name in paths or any(name in page.redirected for page in PAGES):
        return
    near = difflib.get_close_matches(name, paths, 1)
    hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(filter(None, paths))}"
    raise SettingError(f"ADDRESS: expected a page, found {name!r} ({hint})")


def _page_of(place: str) -> str:
    return unquote(place.partition("?")[0].partition("#")[0]).strip("/")


def _whole(option: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise SettingError(f"{option}: expected a whole number of px, found {text!r}")
    return int(text)


# Data ----------------------------------------------------------------------------------------------------------------


def _save_table(options: argparse.Namespace, settings: Settings, kind: str) -> int:
    """Write the values of the page's runs as `mindscope export` does, without a browser."""
    from app.commands import exporting
    from parsers import SourceError

    if is_url(options.page) or is_url(options.directory):
        raise SettingError(f"--out: expected a directory of runs for .{kind}; a server has the same at api/scalars.{kind}")
    place, named = _view_now(options.page, settings) if is_view_file(options.page) else (options.page, "")
    name = _page_of(place)
    if name != _TABLE_PAGE:
        raise SettingError(f"--out: expected the page {_TABLE_PAGE} for .{kind}, found {name!r}; it has .html, .png, .pdf")
    if not os.path.exists(options.directory):
        raise SettingError(f"DIR: expected an existing directory, found {options.directory!r}")
    state = parse_qsl(place.partition("?")[2], keep_blank_values=True)
    runs = [value for key, value in state if key == "run"]
    tag = (options.card or named).removeprefix("key:")
    options.kinds, options.steps, options.superseded, options.format = None, None, False, kind
    options.tags = f"^{re.escape(tag)}$" if tag else None
    if runs == [""]:
        raise SettingError("ADDRESS: expected a page with runs, found none (run=)")
    try:
        return exporting.export_named(options, () if "*" in runs else runs)
    except SourceError as error:
        raise SaveError(str(error)) from None


def _view_now(path: str, settings: Settings) -> tuple[str, str]:
    """Return the address that a view file means for the runs of the directory, and the card that it names."""
    from layouts.kit.user_input import InvalidInput
    from layouts.runs.view_files import place_of, read_view

    roots = roots_of(settings.summary_base_dir)
    directories = serving.prepare_directories(settings, roots)
    with serving.open_store(settings, roots, directories.workspace) as store:
        store.wait(PATIENCE)
        try:
            view = read_view(read_view_file(path))
            return place_of(view, store), view.card
        except InvalidInput as error:
            raise SettingError(f"{path}: {error}") from None
        except ValueError as error:
            raise SettingError(str(error)) from None
