"""Tables as CSV files, by which the routes of all subjects answer."""

from __future__ import annotations

from flask import Response

from app.routes.values.media import attachment, safe_name
from parsers.deferred import pandas as pd
from parsers.export.frames import csv_rows


def table_name(run: str, page: str, name: str = "") -> str:
    """Return the name of a table's file: of its run, the page that offers it, and the table where the page has several."""
    return "-".join(dict.fromkeys(filter(None, (safe_name(run) or "run", page, name))))


def csv_answer(table: pd.DataFrame, name: str) -> Response:
    """Respond with a table as a CSV file of this name, which is safe (`safe_name`). Browsers do not keep it."""
    answer = Response(csv_rows(table), mimetype="text/csv")
    answer.headers["Content-Disposition"] = attachment(f"{name}.csv")
    answer.cache_control.no_store = True
    return answer
