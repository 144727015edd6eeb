"""Large values of runs."""
