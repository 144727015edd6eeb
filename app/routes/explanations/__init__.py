"""Plain routes for explanations."""
