"""What the store reads and keeps of runs, notes and the index."""
