"""Rules that name what verification found in runs of the whole kernel, all its threads together."""
