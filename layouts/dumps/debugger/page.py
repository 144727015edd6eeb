"""The debugger: where do values go bad, in which operator, and from which line?

Left what was found, the operators and the source lines, in the middle the graph of the iteration, right the watchpoints; below
the selected operator (`selected`). Each of these is a part of its own (`layouts.kit.page_parts`): what takes long is done in
the background and shown as it comes. The selection is in the state: of, rank, step, node and io.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dash import Input, Output, dcc, html, no_update

from layouts.dumps.body import body, register_body
from layouts.dumps.debugger import health, hits, lines, selected, strip, tree, watching
from layouts.dumps.debugger.graph import Drawings
from layouts.dumps.debugger.order import order
from layouts.dumps.debugger.texts import TEXTS
from layouts.dumps.dump_choice import LONGEST, DumpChoice, read_choice, read_node
from layouts.dumps.open_dump import DumpView
from layouts.graphs.canvas import cytoscape
from layouts.graphs.texts import TEXTS as CANVAS_TEXTS
from layouts.kit.body import damage, status_line
from layouts.kit.elements import icon, icon_button
from layouts.kit.i18n import attributes, t
from layouts.kit.page import Ids
from layouts.kit.page_parts import Answer, progress, worked
from layouts.kit.state import BadInput, text
from layouts.kit.work import WorkResult
from layouts.sources import Sources

PARTS = ("sentence", "watch", "hits", "tree", "names", "lines", "strip", "drawing", "order")
_LEGEND = (
    "hit", "watched", "scope", "stack", "fold", "operator", "parameter", "constant", "proxy", "data", "control", "merged",
)  # fmt: skip
_TABS = ("hits", "nodes", "lines")


def layout(ids: Ids, routes: str) -> html.Div:
    """Return the page without data. `routes` is the URL prefix of the plain routes."""
    return body(
        ids, routes,
        [
            dcc.Store(id=ids("save")),
            dcc.Download(id=ids("file")),
            html.Div([html.Div(className="ms-debugger-sentence", role="status"), damage()], className="ms-debugger-top"),
            status_line("debugging", "ms-debugger-health"),
            html.Div(
                className="ms-debugger-strip", tabIndex=0, role="listbox", **attributes(aria_label="debugger.strip"),
            ),
            html.Div([_left(), _middle(ids), _right()], className="ms-debugger-panes"),
            selected.part(ids),
        ],
        parts=PARTS, texts=[*TEXTS, *CANVAS_TEXTS], class_name="ms-debugger",
    )  # fmt: skip


def _left() -> html.Section:
    tabs = [
        html.Button(
            [t(f"debugger.tab.{name}"), html.Span(className="ms-debugger-count")], type="button", role="tab",
            className="ms-debugger-tab", **{"data-tab": name, "aria-selected": "false"},
        )
        for name in _TABS
    ]  # fmt: skip
    panes = [
        html.Div(
            [
                html.Div(className="ms-debugger-tools"),
                status_line("debugging"),
                html.P(className="ms-debugger-note ms-muted", hidden=True),
                html.Div(
                    className="ms-debugger-rows", role="tree" if name == "nodes" else "group",
                    **attributes(aria_label=f"debugger.tab.{name}"),
                ),
            ],
            className="ms-debugger-pane", role="tabpanel", hidden=True, **{"data-pane": name},
        )
        for name in _TABS
    ]  # fmt: skip
    head = html.Div(tabs, className="ms-debugger-tabs", role="tablist")
    return html.Section([head, *panes], className="ms-card ms-debugger-left", tabIndex=-1)


def _middle(ids: Ids) -> html.Section:
    tools = [
        icon_button("download", "debugger.png", **{"data-act": "png"}),
        icon_button("zoom", "debugger.fit", **{"data-act": "fit"}),
        icon_button("full", "debugger.full", **{"data-act": "full"}),
    ]
    head = html.Header(
        [
            html.H3(className="ms-card-title"),
            html.Span(className="ms-card-badges ms-debugger-graph-controls"),
            html.Span(tools, className="ms-card-tools"),
        ],
        className="ms-card-head",
    )
    legend = html.Details(
        [
            html.Summary([icon("down"), t("debugger.legend")]),
            html.Div([html.Div([html.Span(className=f"ms-graph-key ms-graph-key-{name}"), t(f"debugger.legend.{name}")])
                      for name in _LEGEND]),
        ],
        className="ms-graph-legend",
    )  # fmt: skip
    canvas = html.Div(
        [
            cytoscape(ids), html.Div(className="ms-graph-tip", hidden=True), legend,
            html.Div(className="ms-graph-minimap", hidden=True, **{"aria-hidden": "true"}),
        ],
        className="ms-graph-canvas", tabIndex=0, role="application", **attributes(aria_label="debugger.canvas"),
    )  # fmt: skip
    listed = html.Div(
        [html.P(className="ms-debugger-note ms-muted"), html.Div(className="ms-debugger-rows")],
        className="ms-debugger-order", hidden=True,
    )  # fmt: skip
    message = html.Div(className="ms-graph-message ms-wrong-text", hidden=True, role="alert")
    return html.Section(
        [head, message, canvas, listed], className="ms-card ms-graphs ms-graph-main ms-debugger-graph", tabIndex=-1
    )


def _right() -> html.Section:
    return html.Section(
        [
            html.Header([html.H3(t("debugger.watchpoints"), className="ms-card-title"), html.Span(className="ms-card-badges"),
                         html.Span(className="ms-debugger-watch-tools")], className="ms-card-head"),
            html.Div(className="ms-debugger-watchpoints"),
        ],
        className="ms-card ms-debugger-right", tabIndex=-1, **attributes(aria_label="debugger.watchpoints"),
    )  # fmt: skip


def register(app: Any, source: Sources, ids: Ids, routes: str) -> None:
    """Add the page's callbacks to a Dash application."""
    answers = DebuggerAnswers(source)
    register_body(app, source, ids, answers.parts())
    app.callback(Output(ids("file"), "data"), Input(ids("save"), "data"), prevent_initial_call=True)(answers.save)
    selected.register(app, source, ids, routes)


class DebuggerAnswers:
    """What the server answers: each part of one instance of the page, and files."""

    def __init__(self, source: Sources) -> None:
        self._source = source
        self._watching = watching.Watching(source.patterns)
        self._trees = tree.Trees()
        self._drawings = Drawings(source)
        self._wanted = hits.WantedIteration()

    def parts(self) -> Mapping[str, Answer]:
        """Return the parts by name."""
        return {
            "sentence": self.health, "watch": self.watch, "hits": self.hits, "tree": self.tree, "names": self.names,
            "lines": self.lines, "strip": self.strip, "drawing": self.drawing, "order": self.order,
        }  # fmt: skip

    def _chosen(self, ask: Any) -> tuple[DumpChoice, DumpView | None]:
        choice = read_choice(ask)
        if choice is None:
            raise BadInput("of: expected the key of a run")
        return choice, choice.dump(self._source)

    def _found(self, choice: DumpChoice, dump: DumpView, ask: Any) -> tuple[WorkResult, tuple[Any, ...]]:
        """Return what the enabled watchpoints of a request found so far, and these watchpoints."""
        saved = [one for one in watching.read_watchpoints(ask) if one.enabled]
        checked, wrong = self._watching.of(saved, dump.tensors, (choice.run, choice.mark))
        if wrong:
            return WorkResult("failed", text=wrong), ()
        self._wanted.put(choice.run, choice.step)
        work = hits.hits_work(
            repr([(one.condition, sorted(one.limits.items()), one.names, one.pattern) for one in saved]), checked,
            lambda: self._wanted.step(choice.run),
        )  # fmt: skip
        found, now = worked(self._source.dumps, choice.run, work, ask), self._source.dumps.open(choice.run)
        if found.result is not None and (found.mark not in ("", now.mark) or now.dump is not dump):
            # Rows of the result are those of another listing: of a dump that grows, or of live training.
            return replace(found, state="waiting", result=None), checked
        return found, checked

    def _hits_by_name(self, choice: DumpChoice, dump: DumpView, ask: Any) -> dict[str, int]:
        found, _ = self._found(choice, dump, {key: value for key, value in ask.items() if key not in ("cancel", "again")})
        return hits.by_name(dump, found.result, choice.rank, choice.step) if isinstance(found.result, hits.FoundHits) else {}

    def health(self, ask: Any) -> dict[str, Any]:
        """The sentence on top, and the bad iterations."""
        choice, _ = self._chosen(ask)
        found = worked(self._source.dumps, choice.run, health.WORK, ask)
        return progress(found) | health.told(found)

    def watch(self, ask: Any) -> dict[str, Any]:
        """The saved or recommended watchpoints, and the conditions."""
        choice, _ = self._chosen(ask)
        return watching.listed(self._source, choice.run) | {"conditions": watching.conditions()}

    def hits(self, ask: Any) -> dict[str, Any]:
        """A part of the list of hits."""
        choice, dump = self._chosen(ask)
        look = hits.read_look(ask)
        if dump is None:
            return {"state": "missing"}
        found, _ = self._found(choice, dump, ask)
        result = found.result if isinstance(found.result, hits.FoundHits) else hits.FoundHits()
        return _progress(found) | hits.listed(dump, result, look, choice, read_node(ask)[0])

    def save(self, ask: Any) -> Any:
        """The hits that are listed as a CSV file."""
        if ask is None:
            return no_update
        choice, dump = self._chosen(ask)
        if dump is None:
            return no_update
        found, checked = self._found(choice, dump, ask)
        result = found.result if isinstance(found.result, hits.FoundHits) else hits.FoundHits()
        return {"filename": "hits.csv", "content": hits.csv(dump, result, hits.read_look(ask), checked)}

    def tree(self, ask: Any) -> dict[str, Any]:
        """Lines of the tree of operators."""
        choice, dump = self._chosen(ask)
        look = tree.read_look(ask)
        if dump is None:
            return {"state": "missing"}
        whole = self._trees.of(dump, choice.run, choice.mark, choice.rank)
        try:
            mask = tree.shown(whole, look, self._source.patterns)
        except ValueError as error:
            if isinstance(error, BadInput):
                raise
            return {"state": "refused", "text": str(error), "total": 0, "first": 0, "rows": []}
        return {"state": "ready"} | tree.lines(whole, look, mask, self._hits_by_name(choice, dump, ask))

    def names(self, ask: Any) -> dict[str, Any]:
        """Names of ranges of the tree, or ranges of names: those given, of a search, of a source line, or of a kind."""
        choice, dump = self._chosen(ask)
        if dump is None:
            return {"state": "missing"}
        whole = self._trees.of(dump, choice.run, choice.mark, choice.rank)
        answer: dict[str, Any] = {"state": "ready", "digest": whole.digest, "act": text(ask, "act")}
        if ask.get("ranges"):
            return answer | {"names": tree.names_in(whole, ask)}
        line = text(ask, "line", limit=LONGEST)
        if line:
            found = worked(self._source.dumps, choice.run, lines.lines_work(choice.rank), ask)
            names = lines.names_of(found.result or (), line)
            return answer | progress(found) | {"ranges": tree.ranges_of(whole, names)}
        given = ask.get("names")
        if given:
            known = watching.read_watchpoints({"watch": given})
            return answer | {"ranges": tree.ranges_of(whole, known[0].names or ()) if known else []}
        try:
            mask = tree.shown(whole, tree.read_look(ask), self._source.patterns)
        except ValueError as error:
            if isinstance(error, BadInput):
                raise
            return {"state": "refused", "text": str(error), "act": text(ask, "act")}
        return answer | {"ranges": tree.ranges(mask.nonzero()[0].tolist())}

    def lines(self, ask: Any) -> dict[str, Any]:
        """Source files and their lines."""
        choice, _ = self._chosen(ask)
        found = worked(self._source.dumps, choice.run, lines.lines_work(choice.rank), ask)
        return _progress(found) | lines.listed(found.result or (), lines.read_look(ask))

    def strip(self, ask: Any) -> dict[str, Any]:
        """The strip of executions."""
        choice, dump = self._chosen(ask)
        return {"state": "missing"} if dump is None else strip.strip(dump, choice.rank)

    def drawing(self, ask: Any) -> dict[str, Any]:
        """The graph of the iteration."""
        choice, dump = self._chosen(ask)
        if dump is None:
            return {"state": "missing"}
        marked = watching.read_watchpoints({"watch": ask["marked"]}) if ask.get("marked") else ()
        names = {name for one in marked for name in one.names or ()}
        return self._drawings.draw(self._source, choice, ask, self._hits_by_name(choice, dump, ask), names)

    def order(self, ask: Any) -> dict[str, Any]:
        """The operators of the iteration in the order they ran."""
        choice, dump = self._chosen(ask)
        if dump is None:
            return {"state": "missing"}
        return {"state": "ready"} | order(dump, choice, self._hits_by_name(choice, dump, ask), ask)


def _progress(found: WorkResult) -> dict[str, Any]:
    """Return the state of work whose result is a list, and its progress apart from the length of the list."""
    return {"state": found.state, "progress": progress(found)}
