"""Requests of the page to the server, parsed and validated: values from a browser are untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from layouts.graphs.asks import LONGEST, DrawingRequest, read_name
from layouts.kit import parameters as asked
from layouts.kit.parameters import Request
from layouts.kit.state import text

COLOURS = ("state", "difference")
_CANVAS = ("open", "page", "node", "theme")


def _read_run(data: Any) -> str | None:
    return text(data, "of", limit=LONGEST) or None


def _read_canvas(data: Any) -> DrawingRequest:
    told: Mapping[str, Any] = {key: data[key] for key in _CANVAS if key in data}
    return DrawingRequest.read({**told, "run": data.get("of", []), "graph": ["conversion"], "simple": ["0"]})


@dataclass(frozen=True, slots=True)
class ConversionRequest(Request):
    """What the page shows of a conversion: run, name of the report, colour of the graph."""

    run: str = asked.subject(_read_run)
    model: str = asked.word("model", limit=LONGEST)
    colour: str = asked.one_of("colour", COLOURS)
    dark: bool = asked.dark()
    language: str = asked.language()


@dataclass(frozen=True, slots=True)
class ConvertedGraphAsk:
    """A request for the graph or for the chosen box; node is its name, "" for none."""

    about: ConversionRequest
    canvas: DrawingRequest
    node: str


def read_graph(data: Any) -> ConvertedGraphAsk:
    """Parse a request for the graph or for the chosen box. BadInput if it is malformed."""
    return ConvertedGraphAsk(ConversionRequest.read(data), _read_canvas(data), read_name(data))
