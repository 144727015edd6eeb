"""The options of the commands `digest` and `gate`, in a module that imports nothing else: every command parses them."""

from __future__ import annotations

import argparse


def add_digest_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `digest`."""
    runs = "directory of a run, or of several, or an event file (default: .)"
    parser.add_argument("runs", metavar="RUN", nargs="*", default=["."], help=runs)
    parser.add_argument("--tags", metavar="REGEX", default="", help="only scalars that match")
    parser.add_argument("--json", action="store_true", help="print JSON; with --follow a line for each look")
    parser.add_argument("--lang", metavar="en|zh", default="en", help="language of the sentences (default: en)")
    parser.add_argument("--follow", action="store_true", help="go on, and print new facts as they arise, until Ctrl-C")
    parser.add_argument("--every", metavar="SECONDS", default="2", help="seconds between two looks (default: 2)")
    still = "seconds without a new step from which on that is a fact (default: 600)"
    parser.add_argument("--no-step", metavar="SECONDS", default="600", help=still)
    command = "with --follow: program, with its arguments, to start for new facts, which it gets as JSON on its stdin"
    parser.add_argument("--exec", metavar="CMD", help=command)


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `gate`."""
    parser.add_argument("runs", metavar="RUN", nargs="+", help="directory of a run, or of several, to be judged")
    against = "directories of the baseline's runs, or one file that --save wrote; --check-dump alone needs none"
    parser.add_argument("--against", metavar="BASELINE", nargs="+", default=[], help=against)
    parser.add_argument("--metric", metavar="TAG", action="append", default=[], help="scalar to compare; may be repeated")
    parser.add_argument("--metrics", metavar="FILE", help="TOML file with several metrics, each with options of its own")
    parser.add_argument("--steps-per-second", action="store_true", help="compare the speed of the runs")
    parser.add_argument("--peak-memory", action="store_true", help="compare the most memory that the runs used")
    parser.add_argument("--check-dump", action="store_true", help="worse if check-dump has a hit in the dump of a run")
    parser.add_argument("--better", metavar="lower|higher", help="which values are better (default: by the name)")
    value = "last, best, mean:N (of the last N points) or step:N (default: last)"
    parser.add_argument("--value", metavar="VALUE", help=value)
    margin = "how much worse is not worse: a number, or percent of the baseline (default: 0; needed with less than 3 runs)"
    parser.add_argument("--margin", metavar="0.02|2%%", help=margin)
    alpha = "probability that runs alike are taken for worse (default: 0.05)"
    parser.add_argument("--alpha", metavar="ALPHA", help=alpha)
    parser.add_argument("--robust", action="store_true", help="compare interquartile means")
    parser.add_argument("--allow-shorter", action="store_true", help="compare runs that ended earlier than the baseline, too")
    parser.add_argument("--watch", metavar="FILE", help="TOML file with watchpoints for --check-dump")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--junit", metavar="FILE", help="also write a report that CI systems read")
    parser.add_argument("--save", metavar="FILE", help="write the baseline's values, to be given to --against")
    parser.add_argument("--force", action="store_true", help="overwrite the file of --save")
