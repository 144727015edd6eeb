"""HTTP routes for pages and scripts: exports, single values, health, and changes to remarks and views."""
