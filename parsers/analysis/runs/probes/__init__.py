"""Answers to the questions of the guides: small pure functions of what a run recorded (`registry.PROBES`)."""
