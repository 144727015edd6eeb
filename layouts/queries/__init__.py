"""Queries: what pages ask of a source, where a plain route or another page asks the same.

A query is read from untrusted words (`read_ask`) and answered from the protocols of `layouts.sources`, as data or as a
plain figure. Nothing here knows a page: pages and `app.routes` import from here, never from each other.
"""
