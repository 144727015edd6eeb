"""Plain routes for curves."""
