"""Run the `mindscope` command as `python -m app`."""

from __future__ import annotations

import sys

from app.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
