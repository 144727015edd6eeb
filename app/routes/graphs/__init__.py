"""Routes about graphs."""
