"""The options of the command `mirror`, in a module that imports nothing else: every command parses them."""

from __future__ import annotations

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("address", metavar="URL", help="s3://bucket/path, ssh://host/path, or another address of fsspec")
    parser.add_argument("directory", metavar="DIR", help="directory of the copies: empty, or of an earlier mirror of URL")
    parser.add_argument("--every", metavar="SECONDS", default="10", help="seconds between looks at growing runs (default: 10)")
    parser.add_argument("--most", metavar="SIZE", default="20GiB", help="size of all copies (default: 20GiB)")
    parser.add_argument("--largest", metavar="SIZE", default="1GiB", help="size of the largest file copied (default: 1GiB)")
    parser.add_argument("--once", action="store_true", help="end once everything is copied")
    parser.add_argument("--wishes", default="", help=argparse.SUPPRESS)
    parser.add_argument("--of-server", action="store_true", help=argparse.SUPPRESS)
