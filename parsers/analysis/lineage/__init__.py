"""Settings of runs, and how strongly results depend on them."""
