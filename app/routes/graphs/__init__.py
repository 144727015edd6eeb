"""Plain routes for graphs."""
