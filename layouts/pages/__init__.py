"""The pages, a folder each: page.py (PAGE, layout, register), what it asks and draws, and its texts in both languages."""
