"""The list of runs, what a run holds, notes, views and boards."""
