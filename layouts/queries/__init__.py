"""Queries to a source that several pages, or a page and a plain route, share.

A query is parsed from untrusted input (`read_ask`) and answered from the protocols of `layouts.sources`, as data or as a
plain figure. Nothing here knows a page: pages and `app.routes` import from here, never from each other.
"""
