"""All ranks of a session."""
