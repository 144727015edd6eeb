"""Plain routes for notes, views and boards."""
