"""What the store reads and keeps of jobs of many ranks."""
