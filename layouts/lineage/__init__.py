"""Pages about many runs at once: which settings made the better model?"""
