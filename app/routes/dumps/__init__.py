"""Plain routes for dumps."""
