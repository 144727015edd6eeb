"""Write the types of what server and browser send each other, for the scripts, from their declarations in Python.

    python -m tests.js.wire_types            writes assets/types/generated.d.ts; --check fails if that would change it

`make types` runs it. What is sent as JSON is declared where it is made: as a `TypedDict`, or as a frozen dataclass that is sent
with its `version`. What a browser asks for is declared as a `Request`. `Annotated[x, T]` is written as T, for values whose type
in Python is wider than what they become: `Annotated[list[str], tuple[str, str]]`; T may be a name of WIRE. A docstring becomes
a comment, that of a field, too. tests/layouts/test_wire.py compares the declarations with what the server sends.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import sys
import textwrap
import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import layouts
from layouts.curves import charts, expressions, lines, marks, thresholds
from layouts.curves.last_values import ShownLast
from layouts.curves.scalars import judging, matrix, ranking, sheet
from layouts.curves.scalars.digests import SentDigest
from layouts.curves.scalars.insights import InsightMark, InsightMarks
from layouts.dumps.catalogue import DumpCatalogue
from layouts.dumps.listing import DumpListing, ListedDump
from layouts.explanations.listing import ExplanationCatalogue, ExplanationListing, LabelCells
from layouts.graphs.conversion.listing import ConversionCatalogue, ConversionListing
from layouts.kit.body import DamagedFile
from layouts.kit.cards.catalogue import TagCatalogue
from layouts.kit.cards.recorded import RecordedSeries, RecordedSteps
from layouts.kit.figures.typed_arrays import TypedArray
from layouts.kit.parameters import Request, parameters
from layouts.profiles.catalogue import ProfileCatalogue, ProfiledJob, ProfiledRun, ProfileKind
from layouts.profiles.reading_progress import ReadFirst, ReadingProgress
from layouts.runs.boards import BoardCard, LostField, SentBoard
from layouts.runs.chosen_runs import KeyAndName
from layouts.runs.damage import FileAndText
from layouts.runs.guides.page import GuideParts
from layouts.runs.notes import Mark, NamedView, Note
from layouts.runs.overview.head import NoRun, RunHead
from layouts.runs.overview.insights import InsightsLeft
from layouts.runs.rows import ShownStatus
from layouts.runs.run_numbers import RunFact
from layouts.runs.runs import columns
from layouts.runs.start.page import StartParts
from layouts.shell.run_list import BoardHead, ProblemCells, ProblemListing, RunListing, SentMirror, SentNotebook, SentRun
from layouts.shell.shell import NeededFiles, ShellPage, ShellPages
from layouts.tuning.tuning import page as tuning
from layouts.values import histogram_facts

WIRE: Mapping[str, Any] = {
    "Query": dict[str, list[str]],
    "Texts": tuple[str, str],
    "FileAndText": FileAndText,
    "KeyAndName": KeyAndName,
    "DamagedFile": DamagedFile,
    "SentArray": TypedArray,
    "RunRow": SentRun,
    "RunChanges": RunListing,
    "Note": Note,
    "View": NamedView,
    "Mark": Mark,
    "Notebook": SentNotebook,
    "BoardHead": BoardHead,
    "BoardCard": BoardCard,
    "Board": SentBoard,
    "LostField": LostField,
    "ProblemRow": ProblemCells,
    "Mirror": SentMirror,
    "Problems": ProblemListing,
    "Status": ShownStatus,
    "TagCatalogue": TagCatalogue,
    "ConversionCatalogue": ConversionCatalogue,
    "ConversionListing": ConversionListing,
    "RunFact": RunFact,
    "RunHead": RunHead,
    "NoRun": NoRun,
    "InsightsLeft": InsightsLeft,
    "StartParts": StartParts, "GuideParts": GuideParts,
    "ColumnChoices": columns.ColumnChoices,
    "ColumnValues": columns.ColumnValues,
    "MatchedTexts": columns.MatchedTexts,
    "ShownLast": ShownLast,
    "Recorded": RecordedSteps,
    "RecordedSeries": RecordedSeries,
    "ProfileKind": ProfileKind,
    "ProfiledRun": ProfiledRun,
    "ProfiledJob": ProfiledJob,
    "ProfileCatalogue": ProfileCatalogue,
    "ReadFirst": ReadFirst,
    "Reading": ReadingProgress,
    "DumpCatalogue": DumpCatalogue,
    "ListedDump": ListedDump,
    "DumpListing": DumpListing,
    "ExplanationCatalogue": ExplanationCatalogue,
    "LabelRow": LabelCells,
    "ExplanationListing": ExplanationListing,
    "ShellPage": ShellPage,
    "ShellPages": ShellPages,
    "Needed": NeededFiles,
    "HistogramBins": histogram_facts.HistogramBins,
    "HistogramPanel": histogram_facts.HistogramPanel,
    "ColourScale": histogram_facts.ColourScale,
    "NewestStep": histogram_facts.NewestStep,
    "HistogramMeta": histogram_facts.HistogramMeta,
}
"""Declarations by their names in scripts. A type that is not here is written out where it is used."""
CURVES: Mapping[str, Any] = {
    "Mark": InsightMark,
    "Digest": SentDigest,
    "Marks": InsightMarks,
    "Group": sheet.GroupOfRuns,
    "FinalCell": sheet.FinalCell,
    "FinalRow": sheet.FinalRow,
    "FinalTable": sheet.FinalTable,
    "LastMatrix": matrix.LastMatrix,
    "Sheet": sheet.FilledSheet,
    "Judgement": judging.SentJudgement,
    "JudgedCurve": judging.JudgedCurve,
    "Judged": judging.Judged,
    "Severest": ranking.Severest,
    "RankingAnswer": ranking.Ranking,
    "WrongPlace": expressions.WrongPlace,
    "DerivedCurve": expressions.DerivedCurve,
    "WrongExpression": expressions.WrongExpression,
    "Derived": expressions.ToldOfCurve,
    "FirstBad": marks.FirstBad,
    "SatisfiedThreshold": thresholds.SatisfiedThreshold,
    "ShownOutliers": lines.ShownOutliers,
    "LegendEntry": charts.LegendEntry,
    "ChartMeta": charts.ChartMeta,
}
TUNING: Mapping[str, Any] = {
    "PendingStudy": tuning.PendingStudy,
    "ReadyStudy": tuning.ReadyStudy,
    "NoFigure": tuning.NoFigure,
    "ReadySettings": tuning.ReadySettings,
    "StudyFigure": tuning.StudyFigure,
}
NAMESPACES = {"Wire": WIRE, "Curves": CURVES, "Tuning": TUNING}
ELSEWHERE = {"Figure": "PlotlyFigure | null", "Markup": "Graphs.PlainHtml[]"}
"""Types that no page has by itself: figures are those of plotly, and markup is that of layouts/kit/plain_html.py."""
TARGET = Path(__file__).resolve().parents[2] / "assets" / "types" / "generated.d.ts"
_WIDTH = 124
_HEAD = "// Made from declarations in Python by `make types` (tests/js/wire_types.py). Do not edit.\n"
_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", object: "unknown"}


class Undeclared(ValueError):
    """A type that has no counterpart, or is not in NAMESPACES."""


class Types:
    """The names of declarations by namespace, and how types refer to them."""

    def __init__(self, namespaces: Mapping[str, Mapping[str, Any]]) -> None:
        self.namespaces = namespaces
        # Not the pairs and triples of plain values, which mean something else in each place.
        self.known = [
            (kind, space, name) for space, mine in namespaces.items() for name, kind in mine.items()
            if get_origin(kind) is not tuple
        ]  # fmt: skip

    def written(self, kind: Any, space: str, *, named: bool = True) -> str:
        """Return a type of Python as it is in TypeScript within a namespace. Raises Undeclared."""
        if named:
            found = next(((where, name) for one, where, name in self.known if one is kind or one == kind), None)
            if found is not None:
                return found[1] if found[0] == space else ".".join(found)
        origin, args = get_origin(kind), get_args(kind)
        if isinstance(kind, type) and kind in _PLAIN:
            return _PLAIN[kind]
        if origin is Annotated:
            if args[1] in ELSEWHERE:
                return ELSEWHERE[args[1]]
            if isinstance(args[1], str):
                return args[1] if space == "Wire" else f"Wire.{args[1]}"
            return self.written(args[1], space)
        if origin in (Union, types.UnionType):
            return " | ".join(self.written(one, space) for one in args)
        if origin is Literal:
            return " | ".join(_quoted(one) for one in args)
        if origin is tuple and args[-1] is not Ellipsis:
            return f"[{', '.join(self.written(one, space) for one in args)}]"
        if origin in (list, tuple, Sequence):
            of = self.written(args[0], space)
            return f"({of})[]" if " | " in of else f"{of}[]"
        if origin in (dict, Mapping):
            return f"Record<{self.written(args[0], space)}, {self.written(args[1], space)}>"
        raise Undeclared(f"expected a type of JSON, or one that NAMESPACES lists; found {kind!r}")

    def declared(self, name: str, kind: Any, space: str) -> str:
        """Return the declaration of a type."""
        if not isinstance(kind, type):
            return f"  type {name} = {self.written(kind, space, named=False)};"
        lines = [_comment(_place(kind), "  "), f"  interface {name} {{"]
        comments = _field_comments(kind)
        for field, of in _fields(kind):
            optional = get_origin(of) is NotRequired
            if field in comments:
                lines.append(_comment(comments[field], "    "))
            written = self.written(get_args(of)[0] if optional else of, space)
            lines.append(f"    {field}{'?' if optional else ''}: {written};")
        return "\n".join([*lines, "  }"])


def generated() -> str:
    """Return the text of assets/types/generated.d.ts."""
    kinds = Types(NAMESPACES)
    parts = [
        _namespace(space, [kinds.declared(name, kind, space) for name, kind in mine.items()])
        for space, mine in kinds.namespaces.items()
    ]
    asked = _namespace("Asked", [_request(one) for one in requests()])
    return "\n".join([_HEAD, *parts, "/** The keys of requests, and the texts that are valid under each. */\n" + asked])


def requests() -> list[type[Request]]:
    """Return every declaration of a request in the layouts."""
    top = Path(layouts.__path__[0])
    for path in sorted(top.rglob("*.py")):  # the folders of pages are packages without __init__.py, which pkgutil does not walk
        importlib.import_module(".".join(("layouts", *path.relative_to(top).with_suffix("").parts)).removesuffix(".__init__"))
    # A dataclass with slots is a second class of the same name; the first one is no longer in its module.
    found = [one for one in Request.__subclasses__() if getattr(sys.modules[one.__module__], one.__name__, None) is one]
    return sorted((one for one in found if one.__module__.startswith("layouts.")), key=lambda one: one.__name__)


def _namespace(name: str, declarations: Sequence[str]) -> str:
    return f"declare namespace {name} {{\n" + "\n\n".join(declarations) + "\n}\n"


def _request(kind: type[Request]) -> str:
    keys: dict[str, str] = {}
    for _, one in parameters(kind):
        valid = " | ".join(map(_quoted, one.choices)) or "string"
        for key in (*one.named, *one.keys, *one.beside):
            # A key that several fields read has the texts that are valid for all of them.
            keys[key] = valid if keys.get(key, "string") == "string" else keys[key]
    lines = [_line(f"    {key if key.isidentifier() else _quoted(key)}: {valid};") for key, valid in keys.items()]
    return "\n".join([_comment(_place(kind), "  "), f"  interface {kind.__name__} {{", *lines, "  }"])


def _line(text: str) -> str:
    """Break a long line between the texts of a union."""
    return "\n".join(textwrap.wrap(text, _WIDTH, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False))


def _fields(kind: type) -> list[tuple[str, Any]]:
    hints = get_type_hints(kind, include_extras=True)
    if is_typeddict(kind):
        return list(hints.items())
    if is_dataclass(kind):
        own = [(one.name, hints[one.name]) for one in fields(kind)]
        return own if "version" in hints else [*own, ("version", str)]
    raise Undeclared(f"expected a TypedDict or a dataclass; found {kind!r}")


def _field_comments(kind: type) -> dict[str, str]:
    """Return the strings below the fields of a class and of those it extends."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__ if is_dataclass(kind) else (kind, *getattr(kind, "__orig_bases__", ()))):
        if not isinstance(one, type) or one is object:
            continue
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        except (OSError, TypeError):
            continue  # made by a call, without a class statement
        body = tree.body if isinstance(tree, ast.ClassDef) else []
        for field, text in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                found[field.target.id] = str(ast.literal_eval(text.value))
    return found


def _place(kind: type) -> str:
    about = inspect.cleandoc(kind.__doc__ or "") if "__doc__" in vars(kind) else ""
    about = about.split("\n\n")[0] if issubclass(kind, Request) else about
    path = f"{kind.__module__.replace('.', '/')}.py"
    return f"{path}: {about}" if about and not about.startswith("dict(") else path


def _comment(text: str, indent: str) -> str:
    text = " ".join(text.split())
    if len(indent) + len(text) + 7 <= _WIDTH:
        return f"{indent}/** {text} */"
    lines = textwrap.wrap(text, _WIDTH - len(indent) - 3)
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}" for line in lines), f"{indent} */"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def main(arguments: Sequence[str]) -> int:
    """Write the declarations, or compare them with those written."""
    text = generated()
    if "--check" not in arguments:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{TARGET.name} is not what the declarations in Python give: run `make types`.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
