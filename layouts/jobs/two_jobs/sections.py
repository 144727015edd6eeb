"""The sections of the page as components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from parsers.deferred import pandas as pd
from parsers.profiler.ranks import KINDS
from parsers.profiler.registry import display_name

from layouts.jobs.two_jobs import story
from layouts.jobs.two_jobs.facts import JobFacts
from layouts.jobs.two_jobs.quantities import percent, quantity, said, signed
from layouts.jobs.two_jobs.tables import Side, Two
from layouts.kit import units as fmt
from layouts.kit.elements import scrolled
from layouts.kit.i18n import CATALOGUE, both, t
from layouts.profiles.links import address

MOST_ROWS = 100
"""Maximum rows of a table; its file has all."""
_LONG = 60
_FILES = 3


def head(two: Two, parts: pd.DataFrame) -> list[Any]:
    """The first sentence, the jobs, slow ranks, and what cannot be compared."""
    found = story.notes(*two)
    lines = [html.Li(line) for line in found]
    notes = html.Ul(lines, className="ms-two-jobs-notes") if lines else None
    return [one for one in (story.headline(parts), story.slow(*two), _jobs(two), notes) if one is not None]


def _jobs(two: Two) -> html.Div:
    """The two jobs: name, ranks, hosts, steps, how they are divided."""
    rows = [
        ("two_jobs.job", *(_name(job) for job in two)),
        ("two_jobs.ranks", *(_ranks(job) for job in two)),
        ("two_jobs.hosts", *(fmt.count(len(set(job.hosts.values()))) if job.hosts else "–" for job in two)),
        ("two_jobs.steps", *(fmt.count(len(job.steps)) if job.steps else "–" for job in two)),
        ("two_jobs.parallel", *(story.parallel_text(job) or "–" for job in two)),
    ]
    body = [html.Tr([html.Th(t(key), scope="row"), *(html.Td(cell) for cell in cells)]) for key, *cells in rows]
    top = html.Tr([html.Th(), *(html.Th(letter, scope="col") for letter in "AB")])
    table = html.Table([html.Thead(top), html.Tbody(body)], className="ms-two-jobs-jobs")
    return scrolled(table, "ms-two-jobs-scroll")


def _name(job: JobFacts) -> Any:
    return html.A(job.title, **address("job", job.choice))


def _ranks(job: JobFacts) -> Any:
    number = fmt.count(len(job.values))
    size = job.files.size if job.files is not None else 0
    return said("two_jobs.ranks_of", n=number, total=fmt.count(size)) if size > len(job.values) else number


def parts(found: pd.DataFrame) -> list[Any]:
    """The median of each metric over the ranks that both jobs have."""
    if found.empty:
        return [_note("two_jobs.nothing")]
    rows = [
        html.Tr([
            html.Th(t(f"two_jobs.metric.{name}"), scope="row"), *_values(name, row),
            *(html.Td(quantity(name, row[which]), className="ms-muted") for which in ("most_one", "most_other")),
        ])
        for name, row in zip(found.index.tolist(), found.to_dict("records"), strict=True)
    ]  # fmt: skip
    titles = [t("two_jobs.value"), "A", "B", t("two_jobs.difference"), t("two_jobs.relative"),
              t("two_jobs.most", job="A"), t("two_jobs.most", job="B")]  # fmt: skip
    return [_table(titles, rows)]


def side(one: Side, two: Two) -> list[Any]:
    """A table of both jobs; a sentence instead of it where the files have nothing."""
    lacking = _lacking(one, two)
    if one.frame.empty:
        return lacking or [_note("two_jobs.nothing")]
    shown = one.frame.head(MOST_ROWS).reset_index()
    names = [key for key in one.keys if key not in ("group_kind", "host") or (shown[key].astype(str) != "").any()]
    hosts = [name for name in ("host_one", "host_other") if name in shown and (shown[name] != "").any()]
    more = [name for name in one.more if shown[[f"{name}_one", f"{name}_other"]].notna().any(axis=None)]
    titles: list[Any] = [t(f"two_jobs.column.{key}") for key in names]
    titles += [t("two_jobs.column.host", job="A" if name.endswith("one") else "B") for name in hosts]
    titles += ["A", "B", t("two_jobs.difference"), t("two_jobs.relative")]
    titles += [
        html.Span([t(f"two_jobs.column.{name}"), f" {letter}"]) for name in more for letter in "AB"
    ]  # fmt: skip
    rows = []
    for row in shown.to_dict("records"):
        cells = [html.Th(_key(key, row[key], two), scope="row", className="ms-two-jobs-key") for key in names]
        cells += [html.Td(row[name] or "–") for name in hosts]
        cells += _values(one.value, row)
        cells += [html.Td(quantity(name, row[f"{name}_{which}"])) for name in more for which in ("one", "other")]
        rows.append(html.Tr(cells))
    total = len(one.frame)
    count = (
        html.P(said("two_jobs.first", n=fmt.count(MOST_ROWS), total=fmt.count(total)), className="ms-muted")
        if total > MOST_ROWS else None
    )  # fmt: skip
    return [part for part in (*lacking, _table(titles, rows), count) if part is not None]


def _values(name: str, row: dict[Any, Any]) -> list[Any]:
    """The cells of both values and of their difference; a value that one job lacks is said so."""
    cells = []
    for letter, which in zip("AB", ("one", "other"), strict=True):
        absent = row[which] != row[which]
        text = said("two_jobs.not_in", job=letter) if absent else quantity(name, row[which])
        cells.append(html.Td(text, className="ms-muted" if absent else None))
    size = row["change"]
    mark = "ms-two-jobs-more" if row["difference"] > 0 else "ms-two-jobs-less" if row["difference"] < 0 else None
    return [*cells, html.Td(signed(name, row["difference"]), className=mark), html.Td(percent(size))]


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


def _table(titles: Sequence[Any], rows: Sequence[Any]) -> html.Div:
    top = html.Tr([html.Th(title, scope="col") for title in titles])
    table = html.Table([html.Thead(top), html.Tbody(list(rows))], className="ms-two-jobs-table")
    return scrolled(table, "ms-two-jobs-scroll")


def _lacking(one: Side, two: Two) -> list[Any]:
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
