"""`%load_ext mindscope` in a notebook gives `%mindscope DIR [--page scalars] [--height 800]` (docs/notebook.md)."""

from __future__ import annotations

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Register the magic with an IPython shell."""
    from app.web.magic import Magic

    shell.register_magic_function(Magic(), "line", "mindscope")
