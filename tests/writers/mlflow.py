"""Writes databases with the tables of MLflow's that hold runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

_SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER NOT NULL, name VARCHAR(256) NOT NULL, PRIMARY KEY (experiment_id));
CREATE TABLE runs (run_uuid VARCHAR(32) NOT NULL, name VARCHAR(250), start_time BIGINT, lifecycle_stage VARCHAR(20),
    experiment_id INTEGER, PRIMARY KEY (run_uuid));
CREATE TABLE metrics (key VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT, run_uuid VARCHAR(32) NOT NULL,
    step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
    PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE TABLE params (key VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
    PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL, PRIMARY KEY (key, run_uuid));
CREATE TABLE experiment_tags (key VARCHAR(250) NOT NULL, value TEXT, experiment_id INTEGER NOT NULL,
    PRIMARY KEY (key, experiment_id));
INSERT INTO experiments VALUES (1, 'digits');
INSERT INTO experiment_tags VALUES ('team', 'vision', 1);
"""


def write_database(path: Path, rates: Mapping[str, float], steps: int = 10) -> None:
    """A run for each learning rate, by id: its loss at a step is the rate divided by the number of the step, from 1."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_SCHEMA)
        for run, rate in rates.items():
            connection.execute("INSERT INTO runs VALUES (?, ?, 1000, 'active', 1)", (run, f"run {run}"))
            connection.execute("INSERT INTO params VALUES ('lr', ?, ?)", (str(rate), run))
            connection.execute("INSERT INTO tags VALUES ('mlflow.source.git.commit', '12e5678', ?)", (run,))
            rows = (("loss", rate / (step + 1), 1_000_000 + step, run, step, 0) for step in range(steps))
            connection.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
