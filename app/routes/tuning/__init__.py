"""Plain routes for studies."""
