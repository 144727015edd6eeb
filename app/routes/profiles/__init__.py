"""Plain routes for profiles and traces."""
