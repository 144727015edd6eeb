"""A GET route for what a job's steps would take if one thing were different.

    <prefix>job/what_if.csv?run=KEY&session=NAME&rank=N&slow=3,5-7&link=0-1&cause=gaps

run, session and rank name a profile, whose job is meant; the others are those of the page's address
(`layouts.jobs.what_if_request.WhatIfRequest`). 404 if files tell too little.
"""

from __future__ import annotations

from functools import partial

from flask import Blueprint, Response, request

from app.routes.csv_files import csv_answer, table_name
from app.routes.profiles.frames import chosen_frame
from app.routes.refusals import Unusable, answered, asked
from layouts.jobs.what_if_request import WhatIfRequest, replay_asked, table
from layouts.sources import ProfileSources
from parsers.analysis.jobs.replay.recording import NotJudged


def add_routes(routes: Blueprint, source: ProfileSources) -> None:
    """Add the route to a blueprint."""
    routes.add_url_rule("/job/what_if.csv", "job-what-if", partial(answered, partial(_table, source)))


def _table(source: ProfileSources) -> Response:
    ask = asked(WhatIfRequest)
    try:
        found = replay_asked(ask, partial(chosen_frame, source, ask.choice))
    except NotJudged as reason:
        raise Unusable(f"no replay: {reason}", 404) from reason
    return csv_answer(table(found), table_name(request.args["run"], "job", "what-if"))
