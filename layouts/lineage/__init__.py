"""What the lineage pages share: many runs side by side, to see which settings make the better model."""
