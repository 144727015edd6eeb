"""Plain routes for values."""
