"""Series: axes, smoothing, reduction, groups, expressions and insights."""
