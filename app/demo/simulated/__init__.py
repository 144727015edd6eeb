"""A simulator of training jobs of many ranks, and the files that profilers of their ranks would write."""
