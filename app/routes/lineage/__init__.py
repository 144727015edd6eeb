"""Plain routes for lineage."""
