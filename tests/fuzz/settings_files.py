"""What users and those who share a directory with them write for the program: settings, watchpoints, gates and baselines."""

from __future__ import annotations

import json

from app.commands.settings import read_config, resolve
from parsers.analysis.curves.gate_files import baseline_text, read_baseline, read_metrics
from parsers.analysis.dumps.watchpoints.files import read_watchpoints
from tests.fuzz.promises import Broken, write_file

CONFIGS = (
    (
        b'summary-base-dir = "/data"\nport = 8080\nhost = "0.0.0.0"\nurl-path-prefix = "/mindscope"\nreload-interval = 5\n'
        b'allowed-host = ["a.b", "c"]\ntable = ["runs.csv"]\nstay-inside = true\ncache = false\nenable-debugger = true\n'
    ),
    b'workspace = "~/x"\ndebugger_port = 50051\ndask = "tls://h:8786"\ndask-trust = true\nopen = true\ndebug = false\n',
)
WATCHPOINTS = (
    (
        b'recommended = true\n\n[[watchpoint]]\ncondition = "gradient_vanishing"\nabs_mean_lt = 1e-9\n\n[[watchpoint]]\n'
        b'condition = "tensor_too_large"\nmax_gt = 1e4\npattern = "MatMul|Conv"\nnodes = ["Default/fc1/MatMul"]\n'
    ),
)
GATES = (
    (
        b'[[metric]]\ntag = "val/loss"\nbetter = "lower"\nmargin = "2%"\nalpha = 0.05\nrobust = true\nvalue = "best"\n\n'
        b'[[metric]]\nmeasure = "check_dump"\nwatch = "w.toml"\n\n[[metric]]\ntag = "acc"\nmargin = 0.5\nvalue = "mean:10"\n'
    ),
)
_RUN = {"run": "a", "value": 0.5, "last_step": 10, "bad": 0, "first_bad": -1, "missing": "", "incomplete": False, "source": "x"}
_METRIC = {"metric": ["tag", "loss", "last", ""], "runs": [_RUN, {**_RUN, "value": "NaN", "bad": 3, "incomplete": True}]}
BASELINES = (json.dumps({"mindscope_baseline": 1, "metrics": [_METRIC]}).encode(),)


def read_settings(data: bytes, folder: str) -> None:
    """Read a file of settings, and resolve them."""
    path = write_file(folder, "server.toml", data)
    str(resolve({}, {}, read_config(path), config_name=path))


def read_watched(data: bytes, folder: str) -> None:
    """Read a file of watchpoints."""
    for one in read_watchpoints(write_file(folder, "watch.toml", data)):
        if not all(isinstance(limit, float) for limit in one.limits.values()):
            raise Broken("a limit that is no number")


def read_gates(data: bytes, folder: str) -> None:
    """Read a file of gates."""
    read_metrics(write_file(folder, "gates.toml", data), {})


def read_saved(data: bytes, folder: str) -> None:
    """Read a baseline, which can be written again."""
    baseline_text(read_baseline(write_file(folder, "baseline.json", data)))
