"""GET routes for the tables of the use of the hardware as CSV.

    <prefix>efficiency/types.csv?run=KEY&session=NAME&rank=N&peak=256    also shapes.csv, slow.csv, figures.csv, roofline.csv

Further parameters are the settings of the page's address (`layouts.profiles.efficiency.SETTINGS`), and with_run, with_session
and with_rank, the second session of the roofline.
"""

from __future__ import annotations

from functools import partial

from flask import Blueprint, Response

from app.routes.csv_files import csv_answer, table_name
from app.routes.profiles.frames import chosen_frame
from app.routes.refusals import Unusable, answered, asked
from layouts.profiles.efficiency import Efficiency, EfficiencyRequest
from layouts.sources import ProfileSources
from parsers.analysis.profiles.efficiency.figures import TABLES


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the routes to a blueprint."""
    for name in TABLES:
        table = partial(_answer, source, name)
        routes.add_url_rule(f"/efficiency/{name}.csv", f"efficiency-{name}-csv", partial(answered, table))


def _answer(source: ProfileSources, name: str) -> Response:
    ask = asked(EfficiencyRequest)
    if ask.wrong:
        raise Unusable(f"{ask.wrong[0][0]}: expected a number above 0; found {ask.wrong[0][1]!r}")
    found = Efficiency(source, ask, frame=partial(chosen_frame, source)).table(name)
    if found is None:
        raise Unusable(f"no {name}: expected kernels{' of two sessions' if name == 'roofline' else ''}, found none", 404)
    return csv_answer(found, table_name(ask.choice.run, "efficiency", name))
