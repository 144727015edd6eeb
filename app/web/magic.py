"""The line magic `%mindscope` of notebooks; `mindscope.py` loads it."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import Any, NoReturn

from app.web.embedding import check_page, serve_in_thread, shown


class Magic:
    """`%mindscope DIR [--page scalars] [--height 800]`: a directory that is shown again has the server that it has."""

    def __init__(self) -> None:
        self._urls: dict[str, str] = {}

    def __call__(self, line: str) -> Any:
        """Show a page as the output of a cell; print one line if that is not possible."""
        try:
            asked = _parsed(line)
            check_page(asked.page)
            if not os.path.exists(asked.directory):
                raise ValueError(f"expected an existing directory, found {asked.directory!r}")
        except (argparse.ArgumentError, ValueError) as error:
            print(f"%mindscope DIR [--page scalars] [--height 800]: {error}", file=sys.stderr)  # noqa: T201 - the output of a cell
            return None
        place = os.path.realpath(asked.directory)
        if place not in self._urls:
            self._urls[place] = serve_in_thread(place)
        return shown(self._urls[place], asked.page, asked.height)


class _MagicLine(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def _parsed(line: str) -> argparse.Namespace:
    parser = _MagicLine("%mindscope", exit_on_error=False, add_help=False)
    parser.add_argument("directory", nargs="?", default=".")
    parser.add_argument("--page", default="scalars")
    parser.add_argument("--height", type=int, default=800)
    return parser.parse_args(shlex.split(line))
