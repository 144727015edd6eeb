"""The sections of the page as components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from parsers.deferred import pandas as pd
from parsers.profiler.ranks import KINDS
from parsers.profiler.registry import display_name

from layouts.jobs.two_jobs import story
from layouts.jobs.two_jobs.job_pair import ComparedJob
from layouts.jobs.two_jobs.quantities import percent, quantity, said, signed
from layouts.jobs.two_jobs.tables import ComparedTable, Two
from layouts.kit import units as fmt
from layouts.kit.i18n import CATALOGUE, both, t
from layouts.kit.tables import Cell, TableColumn, first_of, table
from layouts.profiles.links import address

MOST_ROWS = 100
"""Maximum rows of a table; its file has all."""
_AB = (TableColumn(["A"]), TableColumn(["B"]))
_CHANGE = (TableColumn("two_jobs.difference"), TableColumn("two_jobs.relative"))
_LONG = 60
_FILES = 3


def head(two: Two, parts: pd.DataFrame) -> list[Any]:
    """The first sentence, the jobs, slow ranks, and what cannot be compared."""
    found = story.notes(*two)
    lines = [html.Li(line) for line in found]
    notes = html.Ul(lines, className="ms-two-jobs-notes") if lines else None
    return [one for one in (story.headline(parts), story.slow(*two), _jobs(two), notes) if one is not None]


def _jobs(two: Two) -> Any:
    """The two jobs: name, ranks, hosts, steps, how they are divided."""
    rows = [
        ("two_jobs.job", *(_name(job) for job in two)),
        ("two_jobs.ranks", *(_ranks(job) for job in two)),
        ("two_jobs.hosts", *(fmt.count(len(set(job.hosts.values()))) if job.hosts else "–" for job in two)),
        ("two_jobs.steps", *(fmt.count(len(job.steps)) if job.steps else "–" for job in two)),
        ("two_jobs.parallel", *(story.parallel_text(job) or "–" for job in two)),
    ]
    lines = [(t(key), *cells) for key, *cells in rows]
    return table((TableColumn(""), *_AB), lines, class_name="ms-two-jobs-jobs", scroll="ms-two-jobs-scroll")


def _name(job: ComparedJob) -> Any:
    return html.A(job.title, **address("job", job.choice))


def _ranks(job: ComparedJob) -> Any:
    number = fmt.count(len(job.values))
    size = job.files.size if job.files is not None else 0
    return said("two_jobs.ranks_of", n=number, total=fmt.count(size)) if size > len(job.values) else number


def parts(found: pd.DataFrame) -> list[Any]:
    """The median of each metric over the ranks that both jobs have."""
    if found.empty:
        return [_note("two_jobs.nothing")]
    rows = [
        (t(f"two_jobs.metric.{name}"), *_values(name, row), quantity(name, row["most_one"]),
         quantity(name, row["most_other"]))
        for name, row in zip(found.index.tolist(), found.to_dict("records"), strict=True)
    ]  # fmt: skip
    most = [TableColumn(t("two_jobs.most", job=letter), class_name="ms-muted") for letter in "AB"]
    return [_table((TableColumn("two_jobs.value"), *_AB, *_CHANGE, *most), rows)]


def side(one: ComparedTable, two: Two) -> list[Any]:
    """A table of both jobs; a sentence instead of it where the files have nothing."""
    lacking = _lacking(one, two)
    if one.frame.empty:
        return lacking or [_note("two_jobs.nothing")]
    shown = one.frame.head(MOST_ROWS).reset_index()
    names = [key for key in one.keys if key not in ("group_kind", "host") or (shown[key].astype(str) != "").any()]
    hosts = [name for name in ("host_one", "host_other") if name in shown and (shown[name] != "").any()]
    more = [name for name in one.more if shown[[f"{name}_one", f"{name}_other"]].notna().any(axis=None)]
    columns = [TableColumn(f"two_jobs.column.{key}", class_name="ms-two-jobs-key") for key in names]
    columns += [TableColumn(t("two_jobs.column.host", job="A" if name.endswith("one") else "B")) for name in hosts]
    columns += [*_AB, *_CHANGE]
    columns += [TableColumn(html.Span([t(f"two_jobs.column.{name}"), f" {letter}"])) for name in more for letter in "AB"]
    rows = [
        [
            *(_key(key, row[key], two) for key in names), *(row[name] or "–" for name in hosts), *_values(one.value, row),
            *(quantity(name, row[f"{name}_{which}"]) for name in more for which in ("one", "other")),
        ]
        for row in shown.to_dict("records")
    ]
    return [*lacking, _table(columns, rows, heads=len(names)), *first_of("two_jobs.first", len(shown), len(one.frame))]


def _values(name: str, row: dict[Any, Any]) -> list[Cell]:
    """The cells of both values and of their difference; a value that one job lacks is said so."""
    cells = []
    for letter, which in zip("AB", ("one", "other"), strict=True):
        absent = row[which] != row[which]
        text = said("two_jobs.not_in", job=letter) if absent else quantity(name, row[which])
        cells.append(Cell(text, class_name="ms-muted" if absent else ""))
    size = row["change"]
    mark = "ms-two-jobs-more" if row["difference"] > 0 else "ms-two-jobs-less" if row["difference"] < 0 else ""
    return [*cells, Cell(signed(name, row["difference"]), class_name=mark), Cell(percent(size))]


def _key(name: str, value: Any, two: Two) -> Any:
    if name in ("rank", "source", "target"):
        rank = int(value)
        job = next((job for job in two if rank in job.profiles), None)
        number = str(rank)
        return html.A(number, **address("profile_overview", job.profiles[rank])) if job is not None else number
    text = str(value)
    if len(text) > _LONG:
        return html.Span(f"{text[:_LONG]} …", title=text)
    return text or "–"


def _table(columns: Sequence[TableColumn], rows: Sequence[Any], *, heads: int = 1) -> Any:
    return table(columns, rows, class_name="ms-two-jobs-table", scroll="ms-two-jobs-scroll", heads=heads)


def _lacking(one: ComparedTable, two: Two) -> list[Any]:
    """Which job has no file of what a table is made of."""
    lines = []
    for letter, job in zip("AB", two, strict=True):
        frames = (job.frames[name] for name in one.frames)
        if any(frame is not None and len(frame) for frame in frames):
            continue
        kinds = [kind for name in one.frames for kind in KINDS[name]]
        files = list(dict.fromkeys(map(display_name, kinds)))[:_FILES]
        joined = tuple(joint.join(files) for joint in both("two_jobs.or"))
        lines.append(html.P(said("two_jobs.lacks", job=letter, files=joined), className="ms-muted"))
    return lines


def _note(key: str) -> html.P:
    assert key in CATALOGUE
    return html.P(t(key), className="ms-muted")
