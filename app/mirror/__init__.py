"""A mirror: copies runs from an object store, or from a machine reached by ssh, into a directory, and follows them.

It is a process of its own, the only one that imports fsspec, s3fs or asyncssh and that has credentials; the server reads its
copies like any files, and its state file. Of this package the server imports only what needs none of these libraries.
"""

from __future__ import annotations

OWN = ".mindscope-"
"""How names of a mirror's own files begin: none of them is copied, and no reader takes them for data."""
STATE, LOCK = f"{OWN}mirror", f"{OWN}mirror.lock"
