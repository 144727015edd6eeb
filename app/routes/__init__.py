"""Plain routes that curl can fetch: exports, values, health, and the changes of remarks and views."""
