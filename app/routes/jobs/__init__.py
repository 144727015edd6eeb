"""Plain routes for jobs of many ranks."""
