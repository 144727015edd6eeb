"""The pages about files of a profiler. What they share: which profile is chosen (catalogue, choice), and their frame (body)."""
